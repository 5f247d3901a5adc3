//! R0: what status says, and how it is written.

use std::time::Duration;

use kube::ResourceExt;
use kube::api::{Patch, PatchParams, PostParams};
use muster_api::ReplicatedCluster;
use muster_core::manager::requests::Ask;
use muster_core::manager::stamp::Stamp;
use muster_test_agents::Quirks;
use serde_json::json;

use super::help::{clustering, condition};
use super::world::{World, is, is_ready, pause};

const MEMBERS: [&str; 3] = ["orders-a-0", "orders-a-1", "orders-a-2"];

#[tokio::test(start_paused = true)]
async fn r0_1_status_has_every_field() {
    let world = World::new(101).await;
    world.create("orders", 3).await;
    let status = serde_json::to_value(world.ready("orders").await.status.unwrap()).unwrap();
    let expected = json!({
        "observedGeneration": 1, "phase": "Running", "reason": "AsDesired", "controlPaused": false,
        "replicas": 3, "desiredReplicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 3,
        "syncedReplicas": 3, "errantReplicas": 0, "restoreReplicas": 3,
        "membersReady": "3/3", "primary": "orders-a-0", "serviceName": "orders", "clientPort": 5000,
        "currentVersion": "1", "targetVersion": "1", "engineGeneration": 1,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&status[field], value, "{field}: {status:#}");
    }
    let members = &status["members"];
    assert_eq!(members["ready"], json!(MEMBERS));
    assert_eq!(members["primary"], json!(["orders-a-0"]));
    assert_eq!(members["secondary"], json!(["orders-a-1", "orders-a-2"]));
    for none in ["unready", "failed", "errant"] {
        assert_eq!(members[none].as_array().map_or(0, Vec::len), 0, "{none}");
    }
    let conditions = status["conditions"].as_array().unwrap();
    let types = [
        "SpecValid",
        "InfrastructureReady",
        "ControlPlaneReady",
        "Available",
        "Healthy",
        "ClusteringActive",
        "ReconciliationActive",
        "Recovering",
        "ScalingUp",
        "ScalingDown",
        "RollingOut",
        "Ready",
    ];
    for kind in types {
        let found = conditions.iter().find(|condition| condition["type"] == kind);
        let found = found.unwrap_or_else(|| panic!("{kind}: {status:#}"));
        assert_eq!(found["observedGeneration"], 1, "{kind}");
        assert!(found["message"].as_str().is_some_and(|text| !text.is_empty()), "{kind} says nothing");
    }
    assert_eq!(conditions.len(), types.len(), "{status:#}");
}

/// Whatever is stored, only what agents report decides.
#[tokio::test(start_paused = true)]
async fn r0_2_what_is_stored_in_status_decides_nothing() {
    let mut world = World::new(102).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.stall_copies("shop", "orders-a-2", true);
    for _ in 0..5 {
        world.fleet.write("shop", "orders");
    }
    pause(Duration::from_secs(5)).await;
    world.operator = None;
    for member in MEMBERS {
        world.fleet.restart("shop", member);
    }
    world.fleet.stall_copies("shop", "orders-a-2", false);
    // The one that lags claims to be far ahead, to be primary and to be Ready; the cluster agrees.
    let lie = json!({"status": {"role": "primary", "sequence": 1_000_000, "term": "9.9"}});
    let params = PatchParams::default();
    world.members().patch_status("orders-a-2", &params, &Patch::Merge(lie)).await.unwrap();
    let lie =
        json!({"status": {"primary": "orders-a-2", "phase": "Running", "recovery": {"seed": "orders-a-2"}}});
    world.clusters().patch_status("orders", &params, &Patch::Merge(lie)).await.unwrap();
    world.start_operator();
    let began = world.until("orders", "to be led", |cluster| {
        cluster
            .status
            .as_ref()
            .and_then(|status| status.primary.as_deref())
            .is_some_and(|one| one != "orders-a-2")
    });
    began.await;
    world.ready("orders").await;
    world.unharmed();
}

/// No write of the operator touches the spec, whatever happens.
#[tokio::test(start_paused = true)]
async fn r0_4_the_spec_is_never_touched() {
    let world = World::new(104).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.scale("orders", 2).await;
    let wanted = world.patch("orders", json!({"spec": {"engine": {"parameters": {"size": "7"}}}})).await.spec;
    world.ready("orders").await;
    world.fleet.restart("shop", "orders-a-0");
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    world.patch("orders", clustering(false)).await;
    let after = world.ready("orders").await;
    assert_eq!(after.spec, wanted);
    assert_eq!(after.metadata.generation, Some(3), "one for each change that a person made");
    for entry in after.managed_fields() {
        let manager = entry.manager.as_deref().unwrap_or_default();
        let fields = serde_json::to_value(&entry.fields_v1).unwrap();
        assert!(!manager.starts_with("muster") || fields.get("f:spec").is_none(), "{manager}: {fields}");
    }
}

/// A change that changes nothing beneath takes two writes of status: the reset, and the report.
#[tokio::test(start_paused = true)]
async fn r0_5_status_is_written_once_after_a_pass_and_only_if_it_changed() {
    let world = World::new(105).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new(), "nothing changed");
    world.patch("orders", json!({"spec": {"failover": {"allowLoss": true}}})).await;
    world.ready("orders").await;
    world.rest().await;
    let status = "write update muster.dev/replicatedclusters orders status".to_owned();
    assert_eq!(world.writes(), [status.clone(), status]);
}

#[tokio::test(start_paused = true)]
async fn r0_6_a_cluster_that_nobody_can_seed_says_so() {
    let world = World::new(106).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    for member in MEMBERS {
        world.fleet.set_quirks("shop", member, Quirks { start_fails: true, ..Quirks::default() });
    }
    for member in MEMBERS {
        world.fleet.restart("shop", member);
    }
    let failed = world
        .until("orders", "to fail", |cluster| {
            cluster.status.as_ref().unwrap().phase.as_deref() == Some("Failed")
        })
        .await;
    let recovering = condition(&failed, "Recovering");
    assert_eq!((recovering.status.as_str(), recovering.reason.as_str()), ("False", "NoSeed"));
    let status = failed.status.as_ref().unwrap();
    assert_eq!(status.failure_reason.as_deref(), Some("NoSeed"));
    assert!(status.failure_message.as_deref().is_some_and(|message| !message.is_empty()));
    assert_eq!(status.recovery.as_ref().unwrap().reported.len(), 3, "what each of them holds is told");
    assert!(!is(&failed, "Ready", "True"));
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
    // There is no latch: what can start again, does.
    for member in MEMBERS {
        world.fleet.set_quirks("shop", member, Quirks::default());
    }
    let after = world.ready("orders").await.status.unwrap();
    assert_eq!((after.phase.as_deref(), after.failure_reason), (Some("Running"), None));
    world.unharmed();
}

async fn set_count(world: &World, count: i64) {
    let mut object = world.clusters().get("orders").await.unwrap();
    let mut status = serde_json::to_value(object.status.take()).unwrap();
    status["restoreReplicas"] = count.into();
    object.status = Some(serde_json::from_value(status).unwrap());
    world.clusters().replace_status("orders", &PostParams::default(), &object).await.unwrap();
}

async fn stop_clustering(world: &World) {
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
}

fn blocked_by(cluster: &ReplicatedCluster) -> Option<&str> {
    cluster.status.as_ref()?.recovery.as_ref()?.blocked_by.as_deref()
}

#[tokio::test(start_paused = true)]
async fn r0_9_a_count_that_is_too_high_blocks_until_the_configured_count_meets_it() {
    let world = World::new(109).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    stop_clustering(&world).await;
    set_count(&world, 4).await;
    for member in MEMBERS {
        world.fleet.restart("shop", member);
    }
    pause(Duration::from_secs(5)).await;
    let kept = world.clusters().get("orders").await.unwrap();
    assert_eq!(
        kept.status.unwrap().restore_replicas,
        Some(4),
        "what a person wrote stays while nobody looks"
    );
    world.patch("orders", clustering(false)).await;
    let blocked = world
        .until("orders", "to be blocked", |cluster| blocked_by(cluster) == Some("RestoreReplicas"))
        .await;
    let status = blocked.status.unwrap();
    let how = status.recovery.unwrap().unblock.unwrap_or_default();
    assert!(how.contains('4') || how.contains("--replicas"), "{how}");
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
    world.scale("orders", 4).await;
    assert_eq!(world.ready("orders").await.status.unwrap().restore_replicas, Some(4));
    world.unharmed();
}

/// A member that was not told for a while takes a count of long ago for Muster's last: whoever knows better is believed.
#[tokio::test(start_paused = true)]
async fn r0_9_whose_count_it_is_says_who_was_told_last_and_not_who_is_heard_first() {
    let world = World::new(111).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    stop_clustering(&world).await;
    set_count(&world, 4).await;
    let [first, second, late] = MEMBERS;
    world.fleet.with("shop", late, |node| {
        node.volume.recorded = vec![4, 3];
        node.volume.recorded_at = Some(Stamp { epoch: 1, n: 1 });
    });
    world.fleet.power_off("shop", first);
    world.fleet.power_off("shop", second);
    world.fleet.restart("shop", late);
    world.patch("orders", clustering(false)).await;
    world.until("orders", "to miss two", |cluster| blocked_by(cluster) == Some("MemberMissing")).await;
    world.fleet.power_on("shop", first);
    world.fleet.power_on("shop", second);
    let blocked = world
        .until("orders", "to be blocked", |cluster| blocked_by(cluster) == Some("RestoreReplicas"))
        .await;
    assert_eq!(blocked.status.unwrap().restore_replicas, Some(4));
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r0_9_a_count_that_is_too_high_can_be_lowered_by_request() {
    let world = World::new(110).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    stop_clustering(&world).await;
    set_count(&world, 9).await;
    for member in MEMBERS {
        world.fleet.restart("shop", member);
    }
    world.patch("orders", clustering(false)).await;
    world.until("orders", "to be blocked", |cluster| blocked_by(cluster) == Some("RestoreReplicas")).await;
    let ask = Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(3) };
    let (result, message) = world.ask("lower", ask).await;
    assert_eq!(result, "Done", "{message}");
    assert_eq!(world.ready("orders").await.status.unwrap().restore_replicas, Some(3));
    world.unharmed();
}

/// A lower count gives up data, and a Warning names whose.
#[tokio::test(start_paused = true)]
async fn r0_9_a_count_that_is_too_low_gives_up_data_and_never_accounting() {
    let world = World::new(111).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    stop_clustering(&world).await;
    for member in &MEMBERS[1..] {
        world.fleet.power_off("shop", member);
    }
    world.fleet.restart("shop", "orders-a-0");
    set_count(&world, 1).await;
    world.fleet.accept_loss("shop", "orders", true);
    world.patch("orders", clustering(false)).await;
    let blocked = world
        .until("orders", "to wait for who is not accounted for", |cluster| {
            blocked_by(cluster) == Some("MemberMissing")
        })
        .await;
    assert_eq!(blocked.status.unwrap().recovery.unwrap().missing, ["orders-a-1", "orders-a-2"]);
    let gone = vec!["orders-a-1".to_owned(), "orders-a-2".to_owned()];
    let (result, message) = world.ask("fence", Ask::Fence { members: gone }).await;
    assert_eq!(result, "Done", "{message}");
    world
        .until("orders", "to serve", |cluster| {
            cluster.status.as_ref().unwrap().primary.as_deref() == Some("orders-a-0")
        })
        .await;
    let said = world.said_of("orders").await;
    let warned = said
        .iter()
        .any(|(tone, _, note)| tone == "Warning" && note.contains("orders-a-1") && note.contains("lost"));
    assert!(warned, "{said:#?}");
    assert!(!is_ready(&world.clusters().get("orders").await.unwrap()));
}
