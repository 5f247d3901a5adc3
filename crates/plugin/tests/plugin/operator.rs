//! Whose Lease counts: that of the namespace's own operator, else that of the one for all.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use serde_json::json;

use crate::scene::Scene;

async fn lease(scene: &Scene, namespace: &str, holder: &str, seconds_ago: i64) {
    let renewed = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds_ago);
    let lease: Lease = serde_json::from_value(json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "muster-operator"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 60, "renewTime": format!("{renewed:.6}")},
    }))
    .unwrap();
    Api::namespaced(scene.client.clone(), namespace).create(&PostParams::default(), &lease).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_namespaces_own_operator_goes_before_the_one_for_all() {
    let scene = Scene::new().await;
    let namespace: Namespace = serde_json::from_value(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "muster-system"}}),
    )
    .unwrap();
    Api::all(scene.client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let shown = async || scene.run("status orders", None).await.out;
    assert!(
        shown().await.contains("there is no Lease muster-operator in this namespace or in muster-system")
    );
    lease(&scene, "muster-system", "for-all", 0).await;
    assert!(shown().await.contains("running (for-all, seen "));
    lease(&scene, "default", "own", 4000).await;
    let page = shown().await;
    assert!(page.contains("operator not running: what follows is as of 66m ago or older"), "{page}");
    assert!(page.contains("Lease muster-operator in namespace default"), "{page}");
}
