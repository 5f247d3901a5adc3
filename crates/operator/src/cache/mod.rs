//! What the API server told: one store for each kind, kept by watches, and the guard over our own writes.

mod asked;
mod feed;
pub mod guard;
pub mod kinds;
pub mod memos;
mod store;

use std::sync::Arc;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, PersistentVolumeClaim, Pod, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::{Api, Client, Resource};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use tokio::task::JoinSet;

pub use self::guard::{Freshness, Guard};
pub use self::kinds::Cached;
pub use self::store::{Change, Store};
use crate::context::Chance;

/// Everything that is watched.
#[derive(Default)]
#[expect(missing_docs, reason = "each is the store of the kind that it is named after")]
pub struct Caches {
    pub clusters: Store<ReplicatedCluster>,
    pub members: Store<Member>,
    pub engines: Store<ReplicationEngine>,
    pub stateful_sets: Store<StatefulSet>,
    pub pods: Store<Pod>,
    pub claims: Store<PersistentVolumeClaim>,
    pub config_maps: Store<ConfigMap>,
    pub services: Store<Service>,
    pub disruption_budgets: Store<PodDisruptionBudget>,
    pub deployments: Store<Deployment>,
    pub daemon_sets: Store<DaemonSet>,
    pub nodes: Store<Node>,
    pub namespaces: Store<Namespace>,
    pub storage_classes: Store<StorageClass>,
    pub memos: memos::Memos,
    pub configs: memos::Configs,
}

/// Who is told what changed.
pub trait Listener: Clone + Send + Sync + 'static {
    /// This object changed.
    fn changed<K: Cached>(&self, change: &Change<K>);
}

impl Caches {
    /// Waits until every object of every kind was told at least once.
    pub async fn until_synced(&self) {
        tokio::join!(
            self.clusters.until_synced(),
            self.members.until_synced(),
            self.engines.until_synced(),
            self.stateful_sets.until_synced(),
            self.pods.until_synced(),
            self.claims.until_synced(),
            self.config_maps.until_synced(),
            self.services.until_synced(),
            self.disruption_budgets.until_synced(),
            self.deployments.until_synced(),
            self.daemon_sets.until_synced(),
            self.nodes.until_synced(),
            self.namespaces.until_synced(),
            self.storage_classes.until_synced(),
        );
    }
}

/// Watches every kind, in one namespace or in all. The watches end when the set is dropped.
pub fn watch_all(
    client: &Client,
    namespace: Option<&str>,
    caches: &Arc<Caches>,
    listener: &impl Listener,
    chance: &Chance,
) -> JoinSet<()> {
    let mut watches = Watches { client, namespace, caches, listener, chance, tasks: JoinSet::new() };
    watches.namespaced::<ReplicatedCluster>();
    watches.namespaced::<Member>();
    watches.everywhere::<ReplicationEngine>();
    watches.namespaced::<StatefulSet>();
    watches.namespaced::<Pod>();
    watches.namespaced::<PersistentVolumeClaim>();
    watches.namespaced::<ConfigMap>();
    watches.namespaced::<Service>();
    watches.namespaced::<PodDisruptionBudget>();
    watches.namespaced::<Deployment>();
    watches.namespaced::<DaemonSet>();
    watches.everywhere::<StorageClass>();
    if namespace.is_none() {
        watches.everywhere::<Node>();
        watches.everywhere::<Namespace>();
    } else {
        // Within one namespace a Role has to do, and a Role cannot show these.
        caches.nodes.is_not_watched();
        caches.namespaces.is_not_watched();
    }
    watches.tasks
}

struct Watches<'a, L> {
    client: &'a Client,
    namespace: Option<&'a str>,
    caches: &'a Arc<Caches>,
    listener: &'a L,
    chance: &'a Chance,
    tasks: JoinSet<()>,
}

impl<L: Listener> Watches<'_, L> {
    fn namespaced<K: Cached + Resource<Scope = NamespaceResourceScope>>(&mut self) {
        let api = match self.namespace {
            Some(namespace) => Api::<K>::namespaced(self.client.clone(), namespace),
            None => Api::<K>::all(self.client.clone()),
        };
        self.spawn(api);
    }

    fn everywhere<K: Cached + Resource<Scope = ClusterResourceScope>>(&mut self) {
        self.spawn(Api::<K>::all(self.client.clone()));
    }

    fn spawn<K: Cached>(&mut self, api: Api<K>) {
        let listener = self.listener.clone();
        let changed = move |change: &Change<K>| listener.changed(change);
        self.tasks.spawn(feed::feed(api, self.caches.clone(), self.chance.number(), changed));
    }
}
