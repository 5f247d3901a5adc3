//! One builder at a time in a cache.

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Held until dropped; the system lets go of it when the process ends in any way.
pub(super) struct CacheLock {
    _file: File,
}

impl CacheLock {
    /// Takes the lock; if another run holds it, says so and waits.
    pub(super) fn take(cache: &Path) -> Result<Self> {
        let path = cache.join("lock");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!("another run is providing the assets; waiting for it");
                file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;
    use std::{fs, process, thread};

    #[test]
    fn the_second_run_gets_the_lock_only_after_the_first_lets_go() {
        let cache = std::env::temp_dir().join(format!("muster-lock-{}", process::id()));
        fs::create_dir_all(&cache).unwrap();
        let first = CacheLock::take(&cache).unwrap();
        let (sender, receiver) = mpsc::channel();
        let second = {
            let cache = cache.clone();
            thread::spawn(move || {
                let _lock = CacheLock::take(&cache).unwrap();
                sender.send(()).unwrap();
            })
        };
        assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err());
        drop(first);
        receiver.recv_timeout(Duration::from_secs(10)).unwrap();
        second.join().unwrap();
        fs::remove_dir_all(&cache).unwrap();
    }
}
