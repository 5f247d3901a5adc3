//! `cargo xtask test`: everything that must hold, in one go, and one line at the end that says whether it does.
//!
//! A check that fails does not stop the rest: a person sees everything at once. Each check counts as one beside
//! the tests of libtest.

mod beside;
mod bounded;
mod component;
mod packages;
mod repeat;
mod suite;
mod tally;

use crate::cargo::{cargo, is_ci};
use crate::generated::{CRDS, RBAC};
use crate::{agent, assets, tidy};
use anyhow::{Context, Result};
pub(crate) use beside::{CHORE as BESIDE, run as run_beside};
pub(crate) use bounded::{CHORE, run as run_program};
use component::Component;
use std::process::Command;
use suite::{Provided, RealServer};
use tally::Tally;

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of it.
    Everything,
    /// What is needed many times an hour: no lints, and no test that needs a real API server.
    Quick,
}

/// How a check ended.
enum Outcome {
    Passed,
    Failed,
    /// It could not run here, and this is why.
    Missing(String),
    /// It was not asked for.
    LeftOut,
}

impl Outcome {
    fn of(good: bool) -> Self {
        if good { Self::Passed } else { Self::Failed }
    }
}

/// The checks and tests so far.
struct Run {
    tally: Tally,
    /// What to say once more at the end.
    remarks: Vec<String>,
    /// A part that cannot run is a failure.
    strict: bool,
}

impl Run {
    fn check(&mut self, name: &str, check: impl FnOnce() -> Result<Outcome>) {
        eprintln!("== {name}");
        let outcome = check().unwrap_or_else(|error| {
            eprintln!("{error:#}");
            Outcome::Failed
        });
        match outcome {
            Outcome::Passed => self.tally.passed += 1,
            Outcome::LeftOut => self.tally.skipped += 1,
            Outcome::Failed => {
                self.tally.failed += 1;
                self.remarks.push(format!("{name}: failed"));
            }
            Outcome::Missing(reason) => {
                *(if self.strict { &mut self.tally.failed } else { &mut self.tally.skipped }) += 1;
                self.remarks.push(format!("{name}: could not run: {reason}"));
            }
        }
    }
}

/// Runs everything of this scope; true if nothing failed.
pub(crate) fn run(scope: Scope) -> Result<bool> {
    let quick = scope == Scope::Quick;
    let mut run = Run { tally: Tally::default(), remarks: Vec::new(), strict: is_ci() };
    run.check("format", || with_component(Component::Rustfmt, cargo(&["fmt", "--all", "--check"])));
    run.check("tidy", || tidy::command().map(Outcome::of));
    if quick {
        run.check("lints (not in --quick)", || Ok(Outcome::LeftOut));
        run.check("CRDs (not in --quick)", || Ok(Outcome::LeftOut));
        run.check("roles (not in --quick)", || Ok(Outcome::LeftOut));
        run.check("packages (not in --quick)", || Ok(Outcome::LeftOut));
        run.check("static agent (not in --quick)", || Ok(Outcome::LeftOut));
        run.check_tests(RealServer::LeftOut, &Provided { databases: true, agent: None })?;
    } else {
        let lints = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
        run.check("lints", || with_component(Component::Clippy, cargo(&lints)));
        run.check("CRDs", || CRDS.check().map(Outcome::of));
        run.check("roles", || RBAC.check().map(Outcome::of));
        let mut server = RealServer::LeftOut;
        run.check("assets", || {
            Ok(match assets::provide() {
                Ok(assets) => {
                    server = RealServer::Used(assets.directory().to_owned());
                    Outcome::Passed
                }
                Err(error) => Outcome::Missing(format!("{error:#}")),
            })
        });
        let mut provided = Provided::default();
        run.check("packages", || {
            Ok(match packages::provide() {
                Ok(()) => {
                    provided.databases = true;
                    Outcome::Passed
                }
                Err(reason) => Outcome::Missing(reason),
            })
        });
        run.check("static agent", || {
            Ok(match agent::build() {
                Ok(program) => {
                    provided.agent = Some(program);
                    Outcome::Passed
                }
                Err(error) => Outcome::Missing(format!("{error:#}")),
            })
        });
        run.check_tests(server, &provided)?;
    }
    for remark in &run.remarks {
        println!("{remark}");
    }
    println!("{}", run.tally);
    Ok(run.tally.failed == 0)
}

impl Run {
    fn check_tests(&mut self, server: RealServer, provided: &Provided) -> Result<()> {
        eprintln!("== tests");
        let tests = suite::run(server, provided)?;
        if tests.tally.failed > 0 {
            self.remarks.push("tests: failed".into());
        }
        self.remarks.extend(tests.remarks);
        self.tally.add(tests.tally);
        Ok(())
    }
}

fn with_component(component: Component, mut command: Command) -> Result<Outcome> {
    if let Err(reason) = component.provide() {
        return Ok(Outcome::Missing(reason));
    }
    let status = command.status().context("cannot run cargo")?;
    Ok(Outcome::of(status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn after(strict: bool, outcome: Result<Outcome>) -> Tally {
        let mut run = Run { tally: Tally::default(), remarks: Vec::new(), strict };
        run.check("it", || outcome);
        assert_eq!(run.remarks.is_empty(), run.tally.failed == 0 && run.tally.skipped == 0);
        run.tally
    }

    #[test]
    fn a_failed_check_and_one_that_broke_are_failures() {
        let failed = Tally { failed: 1, ..Tally::default() };
        assert_eq!(after(false, Ok(Outcome::Failed)), failed);
        assert_eq!(after(false, Err(anyhow!("broken"))), failed);
        assert_eq!(after(false, Ok(Outcome::Passed)), Tally { passed: 1, ..Tally::default() });
    }

    #[test]
    fn a_missing_part_is_skipped_by_hand_and_a_failure_in_ci() {
        let missing = || Ok(Outcome::Missing("no clippy".into()));
        assert_eq!(after(false, missing()), Tally { skipped: 1, ..Tally::default() });
        assert_eq!(after(true, missing()), Tally { failed: 1, ..Tally::default() });
    }
}
