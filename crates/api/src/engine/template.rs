//! The Pod of a member, as an engine describes it: a closed type, without hostPath, host namespaces or a service
//! account.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::container::Container;
use crate::limits;
use crate::quantity::Quantity;
use crate::rules;
use crate::schema;

/// The Pod of a member or of a driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    /// The containers, by name.
    #[schemars(length(min = 1, max = limits::MAX_CONTAINERS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub containers: Vec<Container>,
    /// The volumes, by name. `data`, a member's own volume, needs no entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_VOLUMES))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub volumes: Vec<Volume>,
    /// As whom the Pod runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_context: Option<PodSecurityContext>,
    /// How long the Pod may take to stop once it is deleted; 30 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::TIMEOUT_MAX))]
    pub termination_grace_period_seconds: Option<i64>,
}

/// As whom a Pod runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSecurityContext {
    /// The user id of its containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::ID_MAX))]
    pub run_as_user: Option<i64>,
    /// The group id of its containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::ID_MAX))]
    pub run_as_group: Option<i64>,
    /// Whether to refuse to run as root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    /// The group that owns its volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::ID_MAX))]
    pub fs_group: Option<i64>,
}

/// One volume: one of `emptyDir`, `configMap` and `secret`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::VOLUME_ONE_KIND, validation = rules::VOLUME_NAME_RESERVED)]
pub struct Volume {
    /// Its name.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// An empty directory that lives as long as the Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_dir: Option<EmptyDirVolume>,
    /// The contents of a ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapVolume>,
    /// The contents of a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretVolume>,
}

/// An empty directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmptyDirVolume {
    /// Whether it is held in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<bool>,
    /// The most it may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::positive_quantity")]
    pub size_limit: Option<Quantity>,
}

/// The contents of a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapVolume {
    /// The name of the ConfigMap, in the cluster's namespace.
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub name: String,
    /// Which keys, and as which files; all if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_FILES))]
    pub items: Vec<KeyToFile>,
    /// The permissions of its files, 0 to 511 (octal 0777); 420 (0644) if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 0o777))]
    pub default_mode: Option<i32>,
}

/// The contents of a Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretVolume {
    /// The name of one of the engine's `secrets`, or of a Secret in the cluster's namespace.
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub name: String,
    /// Which keys, and as which files; all if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_FILES))]
    pub items: Vec<KeyToFile>,
    /// The permissions of its files, 0 to 511 (octal 0777); 420 (0644) if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 0o777))]
    pub default_mode: Option<i32>,
}

/// A key, and the file it becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyToFile {
    /// The key.
    #[schemars(length(min = 1, max = limits::KEY_MAX), regex(pattern = limits::KEY_PATTERN))]
    pub key: String,
    /// The file, relative to the mount.
    #[schemars(length(min = 1, max = limits::PATH_MAX), regex(pattern = limits::RELATIVE_PATH_PATTERN))]
    pub path: String,
}
