//! `ReplicatedCluster.spec`.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pool::Pool;
use super::status::ReplicatedClusterStatus;
use crate::common::{Resources, SecretReference, is_default};
use crate::limits;
use crate::rules;
use crate::schema;

/// What is wanted: which engine, which pools of members, how much storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "muster.dev",
    version = "v1alpha1",
    kind = "ReplicatedCluster",
    plural = "replicatedclusters",
    shortname = "rcl",
    category = "muster",
    namespaced,
    status = "ReplicatedClusterStatus",
    derive = "PartialEq",
    validation = rules::CLUSTER_NAME,
    doc = "A replicated, stateful cluster: its members, how they replicate, and what is known about them now."
)]
pub struct ReplicatedClusterSpec {
    /// The software that runs, and its version and parameters.
    pub engine: EngineReference,
    /// How many members serve writes. Default and bounds come from the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::MAX_MEMBERS))]
    pub primaries: Option<i32>,
    /// The pools of members, by name. Removing a pool decommissions its members.
    #[schemars(length(min = 1, max = limits::MAX_POOLS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]), validation = rules::POOLS_TOTAL)]
    pub pools: Vec<Pool>,
    /// What may be done when no primary serves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failover: Failover,
    /// Auxiliary workloads that the engine declares and this cluster wants, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_DRIVERS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub drivers: Vec<Driver>,
    /// The application's certificate authority: a Secret with `tls.crt`, and `tls.key` if the engine issues
    /// certificates. It must exist and hold a CA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<SecretReference>,
    /// Replication to and from other places, handed to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
    /// The Service that clients use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub service: ClientService,
}

/// The software that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineReference {
    /// The name of a ReplicationEngine. Cannot be changed.
    #[schemars(length(min = 1, max = limits::ENGINE_NAME_MAX), regex(pattern = limits::ENGINE_NAME_PATTERN))]
    #[x_kube(validation = rules::ENGINE_IMMUTABLE)]
    pub name: String,
    /// One of the engine's versions; without it the engine's first. A change rolls the members one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::VERSION_MAX), regex(pattern = limits::VERSION_PATTERN))]
    pub version: Option<String>,
    /// Settings of the software, checked against what the engine allows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::parameters")]
    pub parameters: BTreeMap<String, String>,
}

/// What may be done when no primary serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failover {
    /// Whether a member may be promoted or seeded where an acknowledged write could be lost. By default (false)
    /// a person has to say so each time.
    #[serde(default)]
    pub allow_loss: bool,
}

/// An auxiliary workload that the engine declares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    /// The name of one of the engine's drivers.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// How many replicas; without it what the engine says. Ignored where the driver runs on every node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::MAX_DRIVER_REPLICAS))]
    pub replicas: Option<i32>,
    /// What its first container asks for, in place of what the engine says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// Replication to and from other places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replication {
    /// The credentials that others use here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<SecretReference>,
    /// The other places, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_TARGETS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub targets: Vec<ReplicationTarget>,
}

/// Another place to replicate with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicationTarget {
    /// The name of the place.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Where it is reached: `host[:port]`, one or more.
    #[schemars(
        length(min = 1, max = limits::MAX_ADDRESSES),
        inner(length(min = 1, max = limits::ADDRESS_MAX), regex(pattern = limits::ADDRESS_PATTERN))
    )]
    pub addresses: Vec<String>,
    /// The credentials to use there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<SecretReference>,
}

/// The Service that clients use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientService {
    /// The type of the Service: `ClusterIP` (default), `NodePort` or `LoadBalancer`.
    #[serde(default, rename = "type")]
    pub type_: ServiceType,
    /// Annotations of the Service, for example those that a load balancer reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::annotations")]
    pub annotations: BTreeMap<String, String>,
}

/// The type of the client Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ServiceType {
    /// Reached from within Kubernetes.
    #[default]
    ClusterIP,
    /// Reached through a port of every node.
    NodePort,
    /// Reached through a load balancer.
    LoadBalancer,
}

impl ServiceType {
    /// The text that Kubernetes uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClusterIP => "ClusterIP",
            Self::NodePort => "NodePort",
            Self::LoadBalancer => "LoadBalancer",
        }
    }
}
