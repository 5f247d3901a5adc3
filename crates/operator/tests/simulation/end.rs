//! How a life ends: everything that is stored, without what chance decides.

use serde_json::{Value, json};

use super::roles;
use super::stored::Stored;

/// The kinds that are compared, and which parts of them.
const PARTS: [(&str, &[&str]); 12] = [
    ("muster.dev/replicatedclusters", &["/spec", "/metadata/finalizers"]),
    ("muster.dev/members", &["/spec", "/metadata/finalizers", "/metadata/labels", "/status/currentState"]),
    ("apps/statefulsets", &["/spec/replicas", "/metadata/labels", "/status/readyReplicas"]),
    ("/pods", &["/status/phase"]),
    ("/services", &["/spec/ports", "/spec/selector", "/metadata/labels"]),
    ("/persistentvolumeclaims", &["/spec/resources", "/metadata/labels", "/status/phase"]),
    ("/configmaps", &["/data", "/immutable"]),
    ("/secrets", &["/metadata/labels"]),
    ("policy/poddisruptionbudgets", &["/spec"]),
    ("apps/deployments", &["/spec", "/status/readyReplicas"]),
    ("apps/daemonsets", &["/spec", "/status/numberReady"]),
    ("muster.dev/replicationengines", &["/status/conditions/0/status"]),
];

/// What the status of a cluster says, apart from times, places in data and who is primary.
const SAID: [&str; 9] = [
    "phase",
    "reason",
    "controlPaused",
    "replicas",
    "desiredReplicas",
    "readyReplicas",
    "membersReady",
    "restoreReplicas",
    "currentVersion",
];

/// What is there at the end, a line for each thing.
pub(crate) fn of(stored: &Stored) -> Vec<String> {
    let mut lines = Vec::new();
    for (resource, parts) in PARTS {
        for object in stored.all(resource) {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if resource == "/configmaps" && name == "kube-root-ca.crt" {
                continue;
            }
            let shown: Vec<Value> = parts.iter().map(|part| shown(object, part)).collect();
            lines.push(format!("{resource} {name} {}", json!(shown)));
        }
    }
    lines.push(format!("roles {:?}", roles::counted(stored)));
    for cluster in stored.all("muster.dev/replicatedclusters") {
        let status = &cluster["status"];
        lines.extend(SAID.iter().map(|field| format!("status {field} {}", status[field])));
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        lines.extend(conditions.iter().map(|it| format!("{} {} {}", it["type"], it["status"], it["reason"])));
    }
    lines
}

/// A part of an object without what is made by chance.
fn shown(object: &Value, part: &str) -> Value {
    let mut value = object.pointer(part).cloned().unwrap_or_default();
    if let Some(workload) = value.pointer_mut("/workload") {
        workload["secretsHash"] = Value::Null;
    }
    value
}

/// What one end has and the other has not.
pub(crate) fn differences(wanted: &[String], found: &[String]) -> Vec<String> {
    let lacks = wanted.iter().filter(|line| !found.contains(line)).map(|line| format!("- {line}"));
    let more = found.iter().filter(|line| !wanted.contains(line)).map(|line| format!("+ {line}"));
    lacks.chain(more).collect()
}
