//! One test program, as `cargo test` starts it: named, timed, and ended if it does not end.
//!
//! A test that waits for ever would otherwise take all others with it: whoever gave the run its time ends it, and
//! nobody learns which test it was.

use super::{beside, repeat};
use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long one program may take: twice the longest on a busy machine.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// What the programs begin with whose tests mostly wait, for databases that wait for each other, and how many of those run at once:
/// more than there are processors.
const WAITING: (&str, &str) = ("real_galera", "4");
/// How libtest is told how many.
const THREADS: &str = "RUST_TEST_THREADS";
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(20);
/// The chore by which `cargo test` starts a program.
pub(crate) const CHORE: &str = "run-test";

/// Runs a program with these arguments, unless it runs already; false if it failed, or had to be ended.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<bool> {
    if env::var(beside::RUNS_ALREADY).is_ok_and(|running| beside::is_among(&running, name(program))) {
        return Ok(true);
    }
    run_within(program, arguments, &Bound { limit: LIMIT, is_over: || false }, repeat::MOST)
}

/// Runs a program for so long at most, and while nobody says that it is over. Up to `repeats` of its tests that failed are repeated.
pub(super) fn run_within(
    program: &str,
    arguments: &[&str],
    bound: &Bound<impl Fn() -> bool>,
    repeats: usize,
) -> Result<bool> {
    let name = name(program);
    let began = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped());
    let (waiting, at_once) = WAITING;
    if name.starts_with(waiting) && env::var_os(THREADS).is_none() {
        command.env(THREADS, at_once);
    }
    let (ended, said) = attended(command, bound, |output| repeat::listen(output, &mut io::stdout()))?;
    let Some(status) = ended else {
        // In the words of libtest, for whoever counts them: its own line never came.
        println!("\ntest result: FAILED. 0 passed; 1 failed; {name} was ended after {:?}", bound.limit);
        return Ok(false);
    };
    let again = |test: &str| {
        eprintln!("{name}: {test} failed, and is run once more, alone");
        let (ended, passed) =
            attended(repeat::alone(program, test), bound, |output| repeat::passed_alone(output, true))?;
        Ok(passed && ended.is_some_and(|status| status.success()))
    };
    let good = repeat::conclude(&said, status.success(), repeats, again, &mut io::stdout())?;
    eprintln!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    ensure!(status.code().is_some(), "{name} crashed: {status}");
    Ok(good)
}

/// How long a program may run.
pub(super) struct Bound<F> {
    pub(super) limit: Duration,
    pub(super) is_over: F,
}

/// Runs a command while someone reads what it says; nothing, if it had to be ended.
fn attended<T: Send>(
    mut command: Command,
    bound: &Bound<impl Fn() -> bool>,
    read: impl FnOnce(ChildStdout) -> Result<T> + Send,
) -> Result<(Option<ExitStatus>, T)> {
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    let output = child.stdout.take().context("it has no stdout")?;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(output));
        let ended = wait(&mut child, bound)?;
        if ended.is_none() {
            eprintln!("{command:?} did not end within {:?}. What still ran, and was ended:", bound.limit);
            for line in end(Pid::from_child(&child)) {
                eprintln!("  {line}");
            }
            child.wait()?;
        }
        let said = reader.join().map_err(|_| anyhow!("what it says cannot be read"))??;
        Ok((ended, said))
    })
}

/// `target/debug/deps/galera_script-0123456789abcdef` is `galera_script`.
fn name(program: &str) -> &str {
    let file = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

/// How it ended, if it did in this time.
fn wait(child: &mut Child, bound: &Bound<impl Fn() -> bool>) -> Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > bound.limit || (bound.is_over)() {
            return Ok(None);
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Ends a process and all that it started; says what they were. Threads of libtest have the names of their tests.
fn end(root: Pid) -> Vec<String> {
    let family = family(root);
    let told = family.iter().map(|process| {
        let command = fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero())).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        format!("{} {command}[{}]", process.as_raw_nonzero(), threads(*process).join(", "))
    });
    let told = told.collect();
    for process in family {
        // It may have ended by itself meanwhile.
        let _ = kill_process(process, Signal::KILL);
    }
    told
}

/// A process and all that descend from it, parents first.
fn family(root: Pid) -> Vec<Pid> {
    let mut family = vec![root];
    let mut place = 0;
    while let Some(parent) = family.get(place).copied() {
        place += 1;
        let number = parent.as_raw_nonzero();
        for thread in entries(&format!("/proc/{number}/task")) {
            let children = fs::read_to_string(format!("/proc/{number}/task/{thread}/children"));
            let children = children.unwrap_or_default();
            family.extend(children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)));
        }
    }
    family
}

/// The names of its threads, each once.
fn threads(process: Pid) -> Vec<String> {
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    let names = entries(&tasks).into_iter().map(|thread| {
        fs::read_to_string(format!("{tasks}/{thread}/comm")).unwrap_or_default().trim().to_owned()
    });
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

fn entries(directory: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_ended_with_all_that_it_started() {
        let mut child = Command::new("sh").args(["-c", "tail -f /dev/null & wait"]).spawn().unwrap();
        let root = Pid::from_child(&child);
        while family(root).len() < 2 {
            std::thread::park_timeout(PAUSE);
        }
        let grandchild = family(root)[1];
        let bound = |limit, over: bool| Bound { limit, is_over: move || over };
        assert!(wait(&mut child, &bound(Duration::ZERO, false)).unwrap().is_none());
        assert!(wait(&mut child, &bound(LIMIT, true)).unwrap().is_none());
        let told = end(root);
        assert!(told[0].contains("sh -c"), "{told:?}");
        assert!(told[1].contains("tail -f /dev/null"), "{told:?}");
        assert!(!wait(&mut child, &bound(LIMIT, false)).unwrap().unwrap().success());
        let state = || fs::read_to_string(format!("/proc/{}/cmdline", grandchild.as_raw_nonzero()));
        while state().is_ok_and(|command| !command.is_empty()) {
            std::thread::park_timeout(PAUSE);
        }
    }

    #[test]
    fn a_program_is_named_as_its_test() {
        assert_eq!(name("target/debug/deps/galera_script-0123456789abcdef"), "galera_script");
        assert_eq!(name("xtask"), "xtask");
    }

    #[test]
    fn what_fails_has_failed_and_what_passes_has_passed() {
        assert!(run("true", &[]).unwrap());
        assert!(!run("false", &[]).unwrap());
    }
}
