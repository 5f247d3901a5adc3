//! `Member.spec`.

use k8s_openapi::api::core::v1::{NodeAffinity, Toleration};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::MemberStatus;
use crate::common::{Resources, Retention, SecretReference, is_default};
use crate::limits;
use crate::quantity::Quantity;
use crate::rules;
use crate::schema;

/// What one member is to be. Muster keeps the spec of a member that it made from a pool, except `desiredState`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "muster.dev",
    version = "v1alpha1",
    kind = "Member",
    plural = "members",
    shortname = "mbr",
    category = "muster",
    namespaced,
    status = "MemberStatus",
    derive = "PartialEq",
    validation = rules::MEMBER_NAME,
    validation = rules::CLAIM_OF_POOL_MEMBER,
    validation = rules::CLAIM_NAME,
    selectable = ".spec.clusterName",
    selectable = ".spec.pool",
    doc = "One member of a ReplicatedCluster. Deleting it decommissions that very member."
)]
#[x_kube(
    validation = rules::EXTERNAL_OR_STORAGE,
    validation = rules::EXTERNAL_IMMUTABLE,
    validation = rules::CLAIM_GROWS,
    validation = rules::CLAIM_CLASS_IMMUTABLE,
)]
pub struct MemberSpec {
    /// The ReplicatedCluster it belongs to, in the same namespace. Cannot be changed.
    #[schemars(length(min = 1, max = limits::CLUSTER_NAME_MAX), regex(pattern = limits::CLUSTER_NAME_PATTERN))]
    #[x_kube(validation = rules::MEMBER_CLUSTER_IMMUTABLE)]
    pub cluster_name: String,
    /// The pool whose free storage it counts in. Cannot be changed.
    #[schemars(length(min = 1, max = limits::POOL_NAME_MAX), regex(pattern = limits::POOL_NAME_PATTERN))]
    #[x_kube(validation = rules::MEMBER_POOL_IMMUTABLE)]
    pub pool: String,
    /// The zone it must run in: the value of the node label `topology.kubernetes.io/zone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::LABEL_VALUE_MAX), regex(pattern = limits::LABEL_VALUE_PATTERN))]
    pub zone: Option<String>,
    /// `Enabled` (default), or `Disabled`: it keeps its role, and is not modified, allocated to, promoted or removed
    /// by scaling.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "Enabled"))]
    pub desired_state: DesiredState,
    /// A member on a host of its own, outside Kubernetes. Either this or `storage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// The devices and volumes of a member that runs in a Pod. Either this or `external`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = limits::MAX_STORAGE))]
    #[x_kube(validation = rules::STORAGE_UNIQUE)]
    pub storage: Vec<MemberStorage>,
    /// Which nodes it may run on, as in a Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::node_affinity")]
    pub node_affinity: Option<NodeAffinity>,
    /// What it runs. Muster writes this, on one member at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
}

/// What the administrator wants of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DesiredState {
    /// It takes part in everything.
    #[default]
    Enabled,
    /// It keeps its role and is otherwise left alone.
    Disabled,
}

/// A host outside Kubernetes on which an agent runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// Where its agent is reached: `host[:port]`; the port is 7443 if it is not given.
    #[schemars(length(min = 1, max = limits::ADDRESS_MAX), regex(pattern = limits::ADDRESS_PATTERN))]
    pub address: String,
    /// A Secret with `ca.crt`, `tls.crt` and `tls.key`, to speak with the agent.
    pub credentials: SecretReference,
}

/// One device or volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::DEVICE_OR_PVC)]
pub struct MemberStorage {
    /// The path of a device on the node. Either this or `pvcName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PATH_MAX), regex(pattern = limits::PATH_PATTERN))]
    pub device: Option<String>,
    /// The name of a PersistentVolumeClaim in the same namespace. Either this or `device`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub pvc_name: Option<String>,
    /// How Muster makes that claim. On members made from a pool only; any other claim must exist, and is never
    /// touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Words that the engine may use to place data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = limits::MAX_TAGS),
        inner(length(min = 1, max = limits::LABEL_VALUE_MAX), regex(pattern = limits::LABEL_VALUE_PATTERN))
    )]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub tags: Vec<String>,
}

/// How Muster makes a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The StorageClass; without it the cluster's default class. Cannot be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub storage_class_name: Option<String>,
    /// The size of the volume, for example `10Gi`. Can only grow.
    #[schemars(schema_with = "schema::positive_quantity")]
    pub capacity: Quantity,
    /// What becomes of the volume when the member is removed: `Retain` (default) or `Delete`.
    #[serde(default)]
    pub retention: Retention,
}

/// What a member runs, as Muster resolved it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// The version of the software.
    #[schemars(length(min = 1, max = limits::VERSION_MAX), regex(pattern = limits::VERSION_PATTERN))]
    pub version: String,
    /// What the container `main` asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Which taints of nodes it tolerates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::tolerations")]
    pub tolerations: Vec<Toleration>,
    /// The ConfigMap with the engine's template, actions and files and the checked parameters.
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub config: String,
    /// Stands for the contents of the Secrets that the member uses, so that a change of them is a change of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::HASH_MAX), regex(pattern = limits::HASH_PATTERN))]
    pub secrets_hash: Option<String>,
}
