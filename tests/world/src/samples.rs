//! The engine and the clusters that tests use.

use muster_api::{ReplicatedCluster, ReplicationEngine};
use serde_json::{Value, json};

/// The one storage class.
pub const CLASS: &str = "fast";
/// The one engine.
pub const ENGINE: &str = "ledger";

/// An engine whose software keeps a majority of copies and can do everything, with two drivers.
pub fn engine() -> ReplicationEngine {
    let driver = |image: &str| json!({"containers": [{"name": "driver", "image": image}]});
    let mut engine = plain_engine();
    engine["spec"]["drivers"] = json!([
        {"name": "proxy", "template": driver("proxy:1")},
        {"name": "mounts", "kind": "DaemonSet", "template": driver("mounts:1")},
    ]);
    serde_json::from_value(engine).expect("an engine")
}

/// The same without drivers, as JSON, for tests that change it.
pub fn plain_engine() -> Value {
    let run = |name: &str| json!({"command": ["/bin/ledger", name]});
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicationEngine", "metadata": {"name": ENGINE},
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
    })
}

/// A pool of so many members.
pub fn pools(nodes: i64, retention: &str) -> Value {
    json!([{
        "name": "a",
        "threshold": {"nodes": nodes},
        "storage": {"storageClassName": CLASS, "capacity": "10Gi", "retention": retention},
    }])
}

/// A cluster with one pool of so many members.
pub fn cluster(name: &str, nodes: i64) -> ReplicatedCluster {
    serde_json::from_value(json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": name},
        "spec": {"engine": {"name": ENGINE}, "pools": pools(nodes, "Retain")},
    }))
    .expect("a cluster")
}
