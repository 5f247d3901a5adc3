//! R2.5 to R2.9: single members, disabled, external, made by hand, deleted, with devices.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use muster_api::Member;
use muster_protocol::Device;
use serde_json::{Value, json};

use super::help::{condition, member_is, why};
use super::world::{World, is, is_ready, pause};

fn state(word: &str) -> Value {
    json!({"spec": {"desiredState": word}})
}

/// A disabled member is not promoted, rolled, resized or removed; enabled, it follows.
#[tokio::test(start_paused = true)]
async fn r2_5_a_disabled_member_is_left_alone_until_it_is_enabled() {
    let world = World::new(221).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.edit::<Member>("orders-a-2", state("Disabled")).await;
    world
        .until_member("orders-a-2", "to be disabled", |member| {
            member.status.as_ref().unwrap().current_state.as_deref() == Some("Disabled")
        })
        .await;
    let run = world.fleet.run("shop", "orders-a-2");
    // A new version and more storage: the others follow.
    let mut pool = super::samples::manifest("orders", 3)["spec"]["pools"][0].clone();
    pool["storage"]["capacity"] = json!("20Gi");
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}, "pools": [pool]}})).await;
    for other in ["orders-a-0", "orders-a-1"] {
        let rolled = |member: &Member| {
            member.spec.workload.as_ref().unwrap().version == "2" && member_is(member, "Ready", "True")
        };
        world.until_member(other, "to be rolled", rolled).await;
    }
    pause(Duration::from_secs(10)).await;
    let disabled = world.members().get("orders-a-2").await.unwrap();
    assert_eq!(disabled.spec.workload.as_ref().unwrap().version, "1");
    assert_eq!(disabled.spec.storage[0].claim.as_ref().unwrap().capacity.to_string(), "10Gi");
    assert_eq!(world.fleet.run("shop", "orders-a-2"), run, "it was not restarted");
    let cluster = world.clusters().get("orders").await.unwrap();
    assert!(is(&cluster, "Available", "True"));
    assert!(!is_ready(&cluster), "this spec is not everywhere: {:?}", cluster.status);
    // It is not removed though the pool is to have two members.
    pool["threshold"]["nodes"] = json!(2);
    world.patch("orders", json!({"spec": {"pools": [pool]}})).await;
    let left = world
        .wait_for("one of the others to go", async || {
            let names = world.names::<Member>().await;
            (names.len() == 2).then_some(names)
        })
        .await;
    assert_eq!(left[1], "orders-a-2");
    // It alone is left when the primary goes, and it is not promoted.
    world.fleet.power_off("shop", &left[0]);
    pause(Duration::from_secs(30)).await;
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
    world.fleet.power_on("shop", &left[0]);
    world.edit::<Member>("orders-a-2", state("Enabled")).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!((status.current_version.as_deref(), status.ready_replicas), (Some("2"), Some(2)));
    world.unharmed();
}

/// When a disabled member alone is the most advanced, recovery waits, and says whom to enable.
#[tokio::test(start_paused = true)]
async fn r2_5_recovery_says_that_the_disabled_member_is_to_be_enabled() {
    let world = World::new(222).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.stall_copies("shop", "orders-a-1", true);
    for _ in 0..3 {
        world.fleet.write("shop", "orders");
    }
    pause(Duration::from_secs(3)).await;
    for member in ["orders-a-0", "orders-a-2"] {
        world.edit::<Member>(member, state("Disabled")).await;
    }
    pause(Duration::from_secs(3)).await;
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.fleet.restart("shop", member);
    }
    let blocked = world
        .until("orders", "to be blocked", |cluster| {
            let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
            recovery.is_some_and(|recovery| recovery.blocked_by.as_deref() == Some("MemberDisabled"))
        })
        .await;
    let how = blocked.status.unwrap().recovery.unwrap().unblock.unwrap_or_default();
    assert!(how.contains("kubectl muster enable orders orders-a-"), "{how}");
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
    world.fleet.stall_copies("shop", "orders-a-1", false);
    for member in ["orders-a-0", "orders-a-2"] {
        world.edit::<Member>(member, state("Enabled")).await;
    }
    world.ready("orders").await;
    world.unharmed();
}

/// An external member is connected to by its address with the keys of its Secret, and joins.
#[tokio::test(start_paused = true)]
async fn r2_6_an_external_member_is_connected_to_and_joins() {
    let world = World::new(223).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.fleet.add("shop", "orders", "far");
    world.fleet.set_address("shop", "far", Some("192.0.2.7"));
    let external = json!({"address": "192.0.2.7:7443", "credentials": {"secretName": "far-agent"}});
    world
        .make::<Member>(json!({"metadata": {"name": "far"}, "spec": {"clusterName": "orders", "pool": "a", "external": external}}))
        .await;
    let missing = world
        .until_member("far", "to miss its Secret", |member| member_is(member, "SpecValid", "False"))
        .await;
    assert!(
        why(&missing, "SpecValid").1.contains("spec.external.credentials.secretName"),
        "{:?}",
        missing.status
    );
    let keys = json!({"ca.crt": "x", "tls.crt": "x", "tls.key": "x"});
    world.make::<Secret>(json!({"metadata": {"name": "far-agent"}, "stringData": keys})).await;
    let away = world
        .until_member("far", "to be looked for", |member| {
            member_is(member, "SpecValid", "True") && member_is(member, "AgentConnected", "False")
        })
        .await;
    assert!(!member_is(&away, "Ready", "True"));
    world.fleet.start("shop", "orders", "far", None);
    let far = world.until_member("far", "to be Ready", |member| member_is(member, "Ready", "True")).await;
    for (kind, reason) in [("StorageReady", "External"), ("WorkloadReady", "External")] {
        assert_eq!(why(&far, kind).0, reason);
    }
    let status = far.status.unwrap();
    assert_eq!(
        (status.role.as_deref(), status.address.as_deref()),
        (Some("secondary"), Some("192.0.2.7:7443"))
    );
    assert_eq!(world.names::<StatefulSet>().await, ["orders-a-0", "orders-a-1"], "it has no workload here");
    let cluster = world.ready("orders").await.status.unwrap();
    assert_eq!((cluster.replicas, cluster.ready_replicas), (Some(3), Some(3)));
    // Connectivity is watched.
    world.fleet.isolate("shop", "far", true);
    world.until_member("far", "to be missed", |member| member_is(member, "AgentConnected", "False")).await;
    let cluster = world.until("orders", "to miss it", |cluster| is(cluster, "Healthy", "False")).await;
    assert!(condition(&cluster, "Healthy").message.contains("far"));
    world.fleet.isolate("shop", "far", false);
    world.ready("orders").await;
    world.unharmed();
}

/// What is said of a Member depends on the others: whether a primary is heard that it follows.
#[tokio::test(start_paused = true)]
async fn a_member_is_looked_at_again_when_the_primary_that_it_follows_is_heard_again() {
    let world = World::new(225).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    let primary = world.fleet.serving("shop", "orders").remove(0);
    let others = ["orders-a-0", "orders-a-1", "orders-a-2"].into_iter().filter(|name| *name != primary);
    world.fleet.isolate("shop", &primary, true);
    for member in others.clone() {
        world
            .until_member(member, "to miss its primary", |member| why(member, "Joined").0 == "NoPrimary")
            .await;
    }
    world.fleet.isolate("shop", &primary, false);
    world.until("orders", "to be heard", |cluster| is(cluster, "Ready", "True")).await;
    // Sooner than anyone is looked at because time has passed.
    pause(Duration::from_secs(1)).await;
    for member in world.all_members().await {
        assert!(member_is(&member, "Ready", "True"), "{:?}", member.status);
    }
    world.unharmed();
}

/// A Member that a person made: its claim must be there and is never touched; it is not counted in the threshold.
#[tokio::test(start_paused = true)]
async fn r2_6_a_member_made_by_hand_runs_on_the_claim_that_it_names() {
    let world = World::new(224).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world
        .make::<Member>(json!({
            "metadata": {"name": "extra"},
            "spec": {"clusterName": "orders", "pool": "a", "storage": [{"pvcName": "data-extra"}]},
        }))
        .await;
    let waits = world
        .until_member("extra", "to miss its claim", |member| member_is(member, "StorageReady", "False"))
        .await;
    assert_eq!(why(&waits, "StorageReady").0, "VolumeNotFound");
    let claim: PersistentVolumeClaim = world
        .make(json!({
            "metadata": {"name": "data-extra", "labels": {"app": "mine"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}},
        }))
        .await;
    world.until_member("extra", "to be Ready", |member| member_is(member, "Ready", "True")).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!((status.replicas, status.desired_replicas), (Some(3), Some(2)), "{status:?}");
    // It is rolled like the others, and nothing else of it is ours.
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    world.ready("orders").await;
    let member = world.members().get("extra").await.unwrap();
    assert_eq!(member.spec.workload.as_ref().unwrap().version, "2");
    assert!(member.owner_references().is_empty());
    // Scaling leaves it; whoever made it deletes it, and its claim stays as it was.
    world.scale("orders", 1).await;
    world.ready("orders").await;
    world.api::<Member>().delete("extra", &DeleteParams::default()).await.unwrap();
    world.until_gone::<Member>("extra").await;
    world.until_gone::<StatefulSet>("extra").await;
    let after = world.api::<PersistentVolumeClaim>().get("data-extra").await.unwrap();
    assert_eq!(after.metadata.labels, claim.metadata.labels);
    assert_eq!(after.annotations().get("muster.dev/formed"), None);
    world.ready("orders").await;
    world.unharmed();
}

/// Deleting a Member decommissions that very one, a primary after a switchover; its pool makes another in its place.
#[tokio::test(start_paused = true)]
async fn r2_6_a_deleted_member_leaves_and_its_pool_makes_up_for_it() {
    let world = World::new(225).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let uid = world.members().get("orders-a-0").await.unwrap().uid();
    world.members().delete("orders-a-0", &DeleteParams::default()).await.unwrap();
    world
        .wait_for("that very member to go", async || {
            let now = world.members().get_opt("orders-a-0").await.unwrap();
            (now.and_then(|member| member.uid()) != uid).then_some(())
        })
        .await;
    assert_ne!(world.fleet.serving("shop", "orders"), ["orders-a-0"]);
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.ready_replicas, Some(3));
    assert_ne!(status.primary.as_deref(), Some("orders-a-0"));
    assert_eq!(world.names::<Member>().await, ["orders-a-1", "orders-a-2", "orders-a-3"]);
    let left = world.fleet.with("shop", "orders-a-0", |node| (node.agent.is_some(), node.volume.left));
    assert_eq!(left, Some((false, true)), "its volume is kept, and marked");
    world.unharmed();
}

/// A device that is there is made part of the storage pool; one that is not there is named.
#[tokio::test(start_paused = true)]
async fn r2_7_devices_are_available_and_part_of_the_storage_pool() {
    let world = World::new(226).await;
    let action = json!({"command": ["/bin/ledger", "device"]});
    world.patch_engine(json!({"spec": {"actions": {"devices": action, "addDevice": action}}})).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world
        .make::<PersistentVolumeClaim>(json!({
            "metadata": {"name": "state"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }))
        .await;
    world
        .make::<Member>(json!({
            "metadata": {"name": "bricks"},
            "spec": {"clusterName": "orders", "pool": "a", "storage": [
                {"pvcName": "state"}, {"device": "/dev/vdb"}, {"device": "/dev/vdc", "tags": ["fast"]},
            ]},
        }))
        .await;
    let device = |name: &str, available: bool| Device {
        name: name.into(),
        available,
        pooled: false,
        capacity: 100,
        free: 50,
    };
    let waits = world
        .until_member("bricks", "to miss its devices", |member| {
            why(member, "StorageReady").0 == "DeviceNotReady" && member_is(member, "AgentConnected", "True")
        })
        .await;
    assert!(why(&waits, "StorageReady").1.contains("/dev/vdb is not reported"), "{:?}", waits.status);
    world.fleet.measure("shop", "bricks", |measured| {
        measured.devices = vec![device("/dev/vdb", true), device("/dev/vdc", false)];
    });
    let waits = world
        .until_member("bricks", "to have none of them", |member| {
            why(member, "StorageReady").1.contains("/dev/vdb is not part of the storage pool")
        })
        .await;
    assert!(why(&waits, "StorageReady").1.contains("/dev/vdc is not there"), "{:?}", waits.status);
    // Its agent adds what is there.
    world.fleet.measure("shop", "bricks", |measured| measured.devices[0].pooled = true);
    let half = world
        .until_member("bricks", "to have one of them", |member| {
            let devices = &member.status.as_ref().unwrap().devices;
            devices.iter().any(|device| device.name == "/dev/vdb" && device.pooled == Some(true))
        })
        .await;
    assert_eq!(why(&half, "StorageReady").1, "/dev/vdc is not there");
    assert!(!is_ready(&world.clusters().get("orders").await.unwrap()));
    world.fleet.measure("shop", "bricks", |measured| {
        measured.devices[1].available = true;
        measured.devices[1].pooled = true;
    });
    world.until_member("bricks", "to be Ready", |member| member_is(member, "Ready", "True")).await;
    world.ready("orders").await;
    world.unharmed();
}

/// What is wrong with a Member is said, with the path of its field.
#[tokio::test(start_paused = true)]
async fn r2_8_a_member_without_a_cluster_or_a_volume_is_invalid() {
    let world = World::new(228).await;
    let spec = json!({"clusterName": "nobody", "pool": "a", "storage": [{"device": "/dev/vdb"}]});
    world.make::<Member>(json!({"metadata": {"name": "alone"}, "spec": spec})).await;
    let invalid =
        world.until_member("alone", "to be invalid", |member| member_is(member, "SpecValid", "False")).await;
    let (_, message) = why(&invalid, "SpecValid");
    assert!(message.contains("spec.clusterName") && message.contains("spec.storage"), "{message}");
    assert_eq!(world.names::<StatefulSet>().await, Vec::<String>::new());
    // Nothing holds it.
    world.members().delete("alone", &DeleteParams::default()).await.unwrap();
    world.until_gone::<Member>("alone").await;
}

#[tokio::test(start_paused = true)]
async fn r2_9_members_are_listed_by_cluster_and_by_pool() {
    let world = World::new(229).await;
    world.create("orders", 2).await;
    world.create("bills", 1).await;
    world.ready("orders").await;
    world.ready("bills").await;
    let listed = async |params: ListParams| -> Vec<String> {
        world.members().list(&params).await.unwrap().items.iter().map(ResourceExt::name_any).collect()
    };
    assert_eq!(
        listed(ListParams::default().fields("spec.clusterName=orders")).await,
        ["orders-a-0", "orders-a-1"]
    );
    assert_eq!(
        listed(ListParams::default().fields("spec.clusterName=bills,spec.pool=a")).await,
        ["bills-a-0"]
    );
    assert_eq!(listed(ListParams::default().fields("spec.pool=b")).await, Vec::<String>::new());
    assert_eq!(
        listed(ListParams::default().labels("muster.dev/cluster=orders,muster.dev/pool=a")).await.len(),
        2
    );
}
