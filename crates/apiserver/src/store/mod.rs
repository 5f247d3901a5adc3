//! The objects and their history: one global order, compare-and-swap, and watches that resume from a revision.
//!
//! Every change gets the next revision; an object's `resourceVersion` is the revision of its last change. A bounded
//! window of changes is kept. A watcher holds nothing but its position in it, so a slow one costs nothing and, when it
//! falls out of the window, is told to list again.
//!
//! All reading is from memory. A store with a directory writes to disk first, and memory follows: what is seen is safe.

mod disk;
mod document;
mod error;
mod followers;
mod history;
mod key;
mod state;
mod writer;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::Value;

use self::disk::{Directory, Log};
pub use self::document::{Document, Draft};
pub use self::error::{OpenError, WriteError};
pub use self::followers::Follower;
use self::followers::Teller;
pub use self::history::{Change, ChangeKind, HISTORY_BYTES, HISTORY_LIMIT, TooOld};
pub use self::key::{Key, Scope};
use self::state::{Batch, State, Wish};
use self::writer::Writer;

/// A point in the global order.
pub type Revision = u64;

/// The first revision: what an empty store is at. Clients take "0" for "any", so it is never given out.
pub const FIRST_REVISION: Revision = 1;
/// The most objects a store holds: a bound on memory, not a target.
pub const MAX_OBJECTS: usize = 500_000;
/// The largest object, as text: the limit that etcd sets to a request, and so kube-apiserver to an object.
pub const MAX_OBJECT_BYTES: usize = 3 << 19;

/// An object as it is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The object, its `resourceVersion` set.
    pub object: Document,
    /// The revision of its last change.
    pub revision: Revision,
}

/// An object with its key.
pub type Entry = (Arc<Key>, Stored);

/// What a write expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing under this key.
    Absent,
    /// The object at exactly this revision.
    At(Revision),
}

/// Another object that a write rests on: it happens only if that is still as it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Which object.
    pub key: Key,
    /// Its revision.
    pub at: Revision,
}

/// A consistent view: the objects asked for, and the revision they were read at.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The objects with their keys, in the order of their keys.
    pub objects: Vec<Entry>,
    /// The revision of the whole store.
    pub revision: Revision,
}

/// The objects and their history. Cloning gives another handle to the same store. When the last one of a store with a
/// directory is dropped, the directory is free again.
#[derive(Clone)]
pub struct Store {
    memory: Arc<Memory>,
    /// Who writes to disk; none for a store that lives in memory only.
    writer: Option<Arc<Writer>>,
}

/// Who is told of each change.
type Told = Box<dyn Fn(&Change) + Send + Sync>;

/// What readers and watchers see.
struct Memory {
    state: RwLock<State>,
    /// Who is told of each change at once; nobody but a test asks for it.
    told: OnceLock<Told>,
    /// The newest revision, for controllers to wait on.
    moved: Teller,
    /// The newest revision of a resource, for its watchers to wait on.
    followed: RwLock<HashMap<Arc<str>, Teller>>,
    /// Why the last batch could not be written to disk.
    failure: Mutex<Option<String>>,
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    /// An empty store that lives in memory only. A write is done when its future is first polled.
    pub fn new() -> Self {
        Self { memory: Arc::new(Memory::new(State::new(BTreeMap::new(), FIRST_REVISION))), writer: None }
    }

    /// The same store, which takes no more than so many objects from now on; what it holds already stays.
    #[must_use]
    pub fn bounded(self, most: usize) -> Self {
        self.memory.state_mut().most = most;
        self
    }

    /// Another store with the same objects, in memory only: from here on each goes its own way. What happened before is
    /// forgotten there.
    #[must_use]
    pub fn copy(&self) -> Self {
        let state = self.memory.read();
        let state = State::new(state.objects.clone(), state.revision);
        Self { memory: Arc::new(Memory::new(state)), writer: None }
    }

    /// The store of this directory, which is made if there is none. What was acknowledged is there; what happened
    /// before is forgotten, so that watches from then on have to list again.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Self::open_in(Directory::open(directory)?)
    }

    fn open_in(directory: Directory) -> Result<Self, OpenError> {
        let path = directory.path().to_owned();
        let (log, state) = Log::open(directory)?;
        let memory = Arc::new(Memory::new(state));
        let writer = Writer::start(log, memory.clone()).map_err(OpenError::io(&path))?;
        Ok(Self { memory, writer: Some(Arc::new(writer)) })
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        self.memory.read().revision
    }

    /// What the disk said when it last refused to be written; none once it takes writes again.
    pub fn failure(&self) -> Option<String> {
        self.memory.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many objects there are of each resource, and how much text they are.
    pub fn stock(&self) -> Vec<(Arc<str>, u64, u64)> {
        let mut stock: Vec<(Arc<str>, u64, u64)> = Vec::new();
        for (key, stored) in &self.memory.read().objects {
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
        self.memory.read().objects.get(key).cloned()
    }

    /// All objects of this scope, as of one revision.
    pub fn list(&self, scope: &Scope) -> Snapshot {
        let state = self.memory.read();
        let objects = scope.of(&state.objects).map(|(key, stored)| (key.clone(), stored.clone())).collect();
        Snapshot { objects, revision: state.revision }
    }

    /// The objects of this scope as they were at an earlier revision, as far back as changes are kept.
    pub fn list_at(&self, scope: &Scope, revision: Revision) -> Result<Snapshot, TooOld> {
        let (now, since) = {
            let state = self.memory.read();
            let within = state.history.after(revision)?.filter(|change| scope.contains(&change.key));
            let since: Vec<Arc<Change>> = within.cloned().collect();
            let now: Vec<_> =
                scope.of(&state.objects).map(|(key, stored)| (key.clone(), stored.clone())).collect();
            (now, since)
        };
        if since.is_empty() {
            return Ok(Snapshot { objects: now, revision });
        }
        let mut objects: BTreeMap<Arc<Key>, Stored> = now.into_iter().collect();
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
        let state = self.memory.read();
        let first = state.history.after(revision)?.find(|change| *change.key == *key);
        Ok(first.map_or_else(|| state.objects.get(key).cloned(), |change| change.previous.clone()))
    }

    /// Writes this object if what is there is what was expected.
    pub async fn put(&self, key: Key, object: Value, expect: Expect) -> Result<Stored, WriteError> {
        self.put_with(key, Draft::of(&object), expect, Vec::new()).await
    }

    /// Writes this object if what is there is what was expected, and everything it needs is as it was.
    pub async fn put_with(
        &self,
        key: Key,
        object: Draft,
        expect: Expect,
        needs: Vec<Need>,
    ) -> Result<Stored, WriteError> {
        self.write(Wish { key, object, expect, needs, removes: false }).await
    }

    /// Removes the object if it is at the revision expected. What is told of it is `last`, its last state.
    pub async fn remove(&self, key: &Key, last: Value, at: Revision) -> Result<Stored, WriteError> {
        self.remove_with(key, Draft::of(&last), at).await
    }

    /// The same with a draft of its last state.
    pub async fn remove_with(&self, key: &Key, object: Draft, at: Revision) -> Result<Stored, WriteError> {
        let key = key.clone();
        self.write(Wish { key, object, expect: Expect::At(at), needs: Vec::new(), removes: true }).await
    }

    async fn write(&self, wish: Wish) -> Result<Stored, WriteError> {
        let bytes = wish.object.room() + wish.key.bytes();
        if bytes > MAX_OBJECT_BYTES {
            return Err(WriteError::TooLarge { bytes });
        }
        match &self.writer {
            Some(writer) => writer.write(wish).await,
            None => self.memory.write(wish),
        }
    }

    /// The changes within this scope after this revision, and the revision up to which they are complete.
    pub fn changes_after(
        &self,
        scope: &Scope,
        after: Revision,
    ) -> Result<(Vec<Arc<Change>>, Revision), TooOld> {
        let state = self.memory.read();
        let changes =
            state.history.after(after)?.filter(|change| scope.contains(&change.key)).cloned().collect();
        Ok((changes, state.revision))
    }

    /// The same for who knows all that happened in this scope up to that revision.
    pub fn more_changes(
        &self,
        scope: &Scope,
        known: Revision,
    ) -> Result<(Vec<Arc<Change>>, Revision), TooOld> {
        let state = self.memory.read();
        let changes = state.history.after_of(&scope.resource, known)?;
        let within = changes.filter(|change| scope.contains(&change.key)).cloned().collect();
        Ok((within, state.revision))
    }

    /// All objects there are, as of one revision.
    pub fn all(&self) -> Snapshot {
        let state = self.memory.read();
        let objects = state.objects.iter().map(|(key, stored)| (key.clone(), stored.clone())).collect();
        Snapshot { objects, revision: state.revision }
    }

    /// The changes of all objects after this revision, and the revision up to which they are complete.
    pub fn all_changes_after(&self, after: Revision) -> Result<(Vec<Arc<Change>>, Revision), TooOld> {
        let state = self.memory.read();
        let changes = state.history.after(after)?.cloned().collect();
        Ok((changes, state.revision))
    }

    /// Follows the newest revision.
    pub fn follow(&self) -> Follower {
        self.memory.moved.follow()
    }

    /// Follows the newest revision of this resource: whoever waits for it is not woken by what happens to others.
    pub fn follow_resource(&self, resource: &Arc<str>) -> Follower {
        // Whoever writes has the state locked when it tells: so nobody looks at the state with this one locked.
        let now = self.revision();
        let mut followed = self.memory.followed.write().unwrap_or_else(PoisonError::into_inner);
        if !followed.contains_key(resource) {
            followed.retain(|_, told| told.is_followed());
        }
        let told = followed.entry(resource.clone()).or_insert_with(|| Teller::new(now));
        told.follow()
    }

    /// Tells of each change the moment it is made, before anything else can happen: for a test that holds what is written
    /// against what is true. Whoever is told may read the store and must not write. False: someone is told already.
    pub fn tell(&self, told: impl Fn(&Change) + Send + Sync + 'static) -> bool {
        self.memory.told.set(Box::new(told)).is_ok()
    }

    /// Forgets all but the last `keep` changes, as a compaction does: watchers before them have to list again.
    pub fn compact(&self, keep: usize) {
        self.memory.state_mut().history.shorten(keep);
    }
}

impl Memory {
    fn new(state: State) -> Self {
        let moved = Teller::new(state.revision);
        Self {
            state: RwLock::new(state),
            told: OnceLock::new(),
            moved,
            followed: RwLock::default(),
            failure: Mutex::new(None),
        }
    }

    /// A write that is done at once.
    fn write(&self, wish: Wish) -> Result<Stored, WriteError> {
        let mut state = self.state_mut();
        let mut batch = Batch::upon(&state);
        let stored = batch.decide(&state, wish)?;
        for change in &batch.changes {
            state.apply(change);
        }
        self.tell(&state, &batch.changes);
        drop(state);
        self.show(&batch.changes);
        Ok(stored)
    }

    /// Shows these changes to whoever asked to be told of each.
    fn show(&self, changes: &[Arc<Change>]) {
        if let Some(told) = self.told.get() {
            for change in changes {
                told(change);
            }
        }
    }

    /// Makes these changes, which are safe.
    fn apply(&self, changes: &[Arc<Change>]) {
        let mut state = self.state_mut();
        for change in changes {
            state.apply(change);
        }
        self.tell(&state, changes);
        drop(state);
        self.show(changes);
    }

    /// Tells who waits for these changes. The state is locked meanwhile, so that the newest revision is told last.
    fn tell(&self, state: &State, changes: &[Arc<Change>]) {
        self.moved.tell(state.revision);
        let followed = self.followed.read().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            // Once for all of a batch.
            if let Some(told) = followed.get(&change.key.resource) {
                told.tell(state.revision);
            }
        }
    }

    fn set_failure(&self, failure: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// A panic while the lock was held cannot leave a half-made change: nothing that changes the state panics.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(crate) fn done<T>(write: impl Future<Output = T>) -> T {
    //! A write to a store in memory is done when it returns.
    futures::FutureExt::now_or_never(write).unwrap()
}

#[cfg(test)]
mod tests;
