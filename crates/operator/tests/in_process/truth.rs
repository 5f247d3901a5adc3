//! Status that cannot lie: whatever people do to it, and to the spec.

use std::time::Duration;

use kube::api::PostParams;
use serde_json::json;

use super::world::{World, is, pause};

#[tokio::test(start_paused = true)]
async fn r0_8_an_emptied_or_garbled_status_is_restored_within_a_second_and_nothing_else_happens() {
    let world = World::new(21).await;
    world.create("orders", 3).await;
    let truth = world.ready("orders").await;
    world.rest().await;
    for garbage in [
        json!({}),
        json!({"phase": "Failed", "restoreReplicas": 1, "conditions": [], "observedGeneration": 99}),
    ] {
        world.calls.take();
        let mut object = world.clusters().get("orders").await.unwrap();
        object.status = Some(serde_json::from_value(garbage).unwrap());
        world.clusters().replace_status("orders", &PostParams::default(), &object).await.unwrap();
        pause(Duration::from_secs(1)).await;
        let restored = world.clusters().get("orders").await.unwrap();
        let bare = |cluster: &muster_api::ReplicatedCluster| {
            let mut status = cluster.status.clone().unwrap();
            status.conditions.iter_mut().for_each(|condition| condition.last_transition_time = truth_time());
            status
        };
        assert_eq!(bare(&restored), bare(&truth));
        assert_eq!(restored.spec, truth.spec);
        let writes: Vec<String> =
            world.calls.take().into_iter().filter(|call| call.starts_with("write")).collect();
        let status = "write update muster.dev/replicatedclusters orders status".to_owned();
        assert!(writes.iter().all(|write| *write == status || write.contains("events")), "{writes:?}");
        world.rest().await;
    }
}

fn truth_time() -> muster_api::Time {
    muster_api::Time(jiff::Timestamp::UNIX_EPOCH)
}

#[tokio::test(start_paused = true)]
async fn r0_7_an_invalid_update_is_reported_and_disturbs_nothing() {
    let world = World::new(22).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let spec = json!({"spec": {"engine": {"version": "99", "parameters": {"size": "large", "none": "x"}}}});
    world.patch("orders", spec).await;
    let invalid = world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    let message = invalid
        .status
        .as_ref()
        .unwrap()
        .conditions
        .iter()
        .find(|c| c.type_ == "SpecValid")
        .unwrap()
        .message
        .clone();
    for path in ["spec.engine.version", "spec.engine.parameters[size]", "spec.engine.parameters[none]"] {
        assert!(message.contains(path), "{message}");
    }
    assert!(is(&invalid, "Ready", "False"));
    // It goes on as its members are, and still fails over.
    world.fleet.restart("shop", "orders-a-0");
    world
        .until("orders", "to fail over", |cluster| {
            let status = cluster.status.as_ref().unwrap();
            status.primary.as_deref().is_some_and(|primary| primary != "orders-a-0")
                && is(cluster, "Available", "True")
        })
        .await;
    world.patch("orders", json!({"spec": {"engine": {"version": "1", "parameters": null}}})).await;
    world.ready("orders").await;
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}
