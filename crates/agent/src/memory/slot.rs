//! A file that is replaced as a whole, also on a full disk: beside it lies a spare whose space is taken already.
//!
//! New content goes into the spare, is fsynced, and then the two exchange their names in one step; the directory is fsynced last. So under
//! its name there is always a whole content, the old one or the new one, and no step needs space that is not there. Where names
//! cannot be exchanged (NFS) the spare takes the name, and a new spare is made from the space that the old file gave back.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, RenameFlags, fallocate, renameat_with};
use rustix::io::Errno;

/// A file, and its spare.
#[derive(Debug)]
pub(super) struct Slot {
    directory: PathBuf,
    path: PathBuf,
    spare: PathBuf,
    size: usize,
    mode: u32,
}

impl Slot {
    /// The file of this name, with room for this many bytes.
    pub(super) fn new(directory: &Path, name: &str, size: usize, mode: u32) -> Self {
        let (path, spare) = (directory.join(name), directory.join(format!("{name}.spare")));
        Self { directory: directory.to_owned(), path, spare, size, mode }
    }

    /// Where the content is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How much there is room for.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Takes the space for the next content.
    pub(super) fn prepare(&self) -> io::Result<()> {
        let spare = self.open_spare()?;
        let size = self.size as u64;
        if spare.metadata()?.len() >= size {
            return Ok(());
        }
        match fallocate(&spare, FallocateFlags::empty(), 0, size) {
            // A filesystem that cannot promise space: the content says itself how far it got.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => spare.write_all_at(&vec![b'\n'; self.size], 0)?,
            result => result?,
        }
        spare.sync_all()
    }

    /// Replaces the content. An error says that nothing is known to have changed; a later start finds the old or the new.
    pub(super) fn replace(&self, content: &[u8]) -> io::Result<()> {
        let spare = self.open_spare()?;
        spare.write_all_at(content, 0)?;
        if spare.metadata()?.len() > content.len() as u64 {
            spare.set_len(content.len() as u64)?;
        }
        spare.sync_all()?;
        drop(spare);
        let renewed = match renameat_with(CWD, &self.spare, CWD, &self.path, RenameFlags::EXCHANGE) {
            Ok(()) => false,
            Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                std::fs::rename(&self.spare, &self.path)?;
                true
            }
            Err(error) => return Err(error.into()),
        };
        File::open(&self.directory)?.sync_all()?;
        if renewed {
            // The content is safe; whether the next one will be is seen then.
            let _ = self.prepare();
        }
        Ok(())
    }

    fn open_spare(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(false).mode(self.mode).open(&self.spare)
    }
}
