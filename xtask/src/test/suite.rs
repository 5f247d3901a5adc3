//! `cargo test` for the whole workspace, shown as it runs and counted.

use super::beside::{self, Beside, LANES, Lane};
use super::bounded;
use super::repeat;
use super::tally::Tally;
use crate::cargo::cargo;
use crate::workspace::root;
use anyhow::{Context, Result};
use muster_test_assets::{SKIPPED, SKIPPED_IN_PART};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether tests that need a real API server run. They, or the files they are in, have `real_` in their names.
pub(super) enum RealServer {
    /// They run, with the binaries in this directory.
    Used(PathBuf),
    LeftOut,
}

/// By this name the tests of the agent find the static one.
const STATIC_AGENT: &str = "MUSTER_STATIC_AGENT";
/// What the tests begin with that need the software of a real engine.
const DATABASES: &str = "real_galera";

/// What lines begin with that are said once more at the end.
const REMARKS: [&str; 3] = [repeat::REPEATED, SKIPPED, SKIPPED_IN_PART];

/// What came of the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Results {
    pub(super) tally: Tally,
    /// Tests that passed only when they were repeated, and those that could not run, or not all of it: each in a line of its own.
    pub(super) remarks: Vec<String>,
}

impl Results {
    fn add(&mut self, other: Self) {
        self.tally.add(other.tally);
        self.remarks.extend(other.remarks);
    }

    /// A binary that did not compile or that crashed has no result line; it is a failure all the same.
    pub(super) fn with_exit(mut self, success: bool) -> Self {
        if !success && self.tally.failed == 0 {
            self.tally.failed = 1;
        }
        self
    }
}

/// What there is beside a real API server.
#[derive(Default)]
pub(super) struct Provided {
    /// Whether the software of real engines is installed.
    pub(super) databases: bool,
    /// The agent as one static program.
    pub(super) agent: Option<PathBuf>,
}

/// Runs all tests, doc tests included; those that need real databases only where these are installed.
pub(super) fn run(server: RealServer, provided: &Provided) -> Result<Results> {
    let mut command = cargo_test(bounded::CHORE)?;
    match server {
        // Tests look at the same variables and would find the same place, but from another directory: what is
        // relative to this one is not to theirs.
        RealServer::Used(assets) => {
            let assets = path::absolute(assets)?;
            let skipped: &[&str] = if provided.databases { &[] } else { &["--", "--skip", DATABASES] };
            let with_parts = |mut command: Command| {
                command.envs(provided.agent.iter().map(|program| (STATIC_AGENT, program)));
                command.env("KUBEBUILDER_ASSETS", &assets);
                command
            };
            built(cargo_test(bounded::CHORE)?)?;
            let start = |lane: &Lane| Beside::start(lane, with_parts(cargo_test(lane.chore)?), skipped);
            let beside = LANES.iter().map(start).collect::<Result<Vec<_>>>()?;
            let mut command = with_parts(command);
            let mut results = counted(command.args(skipped).env(beside::RUNS_ALREADY, beside::programs()))?;
            for lane in beside {
                results.add(lane.join()?);
            }
            Ok(results)
        }
        RealServer::LeftOut => {
            command.args(["--lib", "--bins"]);
            for name in tests_without_server(&root())? {
                command.args(["--test", &name]);
            }
            command.args(["--", "--skip", "real_"]);
            let mut results = counted(&mut command)?;
            let mut doc = cargo_test(bounded::CHORE)?;
            results.add(counted(doc.arg("--doc"))?);
            Ok(results)
        }
    }
}

/// Builds all that this `cargo test` would run. What does not compile shows again where it would run.
fn built(mut command: Command) -> Result<()> {
    command.arg("--no-run").status().context("cannot run cargo test")?;
    Ok(())
}

/// `cargo test` that runs each program by this chore of ours.
fn cargo_test(chore: &str) -> Result<Command> {
    let this = std::env::current_exe().context("cannot find this program")?;
    let this = this.to_str().context("the path of this program is not UTF-8")?;
    let runner = format!("target.'cfg(unix)'.runner = ['{this}', '{chore}']");
    Ok(cargo(&["test", "--workspace", "--no-fail-fast", "--quiet", "--config", &runner]))
}

/// The integration tests that need no real API server: by their names, which tell.
fn tests_without_server(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for member in glob_members(root)? {
        let Ok(entries) = std::fs::read_dir(member.join("tests")) else { continue };
        for entry in entries {
            let path = entry?.path();
            let is_test = path.join("main.rs").is_file() || path.extension().is_some_and(|kind| kind == "rs");
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            if is_test && !name.starts_with("real_") {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The directories of the workspace's members.
fn glob_members(root: &Path) -> Result<Vec<PathBuf>> {
    let mut members = vec![root.join("xtask"), root.join("bench")];
    for parent in ["crates", "tests"] {
        for entry in std::fs::read_dir(root.join(parent)).context("cannot list the members")? {
            members.push(entry?.path());
        }
    }
    Ok(members)
}

/// Runs `cargo test`, and adds up its results.
fn counted(command: &mut Command) -> Result<Results> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo test")?;
    let output = child.stdout.take().context("cargo test has no stdout")?;
    let results = count(output, &mut std::io::stdout())?;
    let status = child.wait().context("cannot wait for cargo test")?;
    Ok(results.with_exit(status.success()))
}

/// Copies the output, and adds up the results in it.
pub(super) fn count(output: impl Read, copy: &mut impl Write) -> Result<Results> {
    let mut results = Results::default();
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        copy.write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        if let Some(result) = Tally::from_line(&text) {
            results.tally.add(result);
        } else if REMARKS.iter().any(|remark| text.starts_with(remark)) {
            results.remarks.push(text.trim_end().to_owned());
        }
        line.clear();
    }
    copy.flush()?;
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_binaries_are_added_and_everything_is_shown() {
        let output = "running 2 tests\n..\n\
            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
            running 1 test\nF\nskipped: a::c: no root\npassed only when repeated: a::b\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n";
        let mut copy = Vec::new();
        let results = count(output.as_bytes(), &mut copy).unwrap();
        assert_eq!(results.tally, Tally { passed: 2, failed: 1, skipped: 3 });
        assert_eq!(results.remarks, ["skipped: a::c: no root", "passed only when repeated: a::b"]);
        assert_eq!(copy, output.as_bytes());
    }

    #[test]
    fn a_failure_without_a_result_line_still_counts() {
        let ended = |tally, success| Results { tally, ..Results::default() }.with_exit(success).tally;
        let passed = Tally { passed: 2, ..Tally::default() };
        assert_eq!(ended(passed, true), passed);
        assert_eq!(ended(passed, false), Tally { passed: 2, failed: 1, skipped: 0 });
        let failed = Tally { failed: 3, ..Tally::default() };
        assert_eq!(ended(failed, false), failed);
    }
}
