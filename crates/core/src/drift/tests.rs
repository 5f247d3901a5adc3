//! Tests of drift on objects written out here. What a server really does is in `tests/real_drift`.

use serde_json::{Value, json};

use super::differs;

fn wanted() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "n", "labels": {"muster.dev/cluster": "orders"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"containers": [
                {"name": "main", "image": "i:1", "resources": {"requests": {"memory": "1Gi"}},
                 "ports": [{"containerPort": 1, "protocol": "TCP"}, {"containerPort": 1, "protocol": "UDP"}]},
                {"name": "side", "image": "s:1", "tty": false},
            ]}},
        },
    })
}

fn live() -> Value {
    let port = |protocol: &str| format!("k:{{\"containerPort\":1,\"protocol\":\"{protocol}\"}}");
    let own = json!({".": {}, "f:containerPort": {}, "f:protocol": {}});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "x", "namespace": "n", "uid": "1", "generation": 1,
            "labels": {"muster.dev/cluster": "orders", "theirs": "x"},
            "managedFields": [
                {"manager": "other", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:status": {}}},
                {"manager": "muster", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:muster.dev/cluster": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:selector": {},
                        "f:template": {"f:spec": {"f:containers": {
                            "k:{\"name\":\"main\"}": {
                                ".": {}, "f:name": {}, "f:image": {},
                                "f:resources": {"f:requests": {"f:memory": {}}},
                                "f:ports": {port("TCP"): own, port("UDP"): own},
                            },
                            "k:{\"name\":\"side\"}": {".": {}, "f:name": {}, "f:image": {}, "f:tty": {}},
                        }}},
                    },
                }},
            ],
        },
        "spec": {
            "replicas": 2,
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"restartPolicy": "Always", "containers": [
                {"name": "main", "image": "i:1", "resources": {"requests": {"memory": "1Gi"}}, "imagePullPolicy": "Always",
                 "ports": [{"containerPort": 1, "protocol": "TCP"}, {"containerPort": 1, "protocol": "UDP"}]},
                {"name": "injected", "image": "i"},
                {"name": "side", "image": "s:1"},
            ]}},
        },
        "status": {"replicas": 1},
    })
}

fn said(wanted: &Value, live: &Value) -> Option<String> {
    differs(wanted, live, "muster").map(|difference| difference.to_string())
}

#[test]
fn what_others_add_and_the_server_fills_in_is_no_difference() {
    assert_eq!(said(&wanted(), &live()), None);
}

/// What is said after one value was put somewhere in what is wanted.
fn wanting(pointer: &str, value: Value) -> Option<String> {
    let mut wanted = wanted();
    *wanted.pointer_mut(pointer).unwrap() = value;
    said(&wanted, &live())
}

/// What is said after one value was put somewhere in the live object.
fn finding(pointer: &str, value: Value) -> Option<String> {
    let mut live = live();
    *live.pointer_mut(pointer).unwrap() = value;
    said(&wanted(), &live)
}

const MAIN: &str = "/spec/template/spec/containers/0";

#[test]
fn other_values_differ() {
    assert_eq!(wanting("/spec/replicas", json!(3)).unwrap(), "spec.replicas: 3 in place of 2");
    assert_eq!(
        wanting(&format!("{MAIN}/image"), json!("i:2")).unwrap(),
        "spec.template.spec.containers[name=main].image: \"i:2\" in place of \"i:1\""
    );
    assert_eq!(
        finding("/metadata/labels", json!({})).unwrap(),
        "metadata.labels[muster.dev/cluster]: \"orders\", which is not there"
    );
    let selector = wanting("/spec/selector", json!({"matchLabels": {}})).unwrap();
    assert!(selector.starts_with("spec.selector: "), "{selector}");
}

#[test]
fn a_quantity_is_the_same_however_it_is_written() {
    let memory = format!("{MAIN}/resources/requests/memory");
    assert_eq!(wanting(&memory, json!("1024Mi")), None);
    assert!(wanting(&memory, json!("1025Mi")).is_some());
    let image = wanting(&format!("{MAIN}/image"), json!("1")).unwrap();
    assert!(image.contains("in place of"), "only where there are quantities");
}

#[test]
fn what_is_ours_and_no_longer_wanted_differs() {
    let mut wanted = wanted();
    wanted["spec"].as_object_mut().unwrap().remove("replicas");
    assert_eq!(said(&wanted, &live()).unwrap(), "spec.replicas: without 2");
    let fewer =
        wanting("/spec/template/spec/containers/0/ports", json!([{"containerPort": 1, "protocol": "UDP"}]));
    let path = "spec.template.spec.containers[name=main].ports[containerPort=1,protocol=TCP]";
    assert!(fewer.unwrap().starts_with(path));
}

#[test]
fn what_is_wanted_and_not_ours_differs_though_it_is_there() {
    let ours = "/metadata/managedFields/1/fieldsV1";
    // What is left when another manager took the only label.
    let taken = finding(&format!("{ours}/f:metadata/f:labels"), json!({}));
    assert_eq!(taken.unwrap(), "metadata.labels[muster.dev/cluster]: \"orders\" is not ours yet");
    for (pointer, value) in [
        ("/metadata/managedFields", json!([])),
        ("/metadata/managedFields/1/manager", json!("other")),
        ("/metadata/managedFields/1/operation", json!("Update")),
        ("/metadata/managedFields/1/apiVersion", json!("apps/v1beta1")),
        (ours, json!({})),
    ] {
        assert!(finding(pointer, value).is_some(), "{pointer}");
    }
}

#[test]
fn ours_are_in_the_wanted_order() {
    let mut turned = wanted();
    turned["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().reverse();
    assert!(said(&turned, &live()).unwrap().starts_with("spec.template.spec.containers: "));
}

#[test]
fn secrets_are_not_told() {
    let wanted =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"k": "c2VjcmV0"}});
    let mut live = wanted.clone();
    live["data"]["k"] = json!("b3RoZXI=");
    live["metadata"]["managedFields"] = json!([
        {"manager": "muster", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:k": {}}}},
    ]);
    assert_eq!(said(&wanted, &live).unwrap(), "data.k: \"(a secret)\" in place of \"(another secret)\"");
}
