//! The engine and the clusters that the tests use.

use muster_api::{ReplicatedCluster, ReplicationEngine};
use serde_json::{Value, json};

/// An engine whose software keeps a majority of copies and can do everything.
pub(crate) fn engine() -> ReplicationEngine {
    serde_json::from_value(muster_test_world::samples::plain_engine()).unwrap()
}

/// A cluster with one pool of so many members.
pub(crate) fn cluster(name: &str, nodes: i64) -> ReplicatedCluster {
    serde_json::from_value(manifest(name, nodes)).unwrap()
}

/// The same as JSON.
pub(crate) fn manifest(name: &str, nodes: i64) -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "engine": {"name": "ledger"},
            "pools": [{
                "name": "a",
                "threshold": {"nodes": nodes},
                "storage": {"storageClassName": "fast", "capacity": "10Gi"},
            }],
        },
    })
}
