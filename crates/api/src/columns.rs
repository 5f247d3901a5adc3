//! What `kubectl get` shows.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;

/// One column: its heading, its type and the one path that it prints.
pub(crate) struct Column {
    name: &'static str,
    type_: &'static str,
    path: &'static str,
    /// Shown with `-o wide` only.
    wide: bool,
}

const fn column(name: &'static str, type_: &'static str, path: &'static str) -> Column {
    Column { name, type_, path, wide: false }
}

const fn wide(name: &'static str, type_: &'static str, path: &'static str) -> Column {
    Column { name, type_, path, wide: true }
}

/// The columns of a `ReplicatedCluster`.
pub(crate) const CLUSTER: &[Column] = &[
    column("Phase", "string", ".status.phase"),
    column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
    column("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#),
    column("Healthy", "string", r#".status.conditions[?(@.type=="Healthy")].status"#),
    column("Primary", "string", ".status.primary"),
    column("Members", "string", ".status.membersReady"),
    column("Synced Replicas", "integer", ".status.syncedReplicas"),
    column("Errant Replicas", "integer", ".status.errantReplicas"),
    column("Clustering Active", "string", r#".status.conditions[?(@.type=="ClusteringActive")].status"#),
    column("Reconcile Active", "string", r#".status.conditions[?(@.type=="ReconciliationActive")].status"#),
    column("Last Backup", "date", ".status.lastBackupTime"),
    column("Age", "date", ".metadata.creationTimestamp"),
    wide("Engine", "string", ".spec.engine.name"),
    wide("Free", "string", ".status.freeStorage"),
    wide("Reason", "string", ".status.reason"),
];

/// The columns of a `Member`.
pub(crate) const MEMBER: &[Column] = &[
    column("Cluster", "string", ".spec.clusterName"),
    column("Pool", "string", ".spec.pool"),
    column("State", "string", ".status.currentState"),
    column("Role", "string", ".status.role"),
    column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
    column("Joined", "string", r#".status.conditions[?(@.type=="Joined")].status"#),
    column("Age", "date", ".metadata.creationTimestamp"),
    wide("Version", "string", ".spec.workload.version"),
    wide("Address", "string", ".status.address"),
    wide("Free", "string", ".status.freeStorage"),
    wide("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#),
];

/// The columns of a `ReplicationEngine`.
pub(crate) const ENGINE: &[Column] = &[
    column("Default Version", "string", ".spec.versions[0].version"),
    column("Port", "integer", ".spec.clientPort"),
    column("Copies", "string", ".spec.topology.acknowledgedCopies"),
    column("Election", "string", ".spec.topology.election"),
    column("Valid", "string", r#".status.conditions[?(@.type=="SpecValid")].status"#),
    column("Age", "date", ".metadata.creationTimestamp"),
];

impl From<&Column> for CustomResourceColumnDefinition {
    fn from(column: &Column) -> Self {
        Self {
            name: column.name.to_owned(),
            type_: column.type_.to_owned(),
            json_path: column.path.to_owned(),
            priority: column.wide.then_some(1),
            ..Self::default()
        }
    }
}
