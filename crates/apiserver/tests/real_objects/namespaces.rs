//! `Namespace`.

use muster_apiserver::kind::objects;
use muster_apiserver::lifecycle::Part;
use serde_json::json;

use crate::bench::Bench;

const PATH: &str = "/api/v1/namespaces";

#[test]
fn real_namespaces_are_the_same() {
    let mut bench = Bench::new("v1", "Namespace", PATH);
    bench.creations(
        &json!({}),
        &[
            json!({}),
            json!({"metadata": {"labels": {"a": "b", "kubernetes.io/metadata.name": "other"}}}),
            json!({"spec": {"finalizers": ["kubernetes"]}}),
            json!({"spec": {"finalizers": ["example.com/a", "orphan"]}}),
            json!({"spec": {"finalizers": ["mine", "a b/c", "a/b/c", "/x"]}}),
            json!({"status": {"phase": "Terminating", "conditions": []}}),
        ],
    );
    let stored = bench.create(&json!({"metadata": {"name": "spaces"}}));
    bench.updates(&stored, Part::Whole, &[
        json!({}),
        json!({"spec": null, "status": null}),
        json!({"spec": {"finalizers": ["mine"]}, "metadata": {"labels": {"kubernetes.io/metadata.name": null, "a": "b"}}}),
    ]);
    let condition = json!({"type": "A", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R", "message": "m"});
    bench.updates(
        &stored,
        Part::Status,
        &[
            json!({"status": {"conditions": [condition]}}),
            json!({"status": {"phase": "Terminating"}}),
            json!({"status": {"phase": null}}),
            json!({"status": null}),
        ],
    );
    bench.updates(
        &stored,
        Part::Finalize,
        &[
            json!({"spec": {"finalizers": ["example.com/a"]}}),
            json!({"spec": {"finalizers": ["mine", "b/"]}}),
            json!({"spec": {"finalizers": null}, "status": null}),
        ],
    );
    bench.assert_same(16);
}

#[test]
fn real_namespaces_end_the_same() {
    let bench = Bench::new("v1", "Namespace", PATH);
    for name in ["default", "kube-system", "kube-public"] {
        let theirs = bench.ask("DELETE", &format!("{PATH}/{name}"), None).body;
        assert_eq!(objects::refuses_deletion(name).unwrap().to_status(), theirs);
    }
    assert!(objects::refuses_deletion("kube-node-lease").is_none());
    let stored = bench.create(&json!({"metadata": {"name": "ending"}}));
    let theirs = bench.ask("DELETE", &format!("{PATH}/ending"), None).body;
    let ours = objects::terminating(&stored, theirs["metadata"]["deletionTimestamp"].as_str().unwrap());
    assert_eq!(ours["status"], theirs["status"]);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "finalizers"] {
        assert_eq!(ours["metadata"].get(field), theirs["metadata"].get(field), "{field}");
    }
    assert!(bench.ours().is_held(&theirs) && !bench.ours().is_held(&json!({"spec": {}})));
}
