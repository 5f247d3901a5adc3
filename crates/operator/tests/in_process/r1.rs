//! R1: generations, and what may be said of them.

use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams, WatchEvent, WatchParams};
use muster_api::ReplicatedCluster;
use serde_json::json;

use super::help::{condition, member_is};
use super::world::{World, is, is_ready, pause};

/// Every version of the cluster that was stored between this one and the moment when the test is true.
pub(crate) async fn versions(
    world: &World,
    from: &ReplicatedCluster,
    until: impl Fn(&ReplicatedCluster) -> bool,
) -> Vec<ReplicatedCluster> {
    let version = from.resource_version().unwrap();
    let clusters = world.clusters();
    let watch = clusters.watch(&WatchParams::default(), &version).await.unwrap();
    let mut watch = std::pin::pin!(watch);
    let mut seen = Vec::new();
    while let Some(event) = watch.try_next().await.unwrap() {
        if let WatchEvent::Modified(cluster) = event {
            let done = until(&cluster);
            seen.push(cluster);
            if done {
                break;
            }
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn r1_1_a_new_generation_resets_the_verdicts_before_a_child_is_touched() {
    let world = World::new(121).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    let changed = world.patch("orders", json!({"spec": {"engine": {"parameters": {"size": "5"}}}})).await;
    let seen = versions(&world, &changed, is_ready).await;
    let first = &seen[0];
    assert_eq!(first.status.as_ref().unwrap().observed_generation, Some(2), "{:?}", first.status);
    for kind in ["SpecValid", "InfrastructureReady", "ControlPlaneReady", "Ready"] {
        let found = condition(first, kind);
        assert_eq!((found.status.as_str(), found.reason.as_str()), ("Unknown", "Reconciling"), "{kind}");
        assert_eq!(found.observed_generation, Some(2), "{kind}");
    }
    for kind in ["Available", "Healthy", "ClusteringActive", "ReconciliationActive"] {
        let found = condition(first, kind);
        assert_eq!((found.status.as_str(), found.observed_generation), ("True", Some(2)), "measured: {kind}");
    }
    let writes = world.writes();
    let own = writes.iter().filter(|write| !write.contains("replicatedclusters orders ")).count();
    assert!(own > 2, "children were changed: {writes:?}");
    assert!(writes[0].ends_with("orders status"), "the first write is the reset: {writes:?}");
}

/// A Member counts only at the generation that was applied to it, whatever its status claims.
#[tokio::test(start_paused = true)]
async fn r1_3_a_member_counts_only_when_it_has_observed_what_was_applied() {
    let world = World::new(123).await;
    world.create("orders", 1).await;
    let before = world.ready("orders").await;
    let member = world.members().get("orders-a-0").await.unwrap();
    assert!(member_is(&member, "Ready", "True"));
    world.kubelet.turn(|knobs| knobs.stopped = true);
    let changed = world.patch("orders", json!({"spec": {"engine": {"parameters": {"size": "5"}}}})).await;
    world
        .until_member("orders-a-0", "to be changed", |now| {
            now.metadata.generation > member.metadata.generation
        })
        .await;
    // What its status said of the generation before is still True there.
    let stale = world.clusters().get("orders").await.unwrap();
    assert!(!is(&stale, "Ready", "True") && !is(&stale, "InfrastructureReady", "True"), "{:?}", stale.status);
    pause(Duration::from_secs(120)).await;
    let waiting = world.clusters().get("orders").await.unwrap();
    assert!(is(&waiting, "InfrastructureReady", "False"), "{:?}", waiting.status);
    assert!(condition(&waiting, "InfrastructureReady").message.contains("orders-a-0"));
    world.kubelet.turn(|knobs| knobs.stopped = false);
    let seen = versions(&world, &changed, is_ready).await;
    let member = world.members().get("orders-a-0").await.unwrap();
    let status = member.status.as_ref().unwrap();
    assert_eq!(status.observed_generation, member.metadata.generation);
    assert!(member.metadata.generation > Some(1) && before.metadata.generation < seen[0].metadata.generation);
}

/// Counts of a workload at an older generation prove nothing, nor do counts that somebody wrote.
#[tokio::test(start_paused = true)]
async fn r1_4_a_workload_counts_only_at_its_own_generation() {
    let world = World::new(124).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.kubelet.turn(|knobs| knobs.stopped = true);
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let sets = world.api::<StatefulSet>();
    let set = world
        .wait_for("the workload to change", async || {
            sets.get("orders-a-0").await.ok().filter(|set| set.metadata.generation > Some(1))
        })
        .await;
    let status = set.status.clone().unwrap();
    assert_eq!((status.observed_generation, status.ready_replicas), (Some(1), Some(1)), "of the one before");
    pause(Duration::from_secs(60)).await;
    let member = world.members().get("orders-a-0").await.unwrap();
    assert!(!member_is(&member, "WorkloadReady", "True"), "{:?}", member.status);
    // Somebody raises its counts: they are still of the generation before.
    let lie = json!({"status": {"updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
    sets.patch_status("orders-a-0", &PatchParams::default(), &Patch::Merge(lie)).await.unwrap();
    pause(Duration::from_secs(30)).await;
    assert!(!is_ready(&world.clusters().get("orders").await.unwrap()));
    world.kubelet.turn(|knobs| knobs.stopped = false);
    assert_eq!(world.ready("orders").await.status.unwrap().current_version.as_deref(), Some("2"));
    world.unharmed();
}

/// A Member whose status claims a generation that it does not have is looked at again, and decides nothing.
#[tokio::test(start_paused = true)]
async fn r1_5_a_status_from_the_future_is_read_again() {
    let world = World::new(126).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    let lie = json!({"status": {"observedGeneration": 99}});
    world.members().patch_status("orders-a-1", &PatchParams::default(), &Patch::Merge(lie)).await.unwrap();
    pause(Duration::from_secs(2)).await;
    let member = world.members().get("orders-a-1").await.unwrap();
    assert_eq!(member.status.as_ref().unwrap().observed_generation, member.metadata.generation);
    world.ready("orders").await;
}

/// What somebody else edits in an object of ours is put back.
#[tokio::test(start_paused = true)]
async fn r1_5_what_somebody_else_edits_is_put_back() {
    let world = World::new(125).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.rest().await;
    super::edits::are_put_back(&world.client, "shop").await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new(), "and then there is nothing left to do");
    world.unharmed();
}

/// The parent has seen its own spec, whatever its children are at.
#[tokio::test(start_paused = true)]
async fn r1_6_the_parents_generation_does_not_wait_for_its_children() {
    let world = World::new(127).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.kubelet.turn(|knobs| knobs.stopped = true);
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    pause(Duration::from_secs(30)).await;
    let cluster = world.clusters().get("orders").await.unwrap();
    assert_eq!(cluster.status.as_ref().unwrap().observed_generation, Some(2));
    assert!(is(&cluster, "SpecValid", "True") && is(&cluster, "Ready", "False"), "{:?}", cluster.status);
    let sets = world.api::<StatefulSet>().list(&kube::api::ListParams::default()).await.unwrap();
    let behind =
        |set: &StatefulSet| set.status.as_ref().unwrap().observed_generation < set.metadata.generation;
    assert!(sets.items.iter().any(behind), "a child has not observed its own yet");
}
