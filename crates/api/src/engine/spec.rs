//! `ReplicationEngine.spec` and `.status`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::Actions;
use super::container::Protocol;
use super::template::Template;
use super::topology::Topology;
use crate::limits;
use crate::rules;
use crate::schema;
use crate::tolerant;

/// How to run and drive one kind of software. Whoever writes it runs code in every cluster that uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "muster.dev",
    version = "v1alpha1",
    kind = "ReplicationEngine",
    plural = "replicationengines",
    shortname = "eng",
    category = "muster",
    status = "ReplicationEngineStatus",
    derive = "PartialEq",
    validation = rules::ENGINE_NAME,
    doc = "How to run and drive one kind of software, for every ReplicatedCluster that names it."
)]
#[x_kube(validation = rules::IMAGES_GIVEN)]
pub struct ReplicationEngineSpec {
    /// How the members stand to each other.
    pub topology: Topology,
    /// The versions, by name; the first is the default.
    #[schemars(length(min = 1, max = limits::MAX_VERSIONS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["version".into()]))]
    pub versions: Vec<EngineVersion>,
    /// The port that clients use.
    #[schemars(range(min = 1, max = limits::PORT_MAX))]
    pub client_port: i32,
    /// The other ports on which members reach each other, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_PORTS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub ports: Vec<EnginePort>,
    /// The Pod of a member. Its container `main` runs under the agent.
    #[x_kube(validation = rules::MAIN_GIVEN)]
    pub template: Template,
    /// Where `main` expects its data.
    #[schemars(length(min = 1, max = limits::PATH_MAX), regex(pattern = limits::PATH_PATTERN))]
    pub data_path: String,
    /// Scripts and other files, by name, mounted read-only in `main`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::files")]
    pub files: BTreeMap<String, String>,
    /// What a cluster may set, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_PARAMETERS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub parameters: Vec<Parameter>,
    /// Secrets that are generated once for each cluster, as `<cluster>-<name>`, and never overwritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_SECRETS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub secrets: Vec<EngineSecret>,
    /// Auxiliary workloads that a cluster may ask for, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_DRIVERS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub drivers: Vec<EngineDriver>,
    /// The commands that drive the software.
    pub actions: Actions,
    /// How long a running member may show no progress before it counts as failed and is stopped; 1800 (30 minutes)
    /// if not given. Copying data and crash recovery are progress.
    #[serde(default = "stall_timeout_default")]
    #[schemars(range(min = 10, max = limits::TIMEOUT_MAX))]
    pub stall_timeout_seconds: i32,
    /// The namespaces whose clusters may use this engine, by their labels; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::label_selector")]
    pub namespace_selector: Option<LabelSelector>,
}

fn stall_timeout_default() -> i32 {
    limits::STALL_TIMEOUT_DEFAULT
}

/// One version of the software.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineVersion {
    /// The version, as clusters name it.
    #[schemars(length(min = 1, max = limits::VERSION_MAX), regex(pattern = limits::VERSION_PATTERN))]
    pub version: String,
    /// The image of each container, by the container's name; those not named keep the template's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::images")]
    pub images: BTreeMap<String, String>,
}

/// A port on which members reach each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnginePort {
    /// Its name.
    #[schemars(length(min = 1, max = 15), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Its number.
    #[schemars(range(min = 1, max = limits::PORT_MAX))]
    pub port: i32,
    /// `TCP` (default) or `UDP`.
    #[serde(default)]
    pub protocol: Protocol,
}

/// Something that a cluster may set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    /// Its name.
    #[schemars(length(min = 1, max = limits::PARAMETER_NAME_MAX), regex(pattern = limits::PARAMETER_NAME_PATTERN))]
    pub name: String,
    /// Its value where a cluster gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PARAMETER_VALUE_MAX))]
    pub default: Option<String>,
    /// A regular expression that the whole value must match; any value if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PATTERN_MAX))]
    pub pattern: Option<String>,
}

/// A Secret that is generated once for each cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineSecret {
    /// Its name, after the cluster's and a dash.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Its keys, by name.
    #[schemars(length(min = 1, max = limits::MAX_SECRET_KEYS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub keys: Vec<EngineSecretKey>,
}

/// A key with a generated value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineSecretKey {
    /// The key.
    #[schemars(length(min = 1, max = limits::KEY_MAX), regex(pattern = limits::KEY_PATTERN))]
    pub name: String,
    /// How many random letters and digits its value has.
    #[serde(default = "secret_length_default")]
    #[schemars(range(min = limits::SECRET_LENGTH_MIN, max = limits::SECRET_LENGTH_MAX))]
    pub length: i32,
}

fn secret_length_default() -> i32 {
    limits::SECRET_LENGTH_DEFAULT
}

/// An auxiliary workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::DRIVER_IMAGES_GIVEN)]
pub struct EngineDriver {
    /// Its name, as clusters ask for it.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// `Deployment` (default), or `DaemonSet`: on every node.
    #[serde(default)]
    pub kind: DriverKind,
    /// How many replicas unless the cluster says otherwise.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = limits::MAX_DRIVER_REPLICAS))]
    pub replicas: i32,
    /// Its Pod. Every container needs an image.
    pub template: Template,
}

fn one() -> i32 {
    1
}

/// How a driver is deployed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DriverKind {
    /// As many replicas as asked for.
    #[default]
    Deployment,
    /// One on every node.
    DaemonSet,
}

/// What is known about the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicationEngineStatus {
    /// The generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// The conditions, by type: SpecValid.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}
