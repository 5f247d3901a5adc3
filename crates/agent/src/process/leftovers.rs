//! What an earlier run of the agent, or a program that ended, has left behind: found, killed, and known to be gone.

use std::io;
use std::path::Path;

use super::{lock, table};
use crate::memory::Process;

/// Kills whoever holds the lock on the data, and this process if it lives; true when nothing lives any more. Called again until
/// that is so.
pub fn clear(lock: &Path, recorded: Option<&Process>) -> io::Result<bool> {
    if let Some(process) = recorded.filter(|process| table::lives(process)) {
        table::kill_if(process.pid, || table::lives(process));
    }
    if lock::try_alone(lock)?.is_some() {
        return Ok(recorded.is_none_or(|process| !table::lives(process)));
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    for pid in table::all().into_iter().filter(|pid| *pid != own) {
        if table::holds(pid, lock) {
            table::kill_if(pid, || table::holds(pid, lock));
        }
    }
    Ok(false)
}

/// Processes that came to this one when their parents ended: reaped, or killed first where nothing may be left.
pub fn orphans(known: impl Fn(i32) -> bool, kill: bool) {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    for pid in table::children().into_iter().filter(|pid| !known(*pid)) {
        let orphan = || table::entry(pid).is_some_and(|entry| entry.parent == own);
        if kill {
            table::kill_if(pid, orphan);
        }
        table::reap(pid);
    }
}
