//! A pool: a group of identical members of one cluster, and how many there are to be.

use k8s_openapi::api::core::v1::{NodeAffinity, Toleration};
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::common::{Resources, Retention};
use crate::limits;
use crate::quantity::Quantity;
use crate::rules;
use crate::schema;

/// A group of identical members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// The name of the pool: 1 to 15 lower-case letters and digits. Its members are called
    /// `<cluster>-<pool>-<ordinal>`.
    #[schemars(length(min = 1, max = limits::POOL_NAME_MAX), regex(pattern = limits::POOL_NAME_PATTERN))]
    pub name: String,
    /// The zone the members must run in: the value of the node label `topology.kubernetes.io/zone`. Without it
    /// they may run anywhere, and the pool's name is reported as their zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::LABEL_VALUE_MAX), regex(pattern = limits::LABEL_VALUE_PATTERN))]
    pub zone: Option<String>,
    /// How many members the pool has: either exactly `nodes`, or within bounds of count and free storage.
    pub threshold: Threshold,
    /// The volume of each member.
    pub storage: PoolStorage,
    /// Which nodes the members may run on, as in a Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::node_affinity")]
    pub node_affinity: Option<NodeAffinity>,
    /// Which taints of nodes the members tolerate, as in a Pod.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::tolerations")]
    pub tolerations: Vec<Toleration>,
    /// What the container `main` of each member asks for, in place of what the engine says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// How many members a pool has. Give `nodes` alone, or any of the other four.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = rules::THRESHOLD_GIVEN,
    validation = rules::THRESHOLD_NODES_ALONE,
    validation = rules::THRESHOLD_NODES_ORDER,
    validation = rules::THRESHOLD_FREE_STORAGE_ORDER,
)]
pub struct Threshold {
    /// Exactly this many members. 0 in every pool parks the cluster: members are stopped, data is kept. Excludes
    /// the other four fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::MAX_MEMBERS))]
    pub nodes: Option<i32>,
    /// At least this many members. Must be less than `maxNodes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::MAX_MEMBERS))]
    pub min_nodes: Option<i32>,
    /// At most this many members. A pool sized by free storage alone stops at 32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::MAX_MEMBERS))]
    pub max_nodes: Option<i32>,
    /// Members are added while the pool's free storage is below this, up to `maxNodes`. Must be less than
    /// `freeStorageMax`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::positive_quantity")]
    pub free_storage_min: Option<Quantity>,
    /// Members are removed while the pool's free storage is above this, down to `minNodes`. Without `minNodes`
    /// and `freeStorageMin`, members are added until it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::positive_quantity")]
    pub free_storage_max: Option<Quantity>,
}

impl Threshold {
    /// Exactly this many members.
    pub fn exactly(nodes: i32) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// Whether free storage decides about the size.
    pub fn by_free_storage(&self) -> bool {
        self.free_storage_min.is_some() || self.free_storage_max.is_some()
    }

    /// The most members that the pool may come to by itself.
    pub fn most(&self) -> i32 {
        let unbounded = if self.by_free_storage() { limits::DEFAULT_MAX_NODES } else { 0 };
        self.nodes.or(self.max_nodes).unwrap_or_else(|| unbounded.max(self.min_nodes.unwrap_or(0)))
    }
}

/// The volume of each member of a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::STORAGE_CLASS_IMMUTABLE)]
pub struct PoolStorage {
    /// The StorageClass of the volumes; without it the cluster's default class. Cannot be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub storage_class_name: Option<String>,
    /// The size of each volume, for example `10Gi`. Can only grow.
    #[schemars(schema_with = "schema::growing_quantity")]
    pub capacity: Quantity,
    /// What becomes of a volume when its member is removed: `Retain` (default) keeps it, `Delete` deletes it.
    #[serde(default)]
    pub retention: Retention,
}
