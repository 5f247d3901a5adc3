//! The objects and their history: one global order, compare-and-swap, and watches that resume from a revision.
//!
//! Every change gets the next revision; an object's `resourceVersion` is the revision of its last change. A bounded
//! window of changes is kept. A watcher holds nothing but its position in it, so a slow one costs nothing and, when it
//! falls out of the window, is told to list again.

mod document;
mod history;
mod key;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

pub use self::document::Document;
use self::history::History;
pub use self::history::{Change, ChangeKind, HISTORY_LIMIT, TooOld};
pub use self::key::{Key, Scope};

/// A point in the global order.
pub type Revision = u64;

/// The first revision: what an empty store is at. Clients take "0" for "any", so it is never given out.
pub const FIRST_REVISION: Revision = 1;
/// The most objects a store holds: a bound on memory, not a target.
pub const MAX_OBJECTS: usize = 500_000;

/// An object as it is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The object, its `resourceVersion` set.
    pub object: Document,
    /// The revision of its last change.
    pub revision: Revision,
}

/// What a write expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing under this key.
    Absent,
    /// The object at exactly this revision.
    At(Revision),
}

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
    /// No more objects can be kept.
    #[error("the store holds {MAX_OBJECTS} objects, and takes no more")]
    Full,
}

/// A consistent view: the objects asked for, and the revision they were read at.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The objects with their keys, in the order of their keys.
    pub objects: Vec<(Key, Stored)>,
    /// The revision of the whole store.
    pub revision: Revision,
}

struct State {
    objects: BTreeMap<Key, Stored>,
    revision: Revision,
    history: History,
}

/// The objects and their history. Cloning gives another handle to the same store.
#[derive(Clone)]
pub struct Store {
    state: Arc<Mutex<State>>,
    /// The newest revision, for watchers to wait on.
    moved: Arc<watch::Sender<Revision>>,
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        let state = State {
            objects: BTreeMap::new(),
            revision: FIRST_REVISION,
            history: History::new(FIRST_REVISION),
        };
        Self { state: Arc::new(Mutex::new(state)), moved: Arc::new(watch::Sender::new(FIRST_REVISION)) }
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        self.lock().revision
    }

    /// What keeps it from taking writes; none: it is well.
    pub fn failure(&self) -> Option<String> {
        None
    }

    /// How many objects there are of each resource, and how much text they are.
    pub fn stock(&self) -> Vec<(Arc<str>, u64, u64)> {
        let mut stock: Vec<(Arc<str>, u64, u64)> = Vec::new();
        for (key, stored) in &self.lock().objects {
            let bytes = stored.object.text().len() as u64;
            match stock.last_mut().filter(|(resource, ..)| *resource == key.resource) {
                Some((_, count, size)) => (*count, *size) = (*count + 1, *size + bytes),
                None => stock.push((key.resource.clone(), 1, bytes)),
            }
        }
        stock
    }

    /// The object under this key.
    pub fn get(&self, key: &Key) -> Option<Stored> {
        self.lock().objects.get(key).cloned()
    }

    /// All objects of this scope, as of one revision.
    pub fn list(&self, scope: &Scope) -> Snapshot {
        let state = self.lock();
        let within = state.objects.range(scope.first()..).take_while(|(key, _)| scope.contains(key));
        let objects = within.map(|(key, stored)| (key.clone(), stored.clone())).collect();
        Snapshot { objects, revision: state.revision }
    }

    /// The objects of this scope as they were at an earlier revision, as far back as changes are kept.
    pub fn list_at(&self, scope: &Scope, revision: Revision) -> Result<Snapshot, TooOld> {
        let state = self.lock();
        let within = state.objects.range(scope.first()..).take_while(|(key, _)| scope.contains(key));
        let mut objects: BTreeMap<Key, Stored> =
            within.map(|(key, stored)| (key.clone(), stored.clone())).collect();
        let since: Vec<&Arc<Change>> =
            state.history.after(revision)?.filter(|change| scope.contains(&change.key)).collect();
        for change in since.into_iter().rev() {
            match change.previous.clone() {
                Some(before) => drop(objects.insert(change.key.clone(), before)),
                None => drop(objects.remove(&change.key)),
            }
        }
        Ok(Snapshot { objects: objects.into_iter().collect(), revision })
    }

    /// The object under this key as it was at an earlier revision.
    pub fn get_at(&self, key: &Key, revision: Revision) -> Result<Option<Stored>, TooOld> {
        let state = self.lock();
        let first = state.history.after(revision)?.find(|change| change.key == *key);
        Ok(first.map_or_else(|| state.objects.get(key).cloned(), |change| change.previous.clone()))
    }

    /// Writes this object if what is there is what was expected.
    #[expect(clippy::unused_async, reason = "a durable store waits for the disk")]
    pub async fn put(&self, key: Key, object: Value, expect: Expect) -> Result<Stored, WriteError> {
        let mut state = self.lock();
        let previous = state.check(&key, expect)?;
        if previous.is_none() && state.objects.len() >= MAX_OBJECTS {
            return Err(WriteError::Full);
        }
        let revision = state.revision + 1;
        let stored = Stored { object: with_version(object, revision), revision };
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        state.objects.insert(key.clone(), stored.clone());
        self.record(&mut state, Change { revision, kind, key, object: stored.object.clone(), previous });
        Ok(stored)
    }

    /// Removes the object if it is at the revision expected. What is told of it is `last`, its last state.
    #[expect(clippy::unused_async, reason = "a durable store waits for the disk")]
    pub async fn remove(&self, key: &Key, last: Value, at: Revision) -> Result<Stored, WriteError> {
        let mut state = self.lock();
        let previous = state.check(key, Expect::At(at))?;
        let revision = state.revision + 1;
        let stored = Stored { object: with_version(last, revision), revision };
        state.objects.remove(key);
        let (key, object) = (key.clone(), stored.object.clone());
        self.record(&mut state, Change { revision, kind: ChangeKind::Deleted, key, object, previous });
        Ok(stored)
    }

    /// The changes within this scope after this revision, and the revision up to which they are complete.
    pub fn changes_after(
        &self,
        scope: &Scope,
        after: Revision,
    ) -> Result<(Vec<Arc<Change>>, Revision), TooOld> {
        let state = self.lock();
        let changes =
            state.history.after(after)?.filter(|change| scope.contains(&change.key)).cloned().collect();
        Ok((changes, state.revision))
    }

    /// Follows the newest revision.
    pub fn follow(&self) -> watch::Receiver<Revision> {
        self.moved.subscribe()
    }

    /// Forgets all but the last `keep` changes, as a compaction does: watchers before them have to list again.
    pub fn compact(&self, keep: usize) {
        self.lock().history.shorten(keep);
    }

    fn record(&self, state: &mut State, change: Change) {
        state.revision = change.revision;
        state.history.push(change);
        self.moved.send_replace(state.revision);
    }

    /// A panic while the lock was held cannot leave a half-made change: every change is made at once at the end.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The object that is to be replaced, if what is there is what was expected.
    fn check(&self, key: &Key, expect: Expect) -> Result<Option<Stored>, WriteError> {
        match (self.objects.get(key), expect) {
            (None, Expect::Absent) => Ok(None),
            (Some(_), Expect::Absent) => Err(WriteError::Exists),
            (None, Expect::At(_)) => Err(WriteError::Gone),
            (Some(stored), Expect::At(revision)) if stored.revision == revision => Ok(Some(stored.clone())),
            (Some(_), Expect::At(_)) => Err(WriteError::Changed),
        }
    }
}

fn with_version(mut object: Value, revision: Revision) -> Document {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
    }
    Document::of(&object)
}

#[cfg(test)]
pub(crate) fn done<T>(write: impl Future<Output = T>) -> T {
    //! A write to a store in memory is done when it returns.
    futures::FutureExt::now_or_never(write).unwrap()
}

#[cfg(test)]
mod tests;
