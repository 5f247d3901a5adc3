//! The window of past changes from which watches are served.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{Document, Key, Revision, Stored};

/// The most changes that are kept. With objects of a few KB this is some tens of MB, and minutes of a busy cluster.
pub const HISTORY_LIMIT: usize = 10_000;
/// The most bytes that kept changes hold, so that large objects do not fill the memory by being changed often.
pub const HISTORY_BYTES: usize = 32 << 20;
/// What one change takes besides its texts, roughly.
const CHANGE_BYTES: usize = 256;

/// The most resources of which it is known when the last change was lost: far more than a server serves at a time. Definitions
/// come and go, and each leaves a name behind.
const MAX_RESOURCES: usize = 1_000;

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
    pub key: Arc<Key>,
    /// The object after the change; of a deleted one its last state.
    pub object: Document,
    /// The object before the change: a watch with a selector must know whether it was selected.
    pub previous: Option<Stored>,
}

impl Change {
    /// The object after the change; of a deleted one its last state.
    pub(super) fn after(&self) -> Stored {
        Stored { object: self.object.clone(), revision: self.revision }
    }

    /// The memory it may hold alone. Most of it is shared, with the change before or with the store itself, but what
    /// shares it may go first.
    fn bytes(&self) -> usize {
        let before = self.previous.as_ref().map_or(0, |stored| stored.object.text().len());
        CHANGE_BYTES + self.key.bytes() + self.object.text().len() + before
    }
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
    /// What the kept changes hold.
    bytes: usize,
    /// All changes after this revision are kept.
    complete_after: Revision,
    /// Of each resource the last change that is not kept any more.
    lost: HashMap<Arc<str>, Revision>,
    /// The same of all resources that are not in `lost`: no later than this.
    lost_of_others: Revision,
}

impl History {
    /// Nothing before this revision is known: also what a store is after it was opened, as etcd after a compaction.
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            changes: VecDeque::new(),
            bytes: 0,
            complete_after: revision,
            lost: HashMap::new(),
            lost_of_others: 0,
        }
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.bytes += change.bytes();
        self.changes.push_back(change);
        while self.changes.len() > HISTORY_LIMIT || self.bytes > HISTORY_BYTES {
            self.drop_oldest();
        }
    }

    pub(super) fn shorten(&mut self, keep: usize) {
        while self.changes.len() > keep {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(dropped) = self.changes.pop_front() {
            self.bytes -= dropped.bytes();
            self.complete_after = dropped.revision;
            match self.lost.get_mut(&dropped.key.resource) {
                Some(lost) => *lost = dropped.revision,
                None => drop(self.lost.insert(dropped.key.resource.clone(), dropped.revision)),
            }
            if self.lost.len() > MAX_RESOURCES {
                self.forget_resources();
            }
        }
    }

    /// Keeps the half that lost something last. Who watches one of the others, or one of which nothing was ever lost, from before
    /// then is told to list again: at worst once more than needed.
    fn forget_resources(&mut self) {
        let mut revisions: Vec<Revision> = self.lost.values().copied().collect();
        revisions.sort_unstable();
        let Some(middle) = revisions.get(revisions.len() / 2) else { return };
        self.lost_of_others = *middle;
        self.lost.retain(|_, lost| *lost > *middle);
    }

    /// The changes after this revision.
    pub(super) fn after(&self, revision: Revision) -> Result<impl Iterator<Item = &Arc<Change>>, TooOld> {
        if revision < self.complete_after {
            return Err(TooOld { asked: revision, oldest: self.complete_after });
        }
        Ok(self.kept_after(revision))
    }

    /// The same for who knows all changes of this resource up to that revision: what happened to others need not be kept.
    pub(super) fn after_of(
        &self,
        resource: &str,
        revision: Revision,
    ) -> Result<impl Iterator<Item = &Arc<Change>>, TooOld> {
        if *self.lost.get(resource).unwrap_or(&self.lost_of_others) > revision {
            return Err(TooOld { asked: revision, oldest: self.complete_after });
        }
        Ok(self.kept_after(revision))
    }

    fn kept_after(&self, revision: Revision) -> impl Iterator<Item = &Arc<Change>> {
        let from = self.changes.partition_point(|change| change.revision <= revision);
        self.changes.range(from..)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resources_that_come_and_go_are_forgotten() {
        let mut history = History::new(0);
        for revision in 1..=3 * MAX_RESOURCES as u64 {
            let key = Arc::new(Key::new(&format!("example.org/r{revision}").into(), "", "a"));
            let object = Document::of(&json!({"metadata": {}}));
            history.push(Arc::new(Change { revision, kind: ChangeKind::Added, key, object, previous: None }));
            history.shorten(1);
            assert!(history.lost.len() <= MAX_RESOURCES);
        }
        let newest = 3 * MAX_RESOURCES as u64;
        let is_too_old = |resource: u64, revision| {
            history.after_of(&format!("example.org/r{resource}"), revision).is_err()
        };
        assert!(is_too_old(newest - 1, newest - 2) && !is_too_old(newest - 1, newest - 1));
        assert!(is_too_old(1, 0), "what was forgotten is not taken for what was never lost");
        assert!(!is_too_old(1, newest - 1));
    }
}
