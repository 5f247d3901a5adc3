//! Workloads on our server in this process: what the stories beside the real controller manager do not tell.
#![cfg(test)] // so that the lints for tests hold in helper functions too

#[path = "../stage/mod.rs"]
mod stage;

use serde_json::{Value, json};

use crate::stage::Stage;

async fn stage() -> Stage {
    let mut stage = Stage::ours("w").await;
    stage.also(muster_local::workloads::run(stage.client.clone()));
    stage
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "db"}},
        "spec": {"containers": [{"name": "c", "image": "example.org/db:1"}]}})
}

fn set(replicas: i64) -> Value {
    json!({"metadata": {"name": "db"}, "spec": {
        "replicas": replicas, "podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"},
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod("")["spec"]},
    }})
}

fn owner(object: &Value) -> &Value {
    &object["metadata"]["ownerReferences"][0]["name"]
}

#[tokio::test(start_paused = true)]
async fn a_set_takes_the_pods_that_are_its_own_and_nobodys_else() {
    let stage = stage().await;
    stage.create("pods", pod("db-0")).await;
    stage.create("pods", pod("db-stranger")).await;
    let mut taken = pod("db-1");
    taken["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "Node", "name": "other", "uid": "11111111-2222-3333-4444-555555555555",
        "controller": true,
    }]);
    let nodes = stage.create("nodes", json!({"metadata": {"name": "other"}})).await;
    taken["metadata"]["ownerReferences"][0]["uid"] = nodes.metadata.uid.into();
    stage.create("pods", taken).await;
    stage.create("statefulsets", set(3)).await;
    let seen = stage.until("statefulsets", "db", |set| set["status"]["replicas"] == 1).await;
    assert_eq!(seen["status"]["updatedReplicas"].as_i64(), None, "it was made by hand, from no revision");
    // It says who it is now, and the name that another one has is waited for.
    stage.until("pods", "db-0", |pod| owner(pod) == "db").await;
    assert_eq!(owner(&stage.get("pods", "db-1").await.unwrap()), "other");
    assert!(owner(&stage.get("pods", "db-stranger").await.unwrap()).is_null());
    stage.delete("pods", "db-1").await;
    stage.api("pods").delete("db-1", &kube::api::DeleteParams::default().grace_period(0)).await.ok();
    stage.until("statefulsets", "db", |set| set["status"]["replicas"] == 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_set_orphaned_and_made_again_has_its_pods_back() {
    let stage = stage().await;
    let kubelet = stage.kubelet();
    stage.create("statefulsets", set(2)).await;
    stage.until("statefulsets", "db", |set| set["status"]["readyReplicas"] == 2).await;
    let uids = |pods: Vec<Value>| -> Vec<Value> {
        pods.into_iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = uids(stage.list("pods").await);
    let orphan = kube::api::DeleteParams::orphan();
    stage.api("statefulsets").delete("db", &orphan).await.unwrap();
    stage.until_gone("statefulsets", "db").await;
    stage.until_all("pods", |pods| pods.iter().all(|pod| owner(pod).is_null())).await;
    stage.create("statefulsets", set(2)).await;
    let seen = stage.until("statefulsets", "db", |set| set["status"]["readyReplicas"] == 2).await;
    assert_eq!(seen["status"]["updatedReplicas"], 2, "the same template is the same revision");
    assert_eq!(uids(stage.list("pods").await), before);
    drop(kubelet);
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_goes_with_its_pods_and_without_its_claims() {
    let stage = stage().await;
    let _kubelet = stage.kubelet();
    let mut with_claims = set(1);
    with_claims["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }}]);
    stage.create("statefulsets", with_claims).await;
    stage.until("statefulsets", "db", |set| set["status"]["readyReplicas"] == 1).await;
    stage.delete("statefulsets", "db").await;
    stage.until_all("pods", <[Value]>::is_empty).await;
    stage.until_all("controllerrevisions", <[Value]>::is_empty).await;
    assert_eq!(stage.list("persistentvolumeclaims").await.len(), 1);
}
