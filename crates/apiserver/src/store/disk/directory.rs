//! The directory of a store, its files, and the lock that keeps it to one process.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::format::header;
use crate::store::OpenError;

const LOCK: &str = "lock";
const SEGMENT: &str = "log";
/// A segment that is being made: it gets its name when it is complete.
const UNFINISHED: &str = "new";

/// Secrets are among the objects: only this user may look into the directory.
const PRIVATE_DIRECTORY: u32 = 0o700;
/// And only this user may read a file, wherever it is copied to.
const PRIVATE_FILE: u32 = 0o600;

/// The directory, held by a lock for as long as this lives.
pub(in crate::store) struct Directory {
    path: PathBuf,
    handle: File,
    pub(super) lock: File,
    #[cfg(test)]
    pub(in crate::store) faults: std::sync::Arc<super::tests::Faults>,
}

impl Directory {
    /// Opens the directory, which is made if there is none, and locks it.
    pub(in crate::store) fn open(path: &Path) -> Result<Self, OpenError> {
        let io = || OpenError::io(path);
        let is_new = !path.exists();
        DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path).map_err(io())?;
        let path = path.canonicalize().map_err(io())?;
        if let Some(parent) = path.parent().filter(|_| is_new) {
            // So that the directory itself is there after a power loss.
            File::open(parent).and_then(|parent| parent.sync_all()).map_err(OpenError::io(parent))?;
        }
        let lock_path = path.join(LOCK);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(PRIVATE_FILE);
        let lock = options.open(&lock_path).map_err(OpenError::io(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path)),
            Err(TryLockError::Error(error)) => return Err(OpenError::io(&lock_path)(error)),
        }
        let handle = File::open(&path).map_err(OpenError::io(&path))?;
        Ok(Self {
            path,
            handle,
            lock,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        })
    }

    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of this segment.
    pub(super) fn segment(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:010}.{SEGMENT}"))
    }

    /// The numbers of all segments, in order. What was not finished is removed.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            let kind = path.extension().and_then(|extension| extension.to_str());
            match (number, kind) {
                (Some(number), Some(SEGMENT)) => numbers.push(number),
                (Some(_), Some(UNFINISHED)) => fs::remove_file(&path)?,
                _ => {}
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Makes a new segment: complete on disk before it has its name.
    pub(super) fn create(&self, number: u64) -> io::Result<SegmentFile> {
        let unfinished = self.path.join(format!("{number:010}.{UNFINISHED}"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .mode(PRIVATE_FILE)
            .open(&unfinished)?;
        let file = SegmentFile::new(file, self);
        file.write_at(&header(number), 0)?;
        file.sync_all()?;
        fs::rename(&unfinished, self.segment(number))?;
        self.sync()?;
        Ok(file)
    }

    /// Opens a segment that is there, to go on with it.
    pub(super) fn reopen(&self, number: u64) -> io::Result<SegmentFile> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.segment(number))
            .map(|file| SegmentFile::new(file, self))
    }

    /// Removes a segment.
    pub(super) fn remove(&self, number: u64) -> io::Result<()> {
        match fs::remove_file(self.segment(number)) {
            // Removed before, and not synced then.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Closing the file does the same, but not while a process that is just being started has it too. If it
        // fails, closing is left.
        let _ = self.lock.unlock();
    }
}

/// A segment that is written to.
pub(super) struct SegmentFile {
    file: File,
    #[cfg(test)]
    faults: std::sync::Arc<super::tests::Faults>,
}

impl SegmentFile {
    #[cfg_attr(not(test), allow(unused_variables))]
    fn new(file: File, directory: &Directory) -> Self {
        Self {
            file,
            #[cfg(test)]
            faults: directory.faults.clone(),
        }
    }

    pub(super) fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(test)]
        self.faults.on_write(&self.file, bytes, at)?;
        self.file.write_all_at(bytes, at)
    }

    /// Makes what was written safe.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.on_sync()?;
        self.file.sync_data()
    }

    /// Cuts the file to this length, and makes that safe.
    pub(super) fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.sync_all()
    }

    fn sync_all(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.on_sync()?;
        self.file.sync_all()
    }
}
