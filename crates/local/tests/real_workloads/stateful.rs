//! `StatefulSets`: in order and at once, updated by themselves and by hand, growing and shrinking.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 4] = ["statefulsets", "pods", "persistentvolumeclaims", "controllerrevisions"];

fn set(node: &str, policy: &str, strategy: &Value) -> Value {
    let labels = json!({"app": "db"});
    json!({"metadata": {"name": "db", "annotations": {"note": "mine"}}, "spec": {
        "replicas": 2, "serviceName": "db", "selector": {"matchLabels": labels},
        "podManagementPolicy": policy, "updateStrategy": strategy, "revisionHistoryLimit": 1,
        "template": {"metadata": {"labels": labels}, "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "example.org/db:1",
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
        }},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }}],
    }})
}

/// The controller has seen the last change, and so many Pods are ready.
fn has(replicas: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        let status = &seen["status"];
        status["observedGeneration"] == generation
            && ["replicas", "readyReplicas"].iter().all(|it| status[it].as_i64().unwrap_or(0) == replicas)
    }
}

/// The same, and all are of the newest revision.
fn is_complete(replicas: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        has(replicas, generation)(seen)
            && seen["status"]["updatedReplicas"] == replicas
            && seen["status"]["currentRevision"] == seen["status"]["updateRevision"]
    }
}

fn noted(note: &str) -> Value {
    json!({"spec": {"template": {"metadata": {"annotations": {"a": note}}}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_order_and_rolling() {
    let both = Both::begin("in-order").await;
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    both.create("statefulsets", set("in-order", "OrderedReady", &rolling)).await;
    both.until("statefulsets", "db", |seen| seen["status"]["replicas"] == 1).await;
    both.same("the first waits to be ready", &ALL).await;

    let _kubelets = both.kubelets();
    both.until("statefulsets", "db", is_complete(2, 1)).await;
    both.same("both are ready", &ALL).await;

    for (generation, note) in [(2, "one"), (3, "two"), (4, "three")] {
        both.patch("statefulsets", "db", noted(note)).await;
        both.until("statefulsets", "db", is_complete(2, generation)).await;
        both.same(&format!("updated to {note}"), &ALL).await;
    }

    let back = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}});
    both.patch("statefulsets", "db", back).await;
    both.patch("statefulsets", "db", noted("two")).await;
    both.until("statefulsets", "db", |seen| seen["status"]["updatedReplicas"] == 1 && has(2, 6)(seen)).await;
    both.same("back to a known template, above the partition", &ALL).await;

    both.patch("statefulsets", "db", json!({"spec": {"replicas": 4}})).await;
    both.until("statefulsets", "db", has(4, 7)).await;
    both.same("grown during the update", &ALL).await;

    both.patch("statefulsets", "db", json!({"spec": {"replicas": 1}})).await;
    both.until("statefulsets", "db", has(1, 8)).await;
    both.same("shrunk; claims stay", &ALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_once_and_on_delete() {
    let both = Both::begin("at-once").await;
    both.create("statefulsets", set("at-once", "Parallel", &json!({"type": "OnDelete"}))).await;
    both.until("statefulsets", "db", |seen| seen["status"]["replicas"] == 2).await;
    both.same("both are there", &ALL).await;

    let _kubelets = both.kubelets();
    both.until("statefulsets", "db", has(2, 1)).await;
    both.patch("statefulsets", "db", noted("one")).await;
    both.until("statefulsets", "db", |seen| seen["status"]["observedGeneration"] == 2).await;
    both.same("a new template changes no Pod", &ALL).await;

    for stage in &both.stages {
        let old = stage.get("pods", "db-1").await.unwrap()["metadata"]["uid"].clone();
        stage.delete("pods", "db-1").await;
        stage.until("pods", "db-1", |pod| pod["metadata"]["uid"] != old).await;
    }
    both.until("statefulsets", "db", |seen| seen["status"]["updatedReplicas"] == 1 && has(2, 2)(seen)).await;
    both.same("what is deleted comes back from the new one", &ALL).await;

    for stage in &both.stages {
        let old = stage.get("pods", "db-0").await.unwrap()["metadata"]["uid"].clone();
        stage.patch_status("pods", "db-0", json!({"status": {"phase": "Failed"}})).await;
        stage.until("pods", "db-0", |pod| pod["metadata"]["uid"] != old).await;
    }
    both.until("statefulsets", "db", |seen| seen["status"]["updatedReplicas"] == 2 && has(2, 2)(seen)).await;
    both.same("what failed is replaced", &ALL).await;

    both.patch("statefulsets", "db", json!({"spec": {"replicas": 0}})).await;
    both.until("statefulsets", "db", has(0, 3)).await;
    both.same("parked", &ALL).await;
    both.patch("statefulsets", "db", json!({"spec": {"replicas": 1}})).await;
    both.until("statefulsets", "db", has(1, 4)).await;
    both.same("back", &ALL).await;
}
