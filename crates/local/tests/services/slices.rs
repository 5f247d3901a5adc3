//! `EndpointSlices` follow Pods. Time is real here: `ip` is asked first, and a paused clock would not wait for it.

use muster_local::services::{Options, run};
use serde_json::{Value, json};

use crate::stage::{Stage, ready};

fn pod(name: &str, port: u16) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "api"}}, "spec": {
        "nodeName": "here", "hostname": name, "subdomain": "all",
        "containers": [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": port}]}],
    }})
}

/// Who is ready in all slices of a Service: names and ports.
fn serving(slices: &[Value], service: &str) -> Vec<String> {
    let own =
        slices.iter().filter(|slice| slice["metadata"]["labels"]["kubernetes.io/service-name"] == service);
    let mut found: Vec<String> = Vec::new();
    for slice in own {
        let endpoints = slice["endpoints"].as_array().into_iter().flatten();
        for endpoint in endpoints.filter(|endpoint| endpoint["conditions"]["ready"] == true) {
            let name = endpoint["targetRef"]["name"].as_str().unwrap();
            found.push(format!("{name}:{}", slice["ports"][0]["port"]));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn slices_hold_the_pods_that_are_chosen_and_say_who_is_ready() {
    let mut stage = Stage::ours("s").await;
    stage.also(run(stage.client.clone(), Options { slices: true }));
    let port = json!([{"name": "http", "port": 80, "targetPort": "http"}]);
    let api = json!({"metadata": {"name": "api", "labels": {"a": "b"}}, "spec": {"selector": {"app": "api"}, "ports": port}});
    stage.create("services", api).await;
    let all = json!({"metadata": {"name": "all"}, "spec": {
        "clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "api"}, "ports": port,
    }});
    stage.create("services", all).await;
    let empty = stage.until_all("endpointslices", |slices| slices.len() == 2).await;
    let slice = empty.iter().find(|slice| slice["metadata"]["labels"]["a"] == "b").unwrap();
    assert_eq!(slice["metadata"]["ownerReferences"][0]["name"], "api");
    assert!(serving(&empty, "api").is_empty());

    for (name, port) in [("a", 8080), ("b", 8080), ("c", 9090)] {
        stage.create("pods", pod(name, port)).await;
        stage.patch_status("pods", name, ready()).await;
    }
    let full = ["a:8080", "b:8080", "c:9090"];
    stage
        .until_all("endpointslices", |slices| {
            serving(slices, "api") == full && serving(slices, "all") == full
        })
        .await;

    let not_ready = json!({"type": "Ready", "status": "False"});
    stage.patch_status("pods", "a", json!({"status": {"conditions": [not_ready]}})).await;
    // All are published, whether ready or not. Each Service is looked after by itself, so both are waited for.
    let slices = stage
        .until_all("endpointslices", |slices| {
            serving(slices, "api") == full[1..] && serving(slices, "all") == full
        })
        .await;
    let named = slices
        .iter()
        .find(|slice| slice["metadata"]["labels"].get("service.kubernetes.io/headless").is_some());
    assert_eq!(named.unwrap()["endpoints"][0]["hostname"].as_str().map(str::len), Some(1));

    // The API takes no loopback address: such a Pod is known by its name.
    stage
        .patch_status(
            "pods",
            "b",
            json!({"status": {"podIP": "127.77.0.9", "podIPs": [{"ip": "127.77.0.9"}]}}),
        )
        .await;
    let named = "127-77-0-9.s.pod.cluster.local";
    let is_named =
        |slice: &Value| slice["addressType"] == "FQDN" && slice["endpoints"][0]["addresses"][0] == named;
    // It is in its new slice before it is out of the old one, so that nobody loses sight of it.
    stage
        .until_all("endpointslices", |slices| {
            slices.iter().filter(|it| is_named(it)).count() == 2 && serving(slices, "api") == full[1..]
        })
        .await;

    // A Pod that no longer fits, and one that is being deleted.
    stage.patch("pods", "b", json!({"metadata": {"labels": {"app": "other"}}})).await;
    stage.until_all("endpointslices", |slices| serving(slices, "api") == ["c:9090"]).await;
    stage.delete("pods", "c").await;
    stage.until_all("endpointslices", |slices| serving(slices, "api").is_empty()).await;
    stage.delete("services", "api").await;
    stage
        .until_all("endpointslices", |slices| slices.iter().all(|it| it["metadata"]["labels"]["a"] != "b"))
        .await;
}

#[tokio::test]
async fn beside_a_controller_manager_only_pods_with_loopback_addresses_are_told_of() {
    let mut stage = Stage::ours("s").await;
    stage.also(run(stage.client.clone(), Options { slices: false }));
    let port = json!([{"name": "http", "port": 80, "targetPort": "http"}]);
    let api = json!({"metadata": {"name": "api"}, "spec": {"selector": {"app": "api"}, "ports": port}});
    stage.create("services", api).await;
    for (name, address) in [("near", "127.77.0.9"), ("far", "10.1.2.3")] {
        stage.create("pods", pod(name, 8080)).await;
        let mut status = ready();
        status["status"]["podIP"] = address.into();
        status["status"]["podIPs"] = json!([{"ip": address}]);
        stage.patch_status("pods", name, status).await;
    }
    let slices = stage.until_all("endpointslices", |slices| !serving(slices, "api").is_empty()).await;
    assert_eq!(serving(&slices, "api"), ["near:8080"]);
}
