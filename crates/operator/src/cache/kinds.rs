//! The kinds that are watched, and to which cluster an object of each belongs.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, PersistentVolumeClaim, Pod, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::{Resource, ResourceExt};
use muster_api::names::{LABEL_CLUSTER, LABEL_MEMBER};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Caches;
use super::store::Store;
use crate::key::{Key, Name};

/// A kind that is watched.
pub trait Cached:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
    /// Whether only objects with the label of a cluster are watched.
    const LABELLED: bool;

    /// Where its objects are kept.
    fn store(caches: &Caches) -> &Store<Self>;

    /// The cluster that it belongs to.
    fn cluster(&self) -> Option<Name>;

    /// Whose pass a change of it concerns. The manager of its cluster is told besides.
    fn concerns(&self) -> Vec<Key>;
}

impl Cached for ReplicatedCluster {
    const LABELLED: bool = false;

    fn store(caches: &Caches) -> &Store<Self> {
        &caches.clusters
    }

    fn cluster(&self) -> Option<Name> {
        Some(Name::of(self))
    }

    fn concerns(&self) -> Vec<Key> {
        vec![Key::Cluster(Name::of(self))]
    }
}

impl Cached for Member {
    const LABELLED: bool = false;

    fn store(caches: &Caches) -> &Store<Self> {
        &caches.members
    }

    fn cluster(&self) -> Option<Name> {
        Some(Name::of(self).beside(&self.spec.cluster_name))
    }

    fn concerns(&self) -> Vec<Key> {
        let name = Name::of(self);
        vec![Key::Cluster(name.beside(&self.spec.cluster_name)), Key::Member(name)]
    }
}

impl Cached for ReplicationEngine {
    const LABELLED: bool = false;

    fn store(caches: &Caches) -> &Store<Self> {
        &caches.engines
    }

    fn cluster(&self) -> Option<Name> {
        None
    }

    fn concerns(&self) -> Vec<Key> {
        vec![Key::Engine(self.name_any())]
    }
}

/// The cluster that a label names.
fn labelled(object: &impl ResourceExt) -> Option<Name> {
    let cluster = object.labels().get(LABEL_CLUSTER)?;
    Some(Name::of(object).beside(cluster))
}

/// The passes of an object of a cluster: its Member's, or where it is of none, the cluster's.
fn of_member_or_cluster(object: &impl ResourceExt) -> Vec<Key> {
    let Some(cluster) = labelled(object) else { return Vec::new() };
    match object.labels().get(LABEL_MEMBER) {
        Some(member) => vec![Key::Member(cluster.beside(member))],
        None => vec![Key::Cluster(cluster)],
    }
}

macro_rules! children {
    ($($kind:ty => $store:ident),* $(,)?) => { $(
        impl Cached for $kind
        where
            $kind: Resource<Scope = NamespaceResourceScope>,
        {
            const LABELLED: bool = true;

            fn store(caches: &Caches) -> &Store<Self> {
                &caches.$store
            }

            fn cluster(&self) -> Option<Name> {
                labelled(self)
            }

            fn concerns(&self) -> Vec<Key> {
                of_member_or_cluster(self)
            }
        }
    )* };
}

children! {
    StatefulSet => stateful_sets,
    Pod => pods,
    PersistentVolumeClaim => claims,
    ConfigMap => config_maps,
    Service => services,
    PodDisruptionBudget => disruption_budgets,
    Deployment => deployments,
    DaemonSet => daemon_sets,
}

macro_rules! surroundings {
    ($($kind:ty => $store:ident),* $(,)?) => { $(
        impl Cached for $kind {
            const LABELLED: bool = false;

            fn store(caches: &Caches) -> &Store<Self> {
                &caches.$store
            }

            fn cluster(&self) -> Option<Name> {
                None
            }

            fn concerns(&self) -> Vec<Key> {
                Vec::new()
            }
        }
    )* };
}

surroundings! {
    Node => nodes,
    Namespace => namespaces,
    StorageClass => storage_classes,
}
