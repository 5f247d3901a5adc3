//! A status that is swapped by what it was made from, on a real server: it reads the tests of a patch byte by byte.

use std::sync::Arc;

use kube::api::{Patch, PatchParams};
use muster_api::ReplicatedCluster;
use muster_core::status::write::swap;
use muster_operator::cache::Guard;
use muster_operator::clock::SystemClock;
use muster_operator::door::{CallError, Door};
use muster_operator::key::Name;
use muster_operator::lease::Authority;
use muster_test_world::World;
use serde_json::{Value, json};

use crate::scene::{shared, world};

/// What Go escapes, and what nobody does.
const MESSAGE: &str = "hugepages-<size> & \u{2028} \u{e9} \\ \" 'x'";

async fn edited(world: &World, patch: Value) -> ReplicatedCluster {
    world.clusters().patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
}

#[tokio::test]
async fn r0_3_a_status_is_swapped_beside_edits_of_other_things_and_of_nothing_else() {
    let plane = shared();
    let world = world(plane, "swapped", false, 87).await;
    let authority = Authority::uncontested(1, Arc::new(SystemClock));
    let door = Door::new(plane.client().await.unwrap(), authority, Guard::default());
    world.create("orders", 1).await;
    let name = Name::new("swapped", "orders");
    let swapped = async |judged: &ReplicatedCluster, phase: &str| {
        let mut new = judged.clone();
        let status = new.status.get_or_insert_default();
        status.phase = Some(phase.to_owned());
        status.failure_message = Some(MESSAGE.to_owned());
        let patch = swap(&judged.metadata, judged.status.as_ref(), &new.status);
        let done = door.swap_status::<ReplicatedCluster>(&name, &name, &patch).await;
        done.map(|after| after.status.unwrap().phase.unwrap())
    };
    let lost = |done: Result<String, CallError>| matches!(done, Err(CallError::Conflict { .. }));

    // Without a status, and without annotations.
    let bare = edited(&world, json!({"metadata": {"annotations": null}})).await;
    assert!(bare.status.is_none() && bare.metadata.annotations.is_none());
    edited(&world, json!({"metadata": {"labels": {"example.org/x": "1"}}})).await;
    assert_eq!(swapped(&bare, "Pending").await.unwrap(), "Pending");
    assert!(lost(swapped(&bare, "Running").await), "there is a status now");

    // With both.
    let judged = edited(&world, json!({"metadata": {"annotations": {"example.org/x": "1"}}})).await;
    assert_eq!(judged.status.as_ref().unwrap().failure_message.as_deref(), Some(MESSAGE));
    edited(&world, json!({"metadata": {"annotations": {"example.org/x": "2"}}})).await;
    assert_eq!(swapped(&judged, "Provisioning").await.unwrap(), "Provisioning");

    // What a person says, and another spec.
    let judged = edited(&world, json!({"metadata": {"labels": null}})).await;
    edited(&world, json!({"metadata": {"annotations": {"muster.dev/clustering-stopped": "true"}}})).await;
    assert!(lost(swapped(&judged, "Running").await));
    let judged = edited(&world, json!({"metadata": {"annotations": {"example.org/x": "3"}}})).await;
    edited(&world, json!({"spec": {"service": {"annotations": {"example.org/x": "1"}}}})).await;
    assert!(lost(swapped(&judged, "Running").await));
    let now = world.clusters().get("orders").await.unwrap();
    assert_eq!(now.status.unwrap().phase.as_deref(), Some("Provisioning"));
}
