//! What containers say, kept as container runtimes keep it: a line each, with its time and stream, a file for each run.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::logs::Growing;

/// How long a log may grow before it is put aside. One that was put aside is kept, the one before it is not.
const MAX_BYTES: u64 = 10 * 1024 * 1024;
/// The longest line; a longer one is kept in parts.
const MAX_LINE: u64 = 16 * 1024;
/// How many runs are kept: this one, and the one before for `kubectl logs --previous`.
const KEPT_RUNS: usize = 2;

/// The log of one run of a container.
#[derive(Clone)]
pub(super) struct Log(Arc<Mutex<Open>>);

struct Open {
    path: PathBuf,
    file: File,
    length: u64,
    /// Tells readers of each line; gone when nobody writes any more.
    grown: watch::Sender<()>,
}

impl Log {
    /// Opens the log of this run in the container's directory, goes on where it ended, and forgets old runs.
    pub(super) fn open(directory: &Path, run: u32, growing: &Growing) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        for old in crate::logs::runs(directory).into_iter().rev().filter(|it| *it != run).skip(KEPT_RUNS - 1)
        {
            let path = crate::logs::file(directory, old);
            drop(std::fs::remove_file(aside(&path)));
            drop(std::fs::remove_file(path));
        }
        let path = crate::logs::file(directory, run);
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let length = file.metadata()?.len();
        let grown = growing.begin(&path);
        Ok(Self(Arc::new(Mutex::new(Open { path, file, length, grown }))))
    }

    /// Writes what comes from here until it ends. What cannot be written is lost: a full disk must not stop a container.
    pub(super) fn copy(&self, stream: &str, from: impl Read) {
        let mut lines = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line), Ok(1..)) {
            let whole = line.pop_if(|last| *last == b'\n').is_some();
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            drop(open.write(stream, &line, whole));
            line.clear();
        }
    }
}

impl Open {
    fn write(&mut self, stream: &str, line: &[u8], whole: bool) -> io::Result<()> {
        if self.length > MAX_BYTES {
            std::fs::rename(&self.path, aside(&self.path))?;
            self.file = OpenOptions::new().create(true).append(true).open(&self.path)?;
            self.length = 0;
        }
        let tag = if whole { 'F' } else { 'P' };
        let mut bytes = format!("{:.9} {stream} {tag} ", jiff::Timestamp::now()).into_bytes();
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        self.length += bytes.len() as u64;
        self.file.write_all(&bytes)?;
        self.grown.send_replace(());
        Ok(())
    }
}

/// Where a log is put when it has grown too long.
fn aside(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(test: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("muster-logs-{test}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&directory));
        directory
    }

    #[test]
    fn this_run_and_the_one_before_are_kept() {
        let directory = scratch("runs");
        for run in 0..4 {
            let log = Log::open(&directory, run, &Growing::default()).unwrap();
            log.copy("stdout", format!("run {run}\n").as_bytes());
        }
        assert_eq!(crate::logs::runs(&directory), [2, 3]);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_log_that_is_too_long_is_put_aside_once() {
        let directory = scratch("long");
        let log = Log::open(&directory, 0, &Growing::default()).unwrap();
        let line = "x".repeat(1000) + "\n";
        let lines = usize::try_from(MAX_BYTES).unwrap() / 500;
        log.copy("stderr", line.repeat(lines).as_bytes());
        let length = |path: &Path| std::fs::metadata(path).unwrap().len();
        let path = crate::logs::file(&directory, 0);
        assert!(length(&path) <= MAX_BYTES + 2 * MAX_LINE && length(&aside(&path)) > MAX_BYTES);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
