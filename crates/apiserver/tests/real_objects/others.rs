//! `Lease`, `ServiceAccount`, `PodDisruptionBudget` and `StorageClass`.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::Bench;

#[test]
fn real_leases_are_the_same() {
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let mut bench = Bench::new("coordination.k8s.io/v1", "Lease", path);
    let spec = |spec: Value| json!({"spec": spec});
    let changes = [
        json!({}),
        spec(
            json!({"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0, "renewTime": "2026-01-01T00:00:00.000000Z"}),
        ),
        spec(json!({"leaseDurationSeconds": 0})),
        spec(json!({"leaseDurationSeconds": -1, "leaseTransitions": -1})),
        spec(json!({"strategy": "x", "preferredHolder": "a"})),
        spec(json!({"preferredHolder": "a"})),
    ];
    bench.creations(&json!({}), &changes);
    let stored = bench.create(&json!({"metadata": {"name": "lease"}, "spec": {"holderIdentity": "a"}}));
    bench.updates(&stored, Part::Whole, &changes);
    bench.assert_same(12);
}

#[test]
fn real_service_accounts_are_the_same() {
    let mut bench = Bench::new("v1", "ServiceAccount", "/api/v1/namespaces/default/serviceaccounts");
    let annotated = json!({"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}});
    bench.creations(&json!({}), &[
        json!({}),
        json!({"secrets": [{"name": "a", "namespace": "b", "kind": "Secret"}], "imagePullSecrets": [{"name": "c"}]}),
        json!({"automountServiceAccountToken": false}),
        annotated.clone(),
    ]);
    let stored = bench.create(&json!({"metadata": {"name": "account"}}));
    bench.updates(&stored, Part::Whole, &[json!({"secrets": [{"name": "a", "uid": "b"}]}), annotated]);
    bench.assert_same(6);
}

#[test]
fn real_disruption_budgets_are_the_same() {
    let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let mut bench = Bench::new("policy/v1", "PodDisruptionBudget", path);
    let spec = |spec: Value| json!({"spec": spec});
    let wish = |wish: Value| json!({"spec": {"selector": {"matchExpressions": [wish]}}});
    let changes = [
        json!({}),
        spec(json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}})),
        spec(json!({"maxUnavailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow"})),
        spec(json!({"minAvailable": 1, "maxUnavailable": "50%", "selector": {"matchLabels": {"a": "b"}}})),
        spec(json!({"minAvailable": -1})),
        spec(json!({"minAvailable": "x%"})),
        spec(json!({"maxUnavailable": "101%"})),
        spec(json!({"maxUnavailable": "0100%"})),
        spec(json!({"maxUnavailable": "5"})),
        spec(json!({"unhealthyPodEvictionPolicy": "Never"})),
        spec(json!({"selector": {"matchLabels": {"a b": "-"}}})),
        wish(json!({"key": "a", "operator": "In", "values": ["b"]})),
        wish(json!({"key": "a", "operator": "In"})),
        wish(json!({"key": "a", "operator": "NotIn", "values": ["b c"]})),
        wish(json!({"key": "-", "operator": "Exists", "values": ["b"]})),
        wish(json!({"key": "", "operator": "Near"})),
        json!({"status": {"disruptionsAllowed": 3}}),
    ];
    bench.creations(&json!({}), &changes);
    let stored = bench.create(&json!({"metadata": {"name": "budget"}, "spec": {"minAvailable": 1}}));
    bench.updates(&stored, Part::Whole, &changes);
    let condition = json!({"type": "A", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R", "message": "m"});
    bench.updates(&stored, Part::Status, &[
        json!({"status": {"currentHealthy": 1, "observedGeneration": 1, "conditions": [condition]}}),
        json!({"status": {"disruptionsAllowed": -1, "currentHealthy": -1, "desiredHealthy": -2, "expectedPods": -3}}),
        json!({"status": {"conditions": [condition, condition, {"type": "", "status": "Maybe", "observedGeneration": -1, "lastTransitionTime": null, "reason": "", "message": ""}]}}),
        json!({"status": {"conditions": [{"type": "B", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "a b", "message": "x".repeat(32 * 1024 + 1)}]}}),
    ]);
    bench.assert_same(38);
}

#[test]
fn real_storage_classes_are_the_same() {
    let mut bench = Bench::new("storage.k8s.io/v1", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses");
    let topology = |all: Value| json!({"allowedTopologies": all});
    let wishes = |wishes: Value| json!({"matchLabelExpressions": wishes});
    let many: serde_json::Map<String, Value> = (0..513).map(|index| (index.to_string(), "".into())).collect();
    bench.creations(&json!({"provisioner": "example.com/a"}), &[
        json!({}),
        json!({"reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": true, "mountOptions": ["a"], "parameters": {"a": "b"}}),
        json!({"provisioner": null}),
        json!({"provisioner": "Example.com/A"}),
        json!({"provisioner": "A B"}),
        json!({"reclaimPolicy": "Recycle"}),
        json!({"reclaimPolicy": ""}),
        json!({"volumeBindingMode": "Late"}),
        json!({"parameters": {"": "b"}}),
        json!({"parameters": many}),
        json!({"parameters": {"a": "x".repeat(256 * 1024)}}),
        topology(json!([wishes(json!([{"key": "a", "values": ["b", "c"]}]))])),
        topology(json!([wishes(json!([{"key": "a"}, {"key": "a b", "values": ["b", "b"]}, {"key": "a", "values": ["c"]}]))])),
        topology(json!([wishes(json!([{"key": "a", "values": ["b"]}])), wishes(json!([{"key": "a", "values": ["b"]}]))])),
        topology(json!([wishes(json!([{"key": "failure-domain.beta.kubernetes.io/zone", "values": ["b"]}]))])),
        topology(json!([{}])),
    ]);
    let stored =
        bench.create(&json!({"metadata": {"name": "class"}, "provisioner": "a", "parameters": {"a": "b"}}));
    bench.updates(
        &stored,
        Part::Whole,
        &[
            json!({}),
            json!({"allowVolumeExpansion": true, "mountOptions": ["x"]}),
            json!({"provisioner": "b"}),
            json!({"parameters": {"a": "c"}}),
            json!({"parameters": null}),
            json!({"reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"}),
            json!({"provisioner": null, "reclaimPolicy": "x"}),
        ],
    );
    bench.assert_same(23);
}
