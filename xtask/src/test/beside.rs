//! What runs beside the rest of the tests, because one after another they would mostly wait.
//!
//! Real servers wait for each other, and leave the processors to whom they may. What needs nothing but processors, and much of
//! them, takes only what is left: the lowest priority, in a session of its own, because Linux shares processors between sessions
//! first and looks at priorities within one only.

use super::bounded::{self, Bound};
use super::suite::{Results, count};
use anyhow::{Context, Result, anyhow};
use rustix::process::{getppid, nice, setsid};
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// Test programs that run one after another, beside all others.
pub(super) struct Lane {
    programs: &'static [&'static str],
    /// The chore by which `cargo test` starts them.
    pub(super) chore: &'static str,
    /// What they are told.
    variables: &'static [(&'static str, &'static str)],
}

/// All there are.
pub(super) const LANES: [Lane; 2] = [
    // The operator through everything that can go wrong: without this it runs a few seeds, as in the inner loop. Ten thousand
    // of them, and all of the matrix, are an hour and a half of a processor.
    Lane { programs: &["simulation"], chore: CHORE, variables: &[("MUSTER_SEEDS", "1500")] },
    // Databases that wait for each other.
    Lane { programs: &["real_galera", "real_galera_node"], chore: bounded::CHORE, variables: &[] },
];

/// Tells the chore that starts programs which of them run already.
pub(super) const RUNS_ALREADY: &str = "MUSTER_RUNS_BESIDE";
/// The chore by which `cargo test` starts what takes only what is left.
pub(crate) const CHORE: &str = "run-beside";
/// How long that may take: as long as all other tests, and the time in which it has the processors for itself then.
const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Its time and its chance are its own: what fails once fails again.
const REPEATS: usize = 0;
/// The lowest priority.
const LOWEST: i32 = 19;

/// The names of all programs that run beside.
pub(super) fn programs() -> String {
    LANES.iter().flat_map(|lane| lane.programs).copied().collect::<Vec<_>>().join(",")
}

/// Whether a program of this name is among these.
pub(super) fn is_among(programs: &str, name: &str) -> bool {
    programs.split(',').any(|program| program == name)
}

/// A lane that runs.
pub(super) struct Beside(JoinHandle<Result<(Results, Vec<u8>)>>);

impl Beside {
    /// Starts `cargo test` for the programs of a lane; these arguments are for the programs.
    pub(super) fn start(lane: &Lane, mut command: Command, arguments: &[&str]) -> Result<Self> {
        command.args(lane.programs.iter().flat_map(|program| ["--test", program])).args(arguments);
        command.envs(lane.variables.iter().copied()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot run cargo test")?;
        let output = child.stdout.take().context("cargo test has no stdout")?;
        Ok(Self(std::thread::spawn(move || {
            let mut said = Vec::new();
            let results = count(output, &mut said)?;
            let status = child.wait().context("cannot wait for cargo test")?;
            Ok((results.with_exit(status.success()), said))
        })))
    }

    /// Waits for its end, and shows what it said.
    pub(super) fn join(self) -> Result<Results> {
        let (results, said) = self.0.join().map_err(|_| anyhow!("what runs beside cannot be read"))??;
        io::stdout().write_all(&said)?;
        Ok(results)
    }
}

/// Runs the program with these arguments, out of everyone's way.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<bool> {
    let parent = getppid();
    step_back();
    // In a session of its own, Ctrl-C does not reach it: it ends with whoever started it.
    let bound = Bound { limit: LIMIT, is_over: || getppid() != parent };
    bounded::run_within(program, arguments, &bound, REPEATS)
}

/// What cannot be had here costs time, and nothing else.
fn step_back() {
    if let Err(error) = setsid() {
        eprintln!("no session of its own for what runs beside: {error}");
    }
    if let Err(error) = nice(LOWEST) {
        eprintln!("no lower priority for what runs beside: {error}");
    }
    // Where Linux does not share between sessions the file is not there, and priorities are looked at anyway.
    let _ = fs::write("/proc/self/autogroup", LOWEST.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_beside_is_known_by_its_whole_name() {
        let programs = programs();
        assert!(is_among(&programs, "simulation") && is_among(&programs, "real_galera_node"), "{programs}");
        assert!(!is_among(&programs, "real") && !is_among(&programs, ""), "{programs}");
        assert!(!is_among("", "real"));
    }
}
