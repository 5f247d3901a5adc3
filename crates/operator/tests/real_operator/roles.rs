//! The operator under exactly the roles that are installed with it.

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use muster_api::ReplicatedCluster;
use muster_operator::rbac;
use muster_test_control_plane::ControlPlane;
use muster_test_world::{Process, World, is, samples};
use serde_json::json;

use crate::scene::{account, kubectl, shared, world};

/// Creation with drivers, growth, a new version, a pause, parking, and the end.
async fn live(world: &World) {
    world.create("orders", 2).await;
    world.patch("orders", json!({"spec": {"drivers": [{"name": "proxy"}, {"name": "mounts"}]}})).await;
    world.ready("orders").await;
    world.scale("orders", 3).await;
    world.patch("orders", json!({"spec": {"drivers": []}})).await;
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(3));
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    assert_eq!(world.ready("orders").await.status.unwrap().current_version.as_deref(), Some("2"));
    world.annotate("orders", "muster.dev/clustering-stopped", Some("true")).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    world.annotate("orders", "muster.dev/clustering-stopped", None).await;
    world.ready("orders").await;
    world.patch("orders", json!({"spec": {"pools": samples::pools(2, "Delete")}})).await;
    assert_eq!(world.ready("orders").await.status.unwrap().replicas, Some(2));
    world.patch("orders", json!({"spec": {"pools": samples::pools(0, "Delete")}})).await;
    let parked = |cluster: &ReplicatedCluster| {
        is(cluster, "Ready", "True")
            && cluster.status.as_ref().unwrap().phase.as_deref() == Some("Provisioned")
    };
    world.until("orders", "to be parked", parked).await;
    assert_eq!(world.api::<Pod>().list(&ListParams::default()).await.unwrap().items.len(), 0);
    world.patch("orders", json!({"spec": {"pools": samples::pools(1, "Delete")}})).await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    world.unharmed();
}

#[tokio::test]
async fn a_whole_life_under_the_role_for_all_namespaces() {
    let plane = ControlPlane::start().unwrap();
    let world = world(&plane, "shop", false, 81).await;
    let access = account(&plane, &rbac::for_all_namespaces(), "muster-system").await;
    let operator = Process::start(world.setup(&access, None, 81));
    live(&world).await;
    let figures = operator.metrics.text().unwrap();
    assert!(!figures.contains("Forbidden"), "{figures}");
    operator.stop().await;
    world.unharmed();
    // The role really binds: what it leaves out is refused.
    let may = |verb: &str, what: &str| {
        let who = "--as=system:serviceaccount:muster-system:muster-operator";
        let (what, part) = what.split_once('/').unwrap_or((what, ""));
        let part = format!("--subresource={part}");
        let output = plane.kubectl(&["auth", "can-i", verb, what, &part, "-n", "shop", who]).unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(may("get", "secrets"), "yes");
    for (verb, what) in
        [("list", "secrets"), ("watch", "secrets"), ("create", "pods/exec"), ("update", "leases")]
    {
        assert_eq!(may(verb, what), "no", "{verb} {what}");
    }
}

#[tokio::test]
async fn a_whole_life_under_the_role_for_one_namespace_and_another_namespace_is_not_touched() {
    let plane = shared();
    let world = world(plane, "own", false, 82).await;
    let access = account(plane, &rbac::for_namespace("own"), "own").await;
    let other: Namespace = serde_json::from_value(json!({"metadata": {"name": "anothers"}})).unwrap();
    Api::all(world.admin.clone()).create(&PostParams::default(), &other).await.unwrap();
    let anothers: Api<ReplicatedCluster> = Api::namespaced(world.admin.clone(), "anothers");
    let before = anothers.create(&PostParams::default(), &samples::cluster("orders", 1)).await.unwrap();
    let operator = Process::start(world.setup(&access, Some("own"), 82));
    live(&world).await;
    operator.stop().await;
    world.unharmed();
    assert_eq!(anothers.get("orders").await.unwrap(), before);
    let elsewhere = world
        .spy
        .calls()
        .into_iter()
        .filter(|call| call.namespace.as_deref().is_some_and(|namespace| namespace != "own"));
    assert_eq!(elsewhere.collect::<Vec<_>>(), []);
    let rest = kubectl(plane, &["get", "members,sts,pods,svc,events", "-n", "anothers", "-o", "name"], None);
    assert_eq!(rest, "");
}
