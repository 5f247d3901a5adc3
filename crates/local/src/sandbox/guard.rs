//! The process around a container's process where there are no namespaces: it stays, and ends when nothing of the container is left.
//!
//! A container's program starts others, in groups and sessions of their own, as other users, and leaves them behind. The kernel gives
//! them to the guard when they lose their parent, so none of them can get away; when the program has ended, or the node has, the guard
//! kills them all. Whoever sees the guard end knows that they are gone.
//!
//! There are two, one around the other. A guard that is killed (by `kill -9`, or by the kernel when memory is short) can end nobody any
//! more. If it was the inner one, the kernel gives all that it had to the outer one, which ends them; if it was the outer one, the inner one
//! is told, and ends them. Only who kills both at the same moment leaves something behind.

use std::convert::Infallible;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{SignalKind, signal};

use super::parent;
use super::stat::Stat;
use super::{NOT_STARTED, SandboxError, arguments, own_number, step};

/// How often those that are left are killed: who is killed leaves its own children to the guard, who does not hear of it.
const STEP: Duration = Duration::from_millis(10);
/// What is added to the number of a signal, as shells do, to say that a program was ended by it.
const BY_SIGNAL: i32 = 128;

/// Starts what is `next` around the program of the order in this file, which `again` leads to, and ends as it does, when nothing of it is
/// left.
pub(super) fn stay(next: &str, file: &Path, again: &[String]) -> Result<Infallible, SandboxError> {
    // A key pressed in the terminal is not meant for it.
    rustix::process::setsid().map_err(|error| step("begin a session")(error.into()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let how = runtime.map_err(step("wait for its program"))?.block_on(watch_over(next, file, again))?;
    let by_signal = || how.terminating_signal().map(|signal| BY_SIGNAL + signal);
    std::process::exit(how.exit_status().or_else(by_signal).unwrap_or_else(|| NOT_STARTED.into()))
}

async fn watch_over(next: &str, file: &Path, again: &[String]) -> Result<WaitStatus, SandboxError> {
    let waiting = step("wait for its program");
    let mut child_ended = signal(SignalKind::child()).map_err(&waiting)?;
    let mut told_to_end = signal(SignalKind::terminate()).map_err(&waiting)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| step("take in what its program leaves behind")(error.into()))?;
    // Until here the starter's end was the guard's. From here on it hears of it: there is somebody to take along.
    parent::ask_for(Signal::TERM)?;
    let number = own_number().map_err(step("find out its number"))?;
    let program = again.split_first().map(|(program, first)| {
        Command::new(program).args(first).arg(next).args(arguments(number, file)).spawn()
    });
    let program = program.unwrap_or_else(|| Err(std::io::ErrorKind::InvalidInput.into()));
    let program = Pid::from_child(&program.map_err(step("start its program"))?);
    let mut how = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((ended, status))) if ended == program => how = Some(status),
            Ok(Some(_)) => {}
            Err(Errno::CHILD) => return how.ok_or_else(|| waiting(Errno::CHILD.into())),
            Err(error) => return Err(waiting(error.into())),
            Ok(None) if how.is_some() => {
                kill_children(number);
                drop(tokio::time::timeout(STEP, child_ended.recv()).await);
            }
            Ok(None) => tokio::select! {
                _ = child_ended.recv() => {}
                _ = told_to_end.recv() => {
                    // Its end is fetched here and nowhere else, so the number is its own until then.
                    let _ = rustix::process::kill_process(program, Signal::KILL);
                }
            },
        }
    }
}

/// Kills all children of this process: those whom it has itself, and those who were left to it. Their own children are left to it then.
fn kill_children(number: i32) {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = numbers.filter_map(Stat::of).filter(|stat| stat.parent == number);
    for child in children {
        // Its end is fetched by this process, so the numbers are its own. Who may not be killed by this user is waited for.
        if let Some(pid) = Pid::from_raw(child.number) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        // The whole group at once: one who starts another and ends, again and again, would be gone whenever it is looked for.
        if let Some(group) = Pid::from_raw(child.group).filter(|_| child.group != number) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}
