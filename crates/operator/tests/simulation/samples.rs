//! The engines and the clusters of the simulations.

use serde_json::{Value, json};

/// The cluster of every simulation.
pub(crate) const CLUSTER: &str = "orders";
/// Where it is.
pub(crate) const NAMESPACE: &str = "shop";

/// How the software of a cluster replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Software {
    /// How many copies an acknowledged write has; 0: a majority.
    pub(crate) copies: usize,
    /// Whether it elects by itself.
    pub(crate) elects: bool,
    /// Whether every member takes writes.
    pub(crate) all: bool,
    /// Whether a running member can change its role.
    pub(crate) promotes: bool,
}

/// One primary, a majority of copies, and everything can be done while it runs.
pub(crate) const LEDGER: Software = Software { copies: 0, elects: false, all: false, promotes: true };

/// Every kind of software there is; what elects by itself twice, to be drawn as often as what has several primaries.
pub(crate) const SOFTWARE: [Software; 8] = [
    LEDGER,
    Software { promotes: false, ..LEDGER },
    Software { copies: 1, ..LEDGER },
    Software { copies: 2, ..LEDGER },
    Software { all: true, ..LEDGER },
    Software { all: true, copies: 1, ..LEDGER },
    Software { elects: true, ..LEDGER },
    Software { elects: true, ..LEDGER },
];

/// The engine of such software.
pub(crate) fn engine(software: Software) -> Value {
    let mut engine = muster_test_world::samples::plain_engine();
    let spec = &mut engine["spec"];
    spec["topology"] = json!({
        "acknowledgedCopies": if software.copies == 0 { json!("Majority") } else { json!(software.copies) },
        "election": if software.elects { "Engine" } else { "Manager" },
        "defaultPrimaries": if software.all { "All" } else { "One" },
    });
    let driver = |image: &str| json!({"containers": [{"name": "driver", "image": image}]});
    spec["drivers"] = json!([
        {"name": "proxy", "template": driver("proxy:1")},
        {"name": "mounts", "kind": "DaemonSet", "template": driver("mounts:1")},
    ]);
    if !software.promotes {
        // What stands there without a value is not there.
        (spec["actions"]["promote"], spec["actions"]["demote"]) = (Value::Null, Value::Null);
    }
    engine
}

/// A cluster with pools of these sizes, `a`, `b` and so on.
pub(crate) fn cluster(nodes: &[usize]) -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": CLUSTER, "namespace": NAMESPACE},
        "spec": {"engine": {"name": "ledger"}, "pools": pools(nodes)},
    })
}

/// Its pools.
pub(crate) fn pools(nodes: &[usize]) -> Value {
    let pool = |(name, nodes): (char, &usize)| {
        json!({
            "name": name.to_string(), "threshold": {"nodes": nodes},
            "storage": {"storageClassName": "fast", "capacity": "10Gi"},
        })
    };
    ('a'..).zip(nodes).map(pool).collect()
}

/// These drivers, for a spec.
pub(crate) fn drivers(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name})).collect()
}
