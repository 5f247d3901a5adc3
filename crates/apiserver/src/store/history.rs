//! The window of past changes from which watches are served.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Document, Key, Revision, Stored};

/// The most changes that are kept. With objects of a few KB this is tens of MB, and minutes of a busy cluster.
pub const HISTORY_LIMIT: usize = 20_000;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It came to be.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    /// When, in the global order.
    pub revision: Revision,
    /// What happened.
    pub kind: ChangeKind,
    /// To which object.
    pub key: Key,
    /// The object after the change; of a deleted one its last state.
    pub object: Document,
    /// The object before the change: a watch with a selector must know whether it was selected.
    pub previous: Option<Stored>,
}

/// The changes asked for are not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {asked} ({oldest})")]
pub struct TooOld {
    /// The revision asked for.
    pub asked: Revision,
    /// The oldest revision from which on all changes are kept.
    pub oldest: Revision,
}

/// The last changes, oldest first.
#[derive(Debug)]
pub(super) struct History {
    changes: VecDeque<Arc<Change>>,
    /// All changes after this revision are kept.
    complete_after: Revision,
}

impl History {
    pub(super) fn new(revision: Revision) -> Self {
        Self { changes: VecDeque::new(), complete_after: revision }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.changes.push_back(Arc::new(change));
        self.shorten(HISTORY_LIMIT);
    }

    pub(super) fn shorten(&mut self, keep: usize) {
        while self.changes.len() > keep {
            if let Some(dropped) = self.changes.pop_front() {
                self.complete_after = dropped.revision;
            }
        }
    }

    /// The changes after this revision.
    pub(super) fn after(&self, revision: Revision) -> Result<impl Iterator<Item = &Arc<Change>>, TooOld> {
        if revision < self.complete_after {
            return Err(TooOld { asked: revision, oldest: self.complete_after });
        }
        let from = self.changes.partition_point(|change| change.revision <= revision);
        Ok(self.changes.range(from..))
    }
}
