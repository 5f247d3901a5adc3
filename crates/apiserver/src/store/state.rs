//! What is in memory, and whether a write may happen to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::document::Draft;
use super::history::History;
use super::{Change, ChangeKind, Expect, Key, MAX_OBJECTS, Need, Revision, Stored, WriteError};

/// The objects, the newest revision, and what happened lately.
pub(super) struct State {
    pub(super) objects: BTreeMap<Arc<Key>, Stored>,
    pub(super) revision: Revision,
    pub(super) history: History,
    /// The most objects that it takes.
    pub(super) most: usize,
}

/// A write that somebody wants.
pub(super) struct Wish {
    pub(super) key: Key,
    pub(super) object: Draft,
    pub(super) expect: Expect,
    /// What must be as it was for the write to happen.
    pub(super) needs: Vec<Need>,
    /// Whether the object goes; `object` is then its last state.
    pub(super) removes: bool,
}

impl State {
    pub(super) fn new(objects: BTreeMap<Arc<Key>, Stored>, revision: Revision) -> Self {
        Self { objects, revision, history: History::new(revision), most: MAX_OBJECTS }
    }

    pub(super) fn apply(&mut self, change: &Arc<Change>) {
        if change.kind == ChangeKind::Deleted {
            self.objects.remove(&*change.key);
        } else {
            self.objects.insert(change.key.clone(), change.after());
        }
        self.revision = change.revision;
        self.history.push(change.clone());
    }
}

/// Changes that are decided, one upon the other, and not yet made.
pub(super) struct Batch {
    pub(super) changes: Vec<Arc<Change>>,
    /// Of each key the last of these changes.
    last: HashMap<Arc<Key>, usize>,
    /// How many objects there will be.
    objects: usize,
    revision: Revision,
}

impl Batch {
    pub(super) fn upon(state: &State) -> Self {
        let (objects, revision) = (state.objects.len(), state.revision);
        Self { changes: Vec::new(), last: HashMap::new(), objects, revision }
    }

    /// Decides one more write, upon what is there and what this batch will change.
    pub(super) fn decide(&mut self, state: &State, wish: Wish) -> Result<Stored, WriteError> {
        let known = state.objects.get_key_value(&wish.key);
        let staged = self.last.get(&wish.key).map(|index| self.changes[*index].clone());
        let previous = match &staged {
            Some(change) if change.kind == ChangeKind::Deleted => None,
            Some(change) => Some(change.after()),
            None => known.map(|(_, stored)| stored.clone()),
        };
        check(previous.as_ref(), wish.expect)?;
        if wish.needs.iter().any(|need| self.revision_of(state, &need.key) != Some(need.at)) {
            return Err(WriteError::Unfounded);
        }
        let kind = match (&previous, wish.removes) {
            (_, true) => ChangeKind::Deleted,
            (Some(_), false) => ChangeKind::Modified,
            (None, false) if self.objects >= state.most => return Err(WriteError::Full { most: state.most }),
            (None, false) => ChangeKind::Added,
        };
        match kind {
            ChangeKind::Added => self.objects += 1,
            ChangeKind::Deleted => self.objects -= 1,
            ChangeKind::Modified => {}
        }
        self.revision += 1;
        // The key that is in memory already is kept, and the new one let go.
        let key = known.map_or_else(|| Arc::new(wish.key), |(key, _)| key.clone());
        let object = wish.object.at(self.revision);
        let change = Arc::new(Change { revision: self.revision, kind, key, object, previous });
        self.last.insert(change.key.clone(), self.changes.len());
        let stored = change.after();
        self.changes.push(change);
        Ok(stored)
    }

    /// The revision of an object upon what is there and what this batch will change.
    fn revision_of(&self, state: &State, key: &Key) -> Option<Revision> {
        match self.last.get(key).map(|index| &self.changes[*index]) {
            Some(change) => (change.kind != ChangeKind::Deleted).then_some(change.revision),
            None => state.objects.get(key).map(|stored| stored.revision),
        }
    }
}

/// Whether what is there is what was expected.
fn check(found: Option<&Stored>, expect: Expect) -> Result<(), WriteError> {
    match (found, expect) {
        (None, Expect::Absent) => Ok(()),
        (Some(_), Expect::Absent) => Err(WriteError::Exists),
        (None, Expect::At(_)) => Err(WriteError::Gone),
        (Some(stored), Expect::At(revision)) if stored.revision == revision => Ok(()),
        (Some(_), Expect::At(_)) => Err(WriteError::Changed),
    }
}
