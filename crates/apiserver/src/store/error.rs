//! Why a write did not happen, and why a store did not open.

use std::io;
use std::path::{Path, PathBuf};

use super::MAX_OBJECT_BYTES;
use crate::error::{ApiError, Reason, Subject};

/// Why a write did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// There is an object already.
    #[error("the object exists")]
    Exists,
    /// There is no such object.
    #[error("the object does not exist")]
    Gone,
    /// It was changed since it was read.
    #[error("the object was changed since it was read")]
    Changed,
    /// Another object that the write rests on, such as its namespace, was changed or removed since it was looked at.
    #[error("what the object rests on was changed since it was looked at")]
    Unfounded,
    /// No more objects can be kept.
    #[error("the store holds {most} objects, and takes no more")]
    Full {
        /// How many it takes.
        most: usize,
    },
    /// The object is larger than any may be.
    #[error("the object has {bytes} bytes, more than {MAX_OBJECT_BYTES}")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// It could not be written to disk. Nothing is seen to have changed; whether it is there after a restart is open,
    /// as when a connection breaks.
    #[error("the store cannot write to its disk: {0}")]
    Disk(String),
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
}

impl WriteError {
    /// The answer to the client that wanted to write this object.
    pub fn answer(&self, subject: Subject) -> ApiError {
        match self {
            Self::Exists => ApiError::already_exists(subject),
            Self::Gone => ApiError::not_found(subject),
            Self::Changed | Self::Unfounded => ApiError::modified(subject),
            // What kube-apiserver passes on from etcd, word for word: a 500 without a reason.
            Self::TooLarge { .. } => ApiError::new(Reason::Unknown, "etcdserver: request is too large"),
            Self::Full { .. } => ApiError::new(Reason::InternalError, self.to_string()),
            Self::Disk(_) | Self::Closed => ApiError::new(Reason::ServiceUnavailable, self.to_string()),
        }
    }
}

/// Why a store did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or this one, has it open.
    #[error("{} is in use by another store", .0.display())]
    InUse(PathBuf),
    /// It was written in a form that this version does not know.
    #[error("{} has format {found}; this version reads format {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format it says.
        found: u32,
        /// The format that is known.
        known: u32,
    },
    /// What was once written safely is not there any more: no crash does this.
    #[error("{} is damaged at byte {at}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl OpenError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
