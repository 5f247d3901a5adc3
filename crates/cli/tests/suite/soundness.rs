//! Whether the processes of a world are as they should be: none ended for a reason of its own, none panicked. What is then seen of
//! clusters proves nothing, so every scenario fails.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What an operator says last that could not keep its Lease on a busy machine: the one reason it may have to end.
const LOST_LEASE: &str = "error: the Lease was lost while work went on";
/// How Rust tells of a panic. A task that panics does not end its process, and may leave a cluster without anyone who looks after it.
const PANICKED: &str = " panicked at ";

/// What was seen so far.
#[derive(Default)]
pub(crate) struct Soundness {
    logs: Mutex<Vec<Log>>,
    /// The first thing that went wrong.
    broken: Mutex<Option<String>>,
}

/// What a process says, as far as it was read.
struct Log {
    path: PathBuf,
    read: u64,
}

impl Soundness {
    /// Reads this log, too.
    pub(crate) fn listen_to(&self, path: PathBuf) {
        lock(&self.logs).push(Log { path, read: 0 });
    }

    /// An operator ended by itself, and this is the end of its log.
    pub(crate) fn operator_ended(&self, last: &str) {
        if !last.contains(LOST_LEASE) {
            self.is_broken(format!("the operator ended by itself: {last}"));
        }
    }

    /// This should never have been.
    pub(crate) fn is_broken(&self, why: String) {
        let mut broken = lock(&self.broken);
        if broken.is_none() {
            println!("{why}");
            *broken = Some(why);
        }
    }

    /// Reads what has been said since.
    pub(crate) fn listen(&self) {
        for log in lock(&self.logs).iter_mut() {
            let said = log.more();
            if let Some(line) = said.lines().find(|line| line.contains(PANICKED)) {
                self.is_broken(format!("{}: {line}", log.path.display()));
            }
        }
    }

    /// Fails if anything went wrong.
    pub(crate) fn assert(&self) {
        let broken = lock(&self.broken);
        assert!(broken.is_none(), "{}", broken.as_deref().unwrap_or_default());
    }
}

impl Log {
    /// The whole lines that are new.
    fn more(&mut self) -> String {
        let mut said = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut said)
        });
        // What cannot be read now is read later.
        let whole = said.iter().rposition(|byte| *byte == b'\n').filter(|_| read.is_ok());
        said.truncate(whole.map_or(0, |last| last + 1));
        self.read += said.len() as u64;
        String::from_utf8_lossy(&said).into_owned()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
