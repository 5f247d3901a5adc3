//! `Member.status`: every field optional, because what is not known is absent.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::quantity::Quantity;
use crate::schema;
use crate::tolerant;

/// What is known about the member. Written by Muster alone; what is not known is absent or `Unknown`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberStatus {
    /// The generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// What it is now: `Enabled`, `Disabled` or `Deleting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub current_state: Option<String>,
    /// The conditions, by type: Ready, SpecValid, StorageReady, WorkloadReady, AgentConnected, Joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// What it does for the cluster: `primary` or `secondary`; absent while it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub role: Option<String>,
    /// Which history its data belongs to; data of different histories cannot be joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::POSITION_MAX))]
    pub history: Option<String>,
    /// The term of its data, `<epoch>.<n>`: which seeding or promotion its last write belongs to. `+<id>` behind it:
    /// the member of that number became primary without a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TERM_MAX), regex(pattern = limits::TERM_PATTERN))]
    pub term: Option<String>,
    /// The sequence number of its last write, as of the last change of role or condition, or its stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sequence: Option<i64>,
    /// Its position in the engine's own words, as of the same moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::POSITION_MAX))]
    pub position: Option<String>,
    /// Its free storage, rounded down to a hundredth of its capacity.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub free_storage: Option<Quantity>,
    /// Its storage devices, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(length(max = limits::MAX_DEVICES))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub devices: Vec<Device>,
    /// Where it is reached by the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ADDRESS_MAX))]
    pub address: Option<String>,
}

/// One storage device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Its path, or the name of its claim.
    #[schemars(length(min = 1, max = limits::PATH_MAX))]
    pub name: String,
    /// Whether it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// Whether it is part of the storage pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<bool>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub capacity: Option<Quantity>,
    /// How much of it is free.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::quantity")]
    pub free: Option<Quantity>,
}
