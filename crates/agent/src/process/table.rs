//! The kernel's table of processes, as far as the agent reads it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};

use crate::memory::Process;

/// What is known of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One letter; `Z` has ended and was not waited for.
    pub state: char,
    /// Its parent.
    pub parent: i32,
    /// When it began, in ticks since the machine did.
    pub start: u64,
}

/// What the table says of this process; None: there is none.
pub fn entry(pid: i32) -> Option<Entry> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name, in parentheses, may hold anything; the fields are counted behind it.
fn parse(line: &str) -> Option<Entry> {
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Of the fields counted from 1 this is the 22nd; the parent was the 4th.
    let start = fields.nth(17)?.parse().ok()?;
    Some(Entry { state, parent, start })
}

/// Which life of the machine this is.
pub fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// What tells this process from every other one.
pub fn identify(pid: i32) -> Option<Process> {
    Some(Process { pid, start: entry(pid)?.start, boot: boot() })
}

/// Whether this very process lives.
pub fn lives(process: &Process) -> bool {
    let same = |entry: Entry| entry.start == process.start && entry.state != 'Z' && entry.state != 'X';
    process.boot == boot() && entry(process.pid).is_some_and(same)
}

/// Kills a process, if it still is what `is` says: looked at again once it can no longer be exchanged for another.
pub fn kill_if(pid: i32, is: impl FnOnce() -> bool) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if is() {
        // It may have ended.
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
}

/// All processes that this one can see.
pub fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether this process has this file open.
pub fn holds(pid: i32, file: &Path) -> bool {
    let Ok(wanted) = fs::metadata(file) else { return false };
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| {
        fs::metadata(entry.path()).is_ok_and(|open| open.dev() == wanted.dev() && open.ino() == wanted.ino())
    })
}

/// The children of this process, by any of its threads.
pub fn children() -> Vec<i32> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).ok();
    let texts: Vec<String> = threads.flatten().filter_map(of_thread).collect();
    texts.iter().flat_map(|text| text.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

/// Waits for a child that has ended; nothing happens if it has not.
pub fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Someone else may have.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "42 (a) b) R 7 42 42 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 555 9 9";
        assert_eq!(parse(stat), Some(Entry { state: 'R', parent: 7, start: 555 }));
        assert_eq!(parse("42 (x) R"), None);
    }

    #[test]
    fn this_process_lives_and_no_other_is_taken_for_it() {
        let own = identify(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(lives(&own));
        assert!(!lives(&Process { start: own.start + 1, ..own.clone() }));
        assert!(!lives(&Process { boot: "other".into(), ..own }));
    }
}
