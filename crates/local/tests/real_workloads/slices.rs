//! `EndpointSlices`: the same Pods, the same slices.

use serde_json::{Value, json};

use crate::both::Both;
use crate::stage::ready;

const ALL: [&str; 1] = ["endpointslices"];

fn pod(node: &str, name: &str, port: u16) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "api"}}, "spec": {
        "nodeName": node, "hostname": name, "subdomain": "all", "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": port}]}],
    }})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slices_follow_pods() {
    let mut both = Both::begin("slices").await;
    let client = both.stages[1].client.clone();
    both.stages[1]
        .also(muster_local::services::run(client, muster_local::services::Options { slices: true }));
    let ports = json!([{"name": "http", "port": 80, "targetPort": "http"}, {"name": "plain", "port": 81}]);
    let selector = json!({"app": "api"});
    let api = json!({"metadata": {"name": "api", "labels": {"a": "b"}}, "spec": {"selector": selector, "ports": ports}});
    both.create("services", api).await;
    let all = json!({"metadata": {"name": "all"}, "spec": {
        "clusterIP": "None", "publishNotReadyAddresses": true, "selector": selector, "ports": ports,
    }});
    both.create("services", all).await;
    both.same("nobody serves", &ALL).await;

    for (name, port) in [("a", 8080), ("b", 9090)] {
        both.create("pods", pod("slices", name, port)).await;
    }
    both.same("none has an address", &ALL).await;
    for stage in &both.stages {
        for (name, address) in [("a", "10.200.0.1"), ("b", "10.200.0.2")] {
            let mut status = ready();
            status["status"]["podIP"] = address.into();
            status["status"]["podIPs"] = json!([{"ip": address}]);
            stage.patch_status("pods", name, status).await;
        }
    }
    both.same("two serve, on different ports", &ALL).await;
    for stage in &both.stages {
        let not_ready = json!({"type": "Ready", "status": "False"});
        stage.patch_status("pods", "a", json!({"status": {"conditions": [not_ready]}})).await;
        stage.delete("pods", "b").await;
    }
    both.same("one is not ready, one is ending", &ALL).await;
    let _kubelets = both.kubelets();
    for stage in &both.stages {
        stage.until_gone("pods", "b").await;
    }
    both.same("one is gone", &ALL).await;
}
