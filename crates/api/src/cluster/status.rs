//! `ReplicatedCluster.status`: every field optional, because what is not known is absent.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::recovery::{LastRequest, Recovery};
use crate::limits;
use crate::quantity::Quantity;
use crate::schema;
use crate::tolerant;

/// What is known about the cluster. Written by Muster alone; what is not known is absent or `Unknown`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicatedClusterStatus {
    /// The generation of the spec that this status is about. Equal to `metadata.generation` and Ready=True: this
    /// spec is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Where the cluster is, in one word: `Pending`, `Provisioning`, `Provisioned`, `Running`, `Degraded`,
    /// `Recovering`, `Failed`, `Paused` or `Deleting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub phase: Option<String>,
    /// Why the phase is what it is, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub reason: Option<String>,
    /// Whether clustering or reconciliation is stopped by annotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_paused: Option<bool>,
    /// The conditions, by type: Ready, SpecValid, InfrastructureReady, ControlPlaneReady, Available, Healthy,
    /// ClusteringActive, ReconciliationActive, Recovering, ScalingUp, ScalingDown, RollingOut.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// How many Members exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub replicas: Option<i32>,
    /// How many Members the pools ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub desired_replicas: Option<i32>,
    /// How many Members are Ready at their generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub ready_replicas: Option<i32>,
    /// How many Members run what this spec asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub updated_replicas: Option<i32>,
    /// How many Members serve clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub available_replicas: Option<i32>,
    /// How many Members have caught up with the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub synced_replicas: Option<i32>,
    /// How many Members hold data that is not part of the primary's; they stay stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub errant_replicas: Option<i32>,
    /// How many Members recovery has to find. Muster records it while all is well. A person may set it while
    /// clustering is stopped: higher makes recovery wait, lower gives members up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::MAX_MEMBERS))]
    pub restore_replicas: Option<i32>,
    /// Ready and desired members, as in `2/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub members_ready: Option<String>,
    /// The name of the primary, or how many there are, as in `3 primaries`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::STATUS_NAME_MAX))]
    pub primary: Option<String>,
    /// The names of the members, by what they do.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    pub members: Option<MemberLists>,
    /// The name of the Service that clients use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::STATUS_NAME_MAX))]
    pub service_name: Option<String>,
    /// The port that clients use, on the Service and on the members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::PORT_MAX))]
    pub client_port: Option<i32>,
    /// Where clients reach the primary.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    pub endpoint: Option<Endpoint>,
    /// The pools, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(length(max = limits::MAX_POOLS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub pools: Vec<PoolStatus>,
    /// The free storage of all pools together; absent when one of them is not known.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub free_storage: Option<Quantity>,
    /// The zones over which the members are spread, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(length(max = limits::MAX_POOLS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub failure_domains: Vec<FailureDomain>,
    /// In one word, what Muster will not fix by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub failure_reason: Option<String>,
    /// For a person, what Muster will not fix by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::MESSAGE_MAX))]
    pub failure_message: Option<String>,
    /// The version that every member runs; absent while they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub current_version: Option<String>,
    /// The version that the spec asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub target_version: Option<String>,
    /// The generation of the ReplicationEngine that was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub engine_generation: Option<i64>,
    /// When the last backup ended, as the annotation `muster.dev/last-backup-time` says.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::time")]
    pub last_backup_time: Option<Time>,
    /// How recovery stands: who is missing, what each member holds, and what would unblock it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    pub recovery: Option<Recovery>,
    /// The last request of a person, and what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    pub last_request: Option<LastRequest>,
}

/// The names of the members, by what they do. Each list holds at most 512.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberLists {
    /// Ready at their generation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub ready: Vec<String>,
    /// Not ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub unready: Vec<String>,
    /// Serving writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub primary: Vec<String>,
    /// Following a primary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub secondary: Vec<String>,
    /// Failed: an action or the process itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub failed: Vec<String>,
    /// Holding data that is not part of the primary's; `kubectl muster rejoin` brings them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub errant: Vec<String>,
}

/// Where clients reach the primary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// A name or an address.
    #[serde(default)]
    #[schemars(length(max = limits::STATUS_NAME_MAX))]
    pub host: String,
    /// A port.
    #[serde(default)]
    #[schemars(range(min = 0, max = limits::PORT_MAX))]
    pub port: i32,
}

/// What is known about one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatus {
    /// The name of the pool.
    #[schemars(length(min = 1, max = limits::STATUS_NAME_MAX))]
    pub name: String,
    /// Its zone, or its name where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::STATUS_NAME_MAX))]
    pub zone: Option<String>,
    /// How many Members made from the pool exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub nodes: Option<i32>,
    /// How many of them are Ready at their generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub ready_nodes: Option<i32>,
    /// How many the threshold asks for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::COUNT_MAX))]
    pub desired_nodes: Option<i32>,
    /// The size of the pool's storage.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub capacity: Option<Quantity>,
    /// How much of it is free, rounded down to a hundredth; absent when a member does not report.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub free_storage: Option<Quantity>,
}

/// One zone over which the members are spread, in the shape of Cluster API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// The name of the zone.
    #[schemars(length(min = 1, max = limits::STATUS_NAME_MAX))]
    pub name: String,
    /// Whether members that serve writes may run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<bool>,
    /// What else is known: `members` and `readyMembers`, how many run there and how many of them are Ready.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::attributes")]
    pub attributes: BTreeMap<String, String>,
}
