//! A `DaemonSet` on two nodes.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 3] = ["daemonsets", "pods", "controllerrevisions"];

fn is_complete(nodes: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        let status = &seen["status"];
        let all =
            ["desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled"];
        status["observedGeneration"] == generation && all.iter().all(|field| status[field] == nodes)
    }
}

#[test]
fn a_daemon_set_is_on_every_node() {
    let both = Both::begin("daemons");
    for name in ["nodes/node-1", "nodes/node-2"] {
        // It comes with a taint, because nobody has seen yet that it is ready.
        both.until(name, false, &|node| {
            node["metadata"]["uid"].is_string() && node["spec"]["taints"].is_null()
        });
    }
    both.same("nodes", &["nodes"]);

    let labels = json!({"app": "agent"});
    both.create("daemonsets", &json!({"metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {
            "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "example.org/agent:1"}],
        }},
    }}));
    both.until("daemonsets/agent", true, &is_complete(2, 1));
    both.same("everywhere", &ALL);

    both.patch("daemonsets/agent", &json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}));
    both.until("daemonsets/agent", true, &is_complete(2, 2));
    both.same("updated", &ALL);

    both.patch("nodes/node-2", &json!({"spec": {"unschedulable": true}}));
    both.patch(
        "daemonsets/agent",
        &json!({"spec": {"template": {"spec": {"nodeSelector": {"kind": "none"}}}}}),
    );
    both.until("daemonsets/agent", true, &|seen| {
        seen["status"]["desiredNumberScheduled"] == 0 && seen["status"]["observedGeneration"] == 3
    });
    both.until("pods", true, &|pods| pods["items"].as_array().is_some_and(Vec::is_empty));
    both.same("nowhere", &ALL);
    both.end();
}
