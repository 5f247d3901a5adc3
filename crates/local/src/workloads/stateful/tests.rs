//! Decisions, seen without a server.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{StatefulSetSpec, StatefulSetStatus};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::decide::{From, Seen, Step, decide};

fn spec(policy: &str, strategy: &Value, replicas: i32) -> StatefulSetSpec {
    serde_json::from_value(json!({
        "replicas": replicas, "podManagementPolicy": policy, "updateStrategy": strategy,
        "minReadySeconds": 10, "selector": {}, "template": {},
    }))
    .unwrap()
}

/// A Pod of a revision: `state` is a phase, or `Ready`, `JustReady` or `Ending`.
fn pod(ordinal: i32, revision: &str, state: &str) -> Pod {
    let name = format!("db-{ordinal}");
    let phase = if matches!(state, "Ready" | "JustReady" | "Ending") { "Running" } else { state };
    let since = if state == "JustReady" { "2026-01-01T00:01:35Z" } else { "2026-01-01T00:00:00Z" };
    let ready = if phase == "Running" { "True" } else { "False" };
    let mut pod = json!({
        "metadata": {"name": name, "labels": {
            "controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": name,
        }},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}]},
    });
    if state == "Ending" {
        pod["metadata"]["deletionTimestamp"] = since.into();
    }
    serde_json::from_value(pod).unwrap()
}

fn steps(spec: &StatefulSetSpec, pods: &[Pod]) -> Vec<Step> {
    decide(&Seen {
        name: "db",
        spec,
        status: &StatefulSetStatus::default(),
        ends: false,
        pods,
        update_revision: "new",
        now: "2026-01-01T00:01:40Z".parse::<Timestamp>().unwrap(),
    })
}

fn rolling(partition: i32) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
}

#[test]
fn in_order_each_waits_for_the_one_before_it() {
    let spec = spec("OrderedReady", &rolling(0), 3);
    assert_eq!(steps(&spec, &[]), [Step::Create(0, From::Update)]);
    for waits in ["JustReady", "Ending"] {
        assert_eq!(steps(&spec, &[pod(0, "new", waits)]), [], "{waits}");
    }
    assert_eq!(steps(&spec, &[pod(0, "new", "Pending")]), [Step::Claim(0)]);
    assert_eq!(steps(&spec, &[pod(0, "new", "Ready")]), [Step::Create(1, From::Update)]);
    assert_eq!(steps(&spec, &[pod(0, "new", "Failed")]), [Step::Delete("db-0".into())]);
    // The highest goes first, one at a time; one that is not available does not hold the others for ever.
    let many = [0, 1, 2, 3, 4].map(|ordinal| pod(ordinal, "new", "Ready"));
    assert_eq!(steps(&spec, &many), [Step::Delete("db-4".into())]);
    let mut sick = many.clone();
    sick[4] = pod(4, "new", "Running");
    assert_eq!(steps(&spec, &sick), [Step::Delete("db-4".into())]);
    sick[4] = pod(4, "new", "JustReady");
    sick[3] = pod(3, "new", "JustReady");
    assert_eq!(steps(&spec, &sick), []);
}

#[test]
fn at_once_nothing_waits() {
    let spec = spec("Parallel", &json!({"type": "OnDelete"}), 2);
    let both = [Step::Create(0, From::Update), Step::Create(1, From::Update)];
    assert_eq!(steps(&spec, &[]), both);
    let over =
        [pod(0, "old", "Ending"), pod(1, "old", "Ready"), pod(2, "old", "Pending"), pod(3, "old", "Ready")];
    assert_eq!(steps(&spec, &over), [Step::Delete("db-3".into()), Step::Delete("db-2".into())]);
}

#[test]
fn a_rolling_update_goes_down_to_its_partition() {
    let pods = [pod(0, "old", "Ready"), pod(1, "old", "Ready"), pod(2, "new", "Ready")];
    assert_eq!(steps(&spec("OrderedReady", &rolling(0), 3), &pods), [Step::Update("db-1".into())]);
    assert_eq!(steps(&spec("OrderedReady", &rolling(2), 3), &pods), []);
    assert_eq!(steps(&spec("OrderedReady", &json!({"type": "OnDelete"}), 3), &pods), []);
    let waits = [pod(0, "old", "Ready"), pod(1, "old", "Ready"), pod(2, "new", "JustReady")];
    assert_eq!(steps(&spec("Parallel", &rolling(0), 3), &waits), []);
    // Below the partition a Pod comes back as it was.
    let gone = [pod(1, "old", "Ready"), pod(2, "new", "Ready")];
    assert_eq!(steps(&spec("OrderedReady", &rolling(2), 3), &gone), [Step::Create(0, From::Current)]);
}
