//! What needs nothing but processors, and much of them, runs beside the tests that mostly wait for real servers.
//!
//! It takes only what the others leave: the lowest priority, in a session of its own, because Linux shares processors between sessions first and
//! looks at priorities within one only.

use super::bounded::{self, Bound};
use super::suite::{Results, count};
use anyhow::{Context, Result, anyhow};
use rustix::process::{getppid, nice, setsid};
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// The test program that runs so: the operator through everything that can go wrong.
pub(super) const PROGRAM: &str = "simulation";
/// Tells it how many lives by chance to run: without this it runs a few, as in the inner loop.
const LIVES: (&str, &str) = ("MUSTER_SEEDS", "1500");
/// Tells the chore that starts programs that this one runs already.
pub(super) const RUNS_ALREADY: &str = "MUSTER_RUNS_BESIDE";
/// The chore by which `cargo test` starts it.
pub(crate) const CHORE: &str = "run-beside";
/// How long it may take: a few minutes of two processors, of which it gets what all other tests leave.
const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Its time and its chance are its own: what fails once fails again.
const REPEATS: usize = 0;
/// The lowest priority.
const LOWEST: i32 = 19;

/// What runs beside.
pub(super) struct Beside(JoinHandle<Result<(Results, Vec<u8>)>>);

impl Beside {
    /// Starts `cargo test` for that program.
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.args(["--test", PROGRAM]).env(LIVES.0, LIVES.1).stdout(Stdio::piped());
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
