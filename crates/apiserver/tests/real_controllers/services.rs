//! `EndpointSlices` and Endpoints follow the Pods that are ready; a budget counts them.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 5] = ["services", "endpointslices", "endpoints", "poddisruptionbudgets", "pods"];

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "api"}}, "spec": {
        "nodeName": "node-1", "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "example.org/api:1", "ports": [{"name": "http", "containerPort": 8080}]}],
    }})
}

/// How many endpoints are ready in all slices.
fn ready(slices: &Value) -> usize {
    let slices = slices["items"].as_array().into_iter().flatten();
    let endpoints = slices.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    endpoints.filter(|endpoint| endpoint["conditions"]["ready"] == true).count()
}

#[test]
fn endpoints_and_budgets_follow_pods() {
    let both = Both::begin("services");
    both.create(
        "services",
        &json!({"metadata": {"name": "api"}, "spec": {
            "selector": {"app": "api"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}],
        }}),
    );
    both.create(
        "poddisruptionbudgets",
        &json!({"metadata": {"name": "api"}, "spec": {
            "minAvailable": 1, "selector": {"matchLabels": {"app": "api"}},
        }}),
    );
    both.until("endpointslices", false, &|slices| {
        slices["items"].as_array().is_some_and(|all| all.len() == 1)
    });
    both.until("poddisruptionbudgets/api", false, &|seen| seen["status"]["observedGeneration"] == 1);
    both.same("nobody serves", &ALL);

    both.create("pods", &pod("a"));
    both.create("pods", &pod("b"));
    both.until("endpointslices", true, &|slices| ready(slices) == 2);
    both.until("poddisruptionbudgets/api", true, &|seen| seen["status"]["currentHealthy"] == 2);
    both.same("two serve", &ALL);

    let not_ready = json!({"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    both.patch("pods/b/status", &json!({"status": {"conditions": [not_ready]}}));
    both.until("endpointslices", true, &|slices| ready(slices) == 1);
    both.until("poddisruptionbudgets/api", true, &|seen| seen["status"]["currentHealthy"] == 1);
    both.same("one is not ready", &ALL);

    both.delete("pods/b", "Background");
    both.until_gone("pods/b");
    both.until("poddisruptionbudgets/api", true, &|seen| seen["status"]["expectedPods"] == 1);
    both.same("one is gone", &ALL);

    both.delete("services/api", "Background");
    both.until("endpointslices", true, &|slices| slices["items"].as_array().is_some_and(Vec::is_empty));
    both.same("no service", &ALL);
    both.end();
}
