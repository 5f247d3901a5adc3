//! Locks on the volume: one for the agent that lives, one for every process that works on the data.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// Takes the lock for this process alone; None while someone else has it.
pub fn try_alone(path: &Path) -> io::Result<Option<Held>> {
    let file = open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Held { _file: file })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opened for reading only, so that it can be locked on a disk that nobody can write to.
fn open(path: &Path) -> io::Result<File> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            File::open(path)
        }
        opened => opened,
    }
}

/// Takes the lock beside others, for this process and every program and process that comes from it. It goes with the last of them.
pub fn share_for_good(path: &Path) -> io::Result<()> {
    // Opened like this it stays open in the program that this process becomes.
    let file = rustix::fs::open(path, OFlags::RDONLY, Mode::empty())?;
    flock(&file, FlockOperation::NonBlockingLockShared)?;
    let _ = file.into_raw_fd();
    Ok(())
}
