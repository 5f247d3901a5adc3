//! The API group, and the labels, annotations, finalizers and other identifiers that Muster puts on objects.

/// The API group of every kind in this crate.
pub const GROUP: &str = "muster.dev";
/// The version of the API.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of every kind in this crate.
pub const API_VERSION: &str = "muster.dev/v1alpha1";
/// `kubectl get muster` lists every kind of this category.
pub const CATEGORY: &str = "muster";

/// Label on every object: the `ReplicatedCluster` it belongs to.
pub const LABEL_CLUSTER: &str = "muster.dev/cluster";
/// Label on every object of a pool: the pool's name. A Member that carries it was made from that pool.
pub const LABEL_POOL: &str = "muster.dev/pool";
/// Label on every object of a Member: the Member's name.
pub const LABEL_MEMBER: &str = "muster.dev/member";
/// Label on Pods: `primary` or `secondary`, see [`Role`](super::Role). Client Services select by it.
pub const LABEL_ROLE: &str = "muster.dev/role";
/// Label on the workload of a driver: the driver's name.
pub const LABEL_DRIVER: &str = "muster.dev/driver";
/// Label on Pods: what they are of, [`COMPONENT_MEMBER`] or [`COMPONENT_DRIVER`]. The headless Service and the
/// `PodDisruptionBudget` select by it, because drivers are no members.
pub const LABEL_COMPONENT: &str = "muster.dev/component";
/// The value of [`LABEL_COMPONENT`] on the Pod of a member.
pub const COMPONENT_MEMBER: &str = "member";
/// The value of [`LABEL_COMPONENT`] on the Pods of a driver.
pub const COMPONENT_DRIVER: &str = "driver";
/// The well-known label of a node's zone, to which a pool's `zone` is matched.
pub const LABEL_ZONE: &str = "topology.kubernetes.io/zone";

/// The prefix of every annotation, label and finalizer of Muster.
pub const PREFIX: &str = "muster.dev/";
/// On a `ReplicatedCluster`: [`STOPPED`] stops the manager. Its application keeps running.
pub const ANNOTATION_CLUSTERING_STOPPED: &str = "muster.dev/clustering-stopped";
/// On a `ReplicatedCluster`: [`STOPPED`] stops applying the spec. The manager keeps running.
pub const ANNOTATION_RECONCILIATION_STOPPED: &str = "muster.dev/reconciliation-stopped";
/// The one value of the two annotations above that stops; any other value is as if it were absent.
pub const STOPPED: &str = "true";
/// On a `ReplicatedCluster`: what a person asks for once (`recover`, `switchover`, …), as JSON.
pub const ANNOTATION_REQUEST: &str = "muster.dev/request";
/// On the leader's Lease: the epoch under which this leader commands.
pub const ANNOTATION_EPOCH: &str = "muster.dev/epoch";
/// On a PersistentVolumeClaim: this cluster was formed once, its data is never taken for new.
pub const ANNOTATION_FORMED: &str = "muster.dev/formed";
/// On a PersistentVolumeClaim: its member was given up by a person, so its ordinal is not used again; `"true"`.
pub const ANNOTATION_FORGOTTEN: &str = "muster.dev/forgotten";
/// On a `ReplicatedCluster`: when the last backup ended (RFC 3339), set by a backup job, mirrored into status.
pub const ANNOTATION_LAST_BACKUP_TIME: &str = "muster.dev/last-backup-time";

/// All that a person, or a job, says by annotation on a `ReplicatedCluster`.
pub const ANNOTATIONS_OF_A_CLUSTER: [&str; 4] = [
    ANNOTATION_CLUSTERING_STOPPED,
    ANNOTATION_RECONCILIATION_STOPPED,
    ANNOTATION_REQUEST,
    ANNOTATION_LAST_BACKUP_TIME,
];

/// On the Pod of a member: `secretsHash` of its Member, so that a change of a Secret is a change of the Pod.
pub const ANNOTATION_SECRETS_HASH: &str = "muster.dev/secrets-hash";

/// Finalizer on a `ReplicatedCluster`: members are stopped before anything goes.
pub const FINALIZER_CLUSTER: &str = "muster.dev/cluster";
/// Finalizer on a `Member`: it is decommissioned, or stopped with its cluster, before it goes.
pub const FINALIZER_MEMBER: &str = "muster.dev/member";

/// The field manager of everything the operator applies.
pub const FIELD_MANAGER: &str = "muster";
/// The field manager of the status that the operator writes.
pub const FIELD_MANAGER_STATUS: &str = "muster-status";
/// The field manager of what `kubectl muster` changes.
pub const FIELD_MANAGER_PLUGIN: &str = "kubectl-muster";

/// The name of the leader's Lease.
pub const LEASE_NAME: &str = "muster-operator";
/// The namespace of the operator, and of its Lease when it watches all namespaces.
pub const OPERATOR_NAMESPACE: &str = "muster-system";

/// The container of an engine's template that runs under the agent.
pub const MAIN_CONTAINER: &str = "main";
/// The volume that holds a member's data; a pool member's claim is `data-<member>`.
pub const DATA_VOLUME: &str = "data";
/// What the name of a pool member's claim starts with.
pub const CLAIM_PREFIX: &str = "data-";
/// The port on which an agent answers the operator, with mutual TLS.
pub const AGENT_PORT: i32 = 7443;
/// The port on which an agent answers probes and serves metrics, in plain HTTP.
pub const AGENT_PROBE_PORT: i32 = 7080;
