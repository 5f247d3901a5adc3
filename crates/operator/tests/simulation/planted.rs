//! The oracle can fail: what is planted is caught.

use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use muster_test_agents::Pace;
use serde_json::{Value, json};

use super::cores::{self, alone};
use super::lives::Beginning;
use super::samples::{CLUSTER, NAMESPACE};
use super::world::{World, pause};

/// A cluster that is live, and that nobody operates.
async fn abandoned(base: &super::world::Base) -> World {
    World::begin(base, 1, Pace::default()).await
}

/// Someone writes to the cluster whom nobody expects to.
async fn meddle(world: &World, part: Option<&str>, patch: Value) {
    let kind = GroupVersionKind::gvk("muster.dev", "v1alpha1", "ReplicatedCluster");
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(world.client.clone(), NAMESPACE, &ApiResource::from_gvk(&kind));
    let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
    match part {
        Some(part) => drop(clusters.patch_subresource(part, CLUSTER, &params, &patch).await.unwrap()),
        None => drop(clusters.patch(CLUSTER, &params, &patch).await.unwrap()),
    }
}

fn caught(world: &World, what: &str) {
    let wrongs = world.oracle.wrongs();
    assert!(wrongs.iter().any(|wrong| wrong.contains(what)), "not caught: {wrongs:?}");
}

#[test]
fn the_oracle_catches_what_is_planted() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(2).base();
    alone(async {
        let world = abandoned(&base).await;
        meddle(&world, Some("status"), json!({"status": {"reason": "Told"}})).await;
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new(), "it is Ready");
        assert_eq!(world.oracle.confirmed(), 1);
        // A member that is gone: the first word about Ready after it is a lie.
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        meddle(&world, Some("status"), json!({"status": {"reason": "Planted"}})).await;
        caught(&world, "was said to be Ready, and was not: the application of orders-a-1");
    });
    alone(async {
        // One that was hurt is excused for a moment, and no longer.
        let world = abandoned(&base).await;
        world.oracle.hurt();
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        meddle(&world, Some("status"), json!({"status": {"reason": "Excused"}})).await;
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new());
        pause(Duration::from_secs(30)).await;
        meddle(&world, Some("status"), json!({"status": {"reason": "Planted"}})).await;
        caught(&world, "was said to be Ready");
    });
    alone(async {
        let world = abandoned(&base).await;
        meddle(&world, None, json!({"spec": {"engine": {"version": "2"}}})).await;
        caught(&world, "the spec was changed by nobody who may");
        meddle(&world, Some("status"), json!({"status": {"observedGeneration": 0}})).await;
        caught(&world, "observedGeneration went back");
        meddle(&world, Some("status"), json!({"status": {"observedGeneration": 9}})).await;
        caught(&world, "is of the future");
    });
    alone(async {
        // The spec says something else: status that says Ready of it is a lie, whatever machines do.
        let world = abandoned(&base).await;
        world.oracle.hurt();
        world.edit(json!({"spec": {"engine": {"version": "2"}}})).await;
        let mut status = world.oracle.cluster(|cluster| cluster.unwrap()["status"].clone());
        status["observedGeneration"] = 2.into();
        for condition in status["conditions"].as_array_mut().unwrap() {
            condition["observedGeneration"] = 2.into();
        }
        meddle(&world, Some("status"), json!({"status": status})).await;
        caught(&world, "has version");
    });
}
