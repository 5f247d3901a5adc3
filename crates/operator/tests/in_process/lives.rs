//! The lives of clusters, from creation to deletion.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::world::{World, is, is_ready};

fn unharmed(world: &World) {
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_created_and_becomes_ready() {
    let world = World::new(1).await;
    world.create("orders", 3).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.phase.as_deref(), Some("Running"));
    assert_eq!(status.members_ready.as_deref(), Some("3/3"));
    assert_eq!(status.primary.as_deref(), Some("orders-a-0"));
    assert_eq!(status.restore_replicas, Some(3));
    let figures = world.operator.as_ref().unwrap().context().metrics.text().unwrap();
    for figure in ["muster_agent_streams 3\n", "muster_agent_streams_wanted 3\n", "phase=\"Running\"} 1\n"] {
        assert!(figures.contains(figure), "{figures}");
    }
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_grows_and_shrinks() {
    let world = World::new(2).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.scale("orders", 5).await;
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(5));
    world.scale("orders", 2).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!((status.replicas, status.ready_replicas), (Some(2), Some(2)));
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(world.client.clone(), "shop");
    assert_eq!(claims.list(&ListParams::default()).await.unwrap().items.len(), 5, "volumes are kept");
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_parked_and_comes_back() {
    let world = World::new(3).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.scale("orders", 0).await;
    let parked = world
        .until("orders", "to be parked", |cluster| {
            is(cluster, "Ready", "True") || is(cluster, "InfrastructureReady", "True")
        })
        .await;
    assert_eq!(parked.status.as_ref().unwrap().phase.as_deref(), Some("Provisioned"), "{:?}", parked.status);
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "shop");
    assert_eq!(pods.list(&ListParams::default()).await.unwrap().items.len(), 0);
    world.scale("orders", 3).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.ready_replicas, Some(3));
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn a_new_version_rolls_through_the_members_one_at_a_time() {
    let world = World::new(4).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.current_version.as_deref(), Some("2"));
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "shop");
    for pod in pods.list(&ListParams::default()).await.unwrap() {
        let spec = pod.spec.as_ref().unwrap();
        let main = spec.containers.iter().find(|container| container.name == "main").unwrap();
        assert_eq!(main.image.as_deref(), Some("ledger:2"), "{}", pod.name_any());
    }
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn clustering_is_stopped_and_started() {
    let world = World::new(5).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let stop = |value: serde_json::Value| json!({"metadata": {"annotations": {"muster.dev/clustering-stopped": value}}});
    world.patch("orders", stop(json!("true"))).await;
    let stopped =
        world.until("orders", "to stop clustering", |cluster| is(cluster, "ClusteringActive", "False")).await;
    for kind in ["Available", "Healthy", "ControlPlaneReady", "Ready"] {
        assert!(is(&stopped, kind, "Unknown"), "{kind}: {:?}", stopped.status);
    }
    let status = stopped.status.unwrap();
    assert_eq!((status.phase.as_deref(), status.control_paused), (Some("Paused"), Some(true)));
    assert_eq!((status.ready_replicas, status.primary), (None, None), "nobody looks");
    world.patch("orders", stop(json!(null))).await;
    world.ready("orders").await;
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn reconciliation_is_stopped_and_started() {
    let world = World::new(6).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let stop = |value: serde_json::Value| json!({"metadata": {"annotations": {"muster.dev/reconciliation-stopped": value}}});
    world.patch("orders", stop(json!("true"))).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ReconciliationActive", "False")).await;
    world.scale("orders", 5).await;
    let sets: Api<StatefulSet> = Api::namespaced(world.client.clone(), "shop");
    // The manager runs on.
    world.fleet.restart("shop", "orders-a-0");
    let after = world
        .until("orders", "to fail over", |cluster| {
            let status = cluster.status.as_ref().unwrap();
            status.primary.as_deref().is_some_and(|primary| primary != "orders-a-0")
                && status.observed_generation == Some(1)
        })
        .await;
    assert_eq!(after.metadata.generation, Some(2));
    assert_eq!(sets.list(&ListParams::default()).await.unwrap().items.len(), 3);
    world.patch("orders", stop(json!(null))).await;
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(5));
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_deleted_and_its_volumes_are_kept() {
    let world = World::new(7).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    assert_eq!(world.members().list(&ListParams::default()).await.unwrap().items.len(), 0);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(world.client.clone(), "shop");
    assert_eq!(claims.list(&ListParams::default()).await.unwrap().items.len(), 3);
    // Made again over its volumes, it goes on from what they hold.
    world.create("orders", 3).await;
    world.ready("orders").await;
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn all_members_die_and_the_most_advanced_seeds() {
    let world = World::new(8).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    for _ in 0..20 {
        world.fleet.write("shop", "orders");
    }
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.fleet.restart("shop", member);
    }
    world.until("orders", "not to be Ready", |cluster| !is_ready(cluster)).await;
    world.ready("orders").await;
    unharmed(&world);
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_operator_writes_nothing() {
    let mut world = World::new(9).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    let before = world.describe("orders").await;
    world.start_operator();
    world.rest().await;
    let after = world.describe("orders").await;
    let differs: Vec<_> = before.lines().zip(after.lines()).filter(|(old, new)| old != new).collect();
    assert_eq!(differs, Vec::new());
    let writes: Vec<String> =
        world.calls.take().into_iter().filter(|call| call.starts_with("write")).collect();
    assert_eq!(writes, Vec::<String>::new());
    world.rest().await;
    let at_rest: Vec<String> =
        world.calls.take().into_iter().filter(|call| !call.contains("watch")).collect();
    assert_eq!(at_rest, Vec::<String>::new(), "nothing is asked at rest");
}
