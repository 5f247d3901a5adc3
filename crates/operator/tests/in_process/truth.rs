//! Status that cannot lie: whatever people do to it, and to the spec.

use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use super::world::{World, is, is_ready, pause};

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

#[tokio::test(start_paused = true)]
async fn r1_2_ready_never_returns_early() {
    let world = World::new(23).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    for round in 0..40 {
        let patch = json!({"spec": {"engine": {"parameters": {"size": format!("{}", round + 2)}}}});
        world.patch("orders", patch).await;
        let cluster = world.ready("orders").await;
        // Ready at this generation means that the very Pod runs with it.
        let member = world.members().get("orders-a-0").await.unwrap();
        let config = member.spec.workload.as_ref().unwrap().config.clone();
        let configs: kube::Api<k8s_openapi::api::core::v1::ConfigMap> =
            kube::Api::namespaced(world.client.clone(), "shop");
        let data = configs.get(&config).await.unwrap().data.unwrap();
        assert_eq!(data["parameters.size"], format!("{}", round + 2), "{:?}", cluster.metadata.generation);
        let pods: kube::Api<k8s_openapi::api::core::v1::Pod> =
            kube::Api::namespaced(world.client.clone(), "shop");
        let sets: kube::Api<k8s_openapi::api::apps::v1::StatefulSet> =
            kube::Api::namespaced(world.client.clone(), "shop");
        let newest = sets.get("orders-a-0").await.unwrap().status.unwrap().update_revision.unwrap();
        let runs =
            pods.get("orders-a-0-0").await.unwrap().metadata.labels.unwrap()["controller-revision-hash"]
                .clone();
        assert_eq!(runs, newest);
    }
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn r0_3_edits_of_other_annotations_do_not_starve_the_writer() {
    let world = World::new(24).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    world.fleet.restart("shop", "orders-a-0");
    for edit in 0..100 {
        let patch = json!({"metadata": {"annotations": {"example.org/edit": format!("{edit}")}}});
        world.clusters().patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
        pause(Duration::from_millis(20)).await;
    }
    let cluster = world.clusters().get("orders").await.unwrap();
    let primary = cluster.status.as_ref().unwrap().primary.clone();
    assert!(primary.is_some_and(|primary| primary != "orders-a-0"), "{:?}", cluster.status);
    world.until("orders", "to be Ready", is_ready).await;
}
