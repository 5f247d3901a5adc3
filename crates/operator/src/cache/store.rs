//! The objects of one kind, as the API server last told them, found by name and by cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kube::ResourceExt;
use muster_api::names::LABEL_CLUSTER;
use tokio::sync::Notify;

use super::asked::Asked;
use super::kinds::Cached;
use crate::key::Name;

/// The objects of one kind.
pub struct Store<K> {
    objects: RwLock<Objects<K>>,
    synced: AtomicBool,
    /// Whoever waits for that is woken in the order in which it began to: so a run can be repeated.
    came: Notify,
    unwatched: AtomicBool,
    /// What was read by name, until it is taken in.
    pub(super) asked: Asked<K>,
}

struct Objects<K> {
    /// By namespace and name, so that what is done for each of them is done in the same order each time.
    all: BTreeMap<Name, Arc<K>>,
    by_cluster: HashMap<Name, BTreeSet<Name>>,
}

/// What became of an object.
#[derive(Clone, Debug)]
pub enum Change<K> {
    /// It is like this now, and was like that before, if it was there.
    Is(Arc<K>, Option<Arc<K>>),
    /// It was like this, and is no more.
    Was(Arc<K>),
}

impl<K> Change<K> {
    /// The object, as it is or was.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Is(object, _) | Self::Was(object) => object,
        }
    }
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        let objects = Objects { all: BTreeMap::new(), by_cluster: HashMap::new() };
        Self {
            objects: RwLock::new(objects),
            synced: AtomicBool::new(false),
            came: Notify::new(),
            unwatched: AtomicBool::new(false),
            asked: Asked::default(),
        }
    }
}

impl<K: Cached> Store<K> {
    /// The object of this name.
    pub fn get(&self, name: &Name) -> Option<Arc<K>> {
        self.read().all.get(name).cloned()
    }

    /// All of them that belong to this cluster, by name.
    pub fn of_cluster(&self, cluster: &Name) -> Vec<Arc<K>> {
        let objects = self.read();
        let names = objects.by_cluster.get(cluster).into_iter().flatten();
        names.filter_map(|name| objects.all.get(name).cloned()).collect()
    }

    /// All of them, by namespace and name.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.read().all.values().cloned().collect()
    }

    /// All of them in this namespace, by name.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let objects = self.read();
        let from = objects.all.range(Name::new(namespace, "")..);
        from.take_while(|(name, _)| name.namespace == namespace).map(|(_, object)| object.clone()).collect()
    }

    /// Whether every object was told at least once.
    pub fn is_synced(&self) -> bool {
        self.synced.load(Ordering::Acquire)
    }

    /// Nobody watches this kind: what is not here may exist all the same.
    pub(super) fn is_not_watched(&self) {
        self.unwatched.store(true, Ordering::Relaxed);
        self.is_complete();
    }

    fn is_complete(&self) {
        self.synced.store(true, Ordering::Release);
        self.came.notify_waiters();
    }

    /// Whether this kind is watched at all.
    pub fn watched(&self) -> bool {
        !self.unwatched.load(Ordering::Relaxed)
    }

    /// Waits until every object was told at least once.
    pub async fn until_synced(&self) {
        let came = self.came.notified();
        tokio::pin!(came);
        // From here on nothing is missed.
        came.as_mut().enable();
        if !self.is_synced() {
            came.await;
        }
    }

    /// The object of this name is about to be read, because nothing is told of it.
    pub fn ask(&self, name: &Name) {
        self.asked.ask(name, self.get(name).and_then(|known| known.uid()));
    }

    /// The object of this name was read, and is taken in as if it had been told. One that lost the label by which it is watched is
    /// not to be seen any more.
    pub fn answer(&self, name: &Name, found: Option<K>) {
        let shown = |object: &K| !K::LABELLED || object.labels().contains_key(LABEL_CLUSTER);
        self.asked.answer(name, found.filter(shown));
    }

    /// Whether something later is known of this very object.
    pub(super) fn knows_later(&self, object: &K) -> bool {
        let version = |object: &K| object.resource_version().and_then(|version| version.parse::<u64>().ok());
        let later = |known: &Arc<K>| known.uid() == object.uid() && version(known) > version(object);
        self.get(&Name::of(object)).as_ref().is_some_and(later)
    }

    /// Takes in an object. None: nothing about it is new.
    pub(super) fn put(&self, object: K) -> Option<Change<K>> {
        let (name, cluster) = (Name::of(&object), object.cluster());
        let object = Arc::new(object);
        let mut objects = self.write();
        let old = objects.all.insert(name.clone(), object.clone());
        let same =
            |old: &Arc<K>| old.uid() == object.uid() && old.resource_version() == object.resource_version();
        if old.as_ref().is_some_and(same) {
            return None;
        }
        let old_cluster = old.as_ref().and_then(|old| old.cluster());
        if old_cluster != cluster {
            objects.leave(old_cluster.as_ref(), &name);
            if let Some(cluster) = cluster {
                objects.by_cluster.entry(cluster).or_default().insert(name);
            }
        }
        Some(Change::Is(object, old))
    }

    /// Forgets an object.
    pub(super) fn remove(&self, name: &Name) -> Option<Change<K>> {
        let mut objects = self.write();
        let old = objects.all.remove(name)?;
        objects.leave(old.cluster().as_ref(), name);
        Some(Change::Was(old))
    }

    /// All that is there was told: whatever else is kept has gone in the meantime.
    pub(super) fn keep_only(&self, told: &HashSet<Name>) -> Vec<Change<K>> {
        let gone: Vec<Name> = self.read().all.keys().filter(|name| !told.contains(*name)).cloned().collect();
        let changes = gone.iter().filter_map(|name| self.remove(name)).collect();
        self.is_complete();
        changes
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects<K>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<K>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Objects<K> {
    fn leave(&mut self, cluster: Option<&Name>, name: &Name) {
        let Some(cluster) = cluster else { return };
        if let Some(names) = self.by_cluster.get_mut(cluster) {
            names.remove(name);
            if names.is_empty() {
                self.by_cluster.remove(cluster);
            }
        }
    }
}
