//! Deployments: rolled out, scaled, rolled back, paused, recreated.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 3] = ["deployments", "replicasets", "pods"];

fn deployment(node: &str, replicas: i64, strategy: &Value) -> Value {
    let labels = json!({"app": "web"});
    json!({"metadata": {"name": "web", "annotations": {"note": "mine"}}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels}, "strategy": strategy, "revisionHistoryLimit": 1,
        "template": {"metadata": {"labels": labels}, "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "example.org/web:1"}],
        }},
    }})
}

fn image(tag: i64) -> Value {
    let image = format!("example.org/web:{tag}");
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

/// The controller has seen the last change, and all Pods are as it says.
fn is_complete(replicas: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        let status = &seen["status"];
        let all = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
        status["observedGeneration"] == generation
            && all.iter().all(|field| status[field].as_i64().unwrap_or(0) == replicas)
            && status["terminatingReplicas"] == 0
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling() {
    let both = Both::begin("rolling").await;
    both.create("deployments", deployment("rolling", 3, &json!({"type": "RollingUpdate"}))).await;
    both.until("deployments", "web", |seen| seen["status"]["replicas"] == 3).await;
    both.same("created", &ALL).await;

    let kubelets = both.kubelets();
    both.until("deployments", "web", is_complete(3, 1)).await;
    both.same("available", &ALL).await;

    for (generation, tag) in [(2, 2), (3, 3), (4, 2)] {
        both.patch("deployments", "web", image(tag)).await;
        both.until("deployments", "web", is_complete(3, generation)).await;
        both.same(&format!("image {tag}"), &ALL).await;
    }

    both.patch("deployments", "web", json!({"spec": {"replicas": 5}})).await;
    both.until("deployments", "web", is_complete(5, 5)).await;
    both.same("grown", &ALL).await;

    drop(kubelets);
    both.patch("deployments", "web", image(4)).await;
    let halfway = |seen: &Value| seen["status"]["updatedReplicas"] == 3 && seen["status"]["replicas"] == 7;
    both.until("deployments", "web", halfway).await;
    both.same("the new ones never become ready", &ALL).await;
    both.patch("deployments", "web", json!({"spec": {"replicas": 10}})).await;
    both.until("deployments", "web", |seen| seen["status"]["replicas"] == 13).await;
    both.same("grown halfway, in proportion", &ALL).await;

    let _kubelets = both.kubelets();
    both.until("deployments", "web", is_complete(10, 7)).await;
    both.patch("deployments", "web", json!({"spec": {"paused": true, "replicas": 1}})).await;
    both.until("deployments", "web", is_complete(1, 8)).await;
    both.same("paused, and still scaled", &ALL).await;
    both.patch("deployments", "web", json!({"spec": {"paused": false}})).await;
    both.until("deployments", "web", is_complete(1, 9)).await;
    both.same("resumed", &ALL).await;
    both.patch("deployments", "web", json!({"spec": {"replicas": 0}})).await;
    both.until("deployments", "web", is_complete(0, 10)).await;
    both.same("none", &ALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recreated() {
    let both = Both::begin("recreated").await;
    both.create("deployments", deployment("recreated", 2, &json!({"type": "Recreate"}))).await;
    let kubelets = both.kubelets();
    both.until("deployments", "web", is_complete(2, 1)).await;
    both.same("created", &ALL).await;

    drop(kubelets);
    both.patch("deployments", "web", image(2)).await;
    both.until("deployments", "web", |seen| seen["status"]["terminatingReplicas"] == 2).await;
    both.same("old Pods end before a new one comes", &ALL).await;

    let _kubelets = both.kubelets();
    both.until("deployments", "web", is_complete(2, 2)).await;
    both.same("the new ones run", &ALL).await;
}
