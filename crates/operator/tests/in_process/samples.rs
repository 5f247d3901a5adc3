//! The engine and the clusters that the tests use.

use muster_api::{ReplicatedCluster, ReplicationEngine};
use serde_json::{Value, json};

/// An engine whose software keeps a majority of copies and can do everything.
pub(crate) fn engine() -> ReplicationEngine {
    let run = |name: &str| json!({"command": ["/bin/ledger", name]});
    serde_json::from_value(json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicationEngine", "metadata": {"name": "ledger"},
        "spec": {
            "topology": {"acknowledgedCopies": "Majority"},
            "versions": [
                {"version": "1", "images": {"main": "ledger:1"}},
                {"version": "2", "images": {"main": "ledger:2"}},
            ],
            "clientPort": 5000,
            "template": {"containers": [{"name": "main"}]},
            "dataPath": "/data",
            "parameters": [{"name": "size", "default": "1", "pattern": "[0-9]+"}],
            "secrets": [{"name": "accounts", "keys": [{"name": "admin"}]}],
            "actions": {
                "sequence": run("sequence"), "seed": run("seed"), "primary": run("primary"),
                "secondary": run("secondary"), "status": run("status"), "promote": run("promote"),
                "demote": run("demote"), "leave": run("leave"),
            },
        },
    }))
    .unwrap()
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
