//! What kubelets would do: run Pods, and end those that are to end. There is no scheduler: templates name the node.

use serde_json::{Value, json};

use crate::both::path;
use crate::world::World;

/// Looks at all Pods of a namespace once.
pub(crate) fn run(world: &dyn World, namespace: &str) {
    let list = world.get(&path(namespace, "pods"));
    for pod in list["items"].as_array().into_iter().flatten() {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let at = path(namespace, &format!("pods/{name}"));
        if pod["metadata"]["deletionTimestamp"].is_string() {
            world.send("DELETE", &at, &json!({"gracePeriodSeconds": 0}));
        } else if pod["status"]["phase"] == "Pending" {
            let answer = world.send("PATCH", &format!("{at}/status"), &ready(pod));
            assert!(answer["status"]["phase"] == "Running" || answer["reason"] == "NotFound", "{answer}");
        }
    }
}

/// The nodes that Pods run on; without them the Pods would be collected.
pub(crate) fn make_nodes(world: &dyn World) {
    let time = "2026-01-01T00:00:00Z";
    for name in ["node-1", "node-2"] {
        let ready = json!({
            "type": "Ready", "status": "True", "reason": "KubeletReady",
            "lastHeartbeatTime": time, "lastTransitionTime": time,
        });
        world
            .create("/api/v1/nodes", &json!({"metadata": {"name": name}, "status": {"conditions": [ready]}}));
    }
}

/// An address for each Pod, which lasts as long as it does.
fn address(pod: &Value) -> String {
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
    let part =
        |at: usize| uid.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or_default();
    format!("10.200.{}.{}", part(0), part(2))
}

fn ready(pod: &Value) -> Value {
    let now = "2026-01-01T00:00:00Z";
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now});
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition);
    let address = address(pod);
    json!({"status": {
        "phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "startTime": now,
        "conditions": conditions,
        "containerStatuses": [{
            "name": pod["spec"]["containers"][0]["name"], "image": pod["spec"]["containers"][0]["image"],
            "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {"startedAt": now}},
        }],
    }})
}
