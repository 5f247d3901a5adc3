//! R2.2 and R2.3: pools sized by count and by free storage, by what agents report.

use std::time::Duration;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use muster_protocol::Storage;
use serde_json::{Value, json};

use super::help::condition;
use super::world::{World, is, is_ready, pause};

const GI: u64 = 1 << 30;

async fn world(seed: u64, threshold: Value) -> World {
    let world = World::new(seed).await;
    world.create_with("orders", 1, |manifest| manifest["spec"]["pools"][0]["threshold"] = threshold).await;
    world
}

impl World {
    /// What a member has free, of 10Gi.
    fn free(&self, member: &str, gibibytes: u64) {
        let storage = Some(Storage { capacity: 10 * GI, free: gibibytes * GI });
        self.fleet.measure("shop", member, |measured| measured.storage = storage);
    }

    /// Waits until the cluster is Ready with so many members, and stays there.
    async fn settles_at(&self, members: i32) {
        self.until("orders", "to settle", |cluster| {
            is_ready(cluster) && cluster.status.as_ref().unwrap().ready_replicas == Some(members)
        })
        .await;
        pause(Duration::from_secs(20)).await;
        let cluster = self.clusters().get("orders").await.unwrap();
        assert_eq!(cluster.status.as_ref().unwrap().replicas, Some(members), "{:?}", cluster.status);
    }
}

/// Every agent of these tests reports 5Gi of 10Gi free, unless something else is said.
#[tokio::test(start_paused = true)]
async fn r2_2_below_the_minimum_it_grows_and_above_the_maximum_it_shrinks() {
    let world =
        world(211, json!({"minNodes": 1, "maxNodes": 4, "freeStorageMin": "8Gi", "freeStorageMax": "25Gi"}))
            .await;
    world.settles_at(2).await;
    let pool = |cluster: &muster_api::ReplicatedCluster| cluster.status.as_ref().unwrap().pools[0].clone();
    let shown = pool(&world.clusters().get("orders").await.unwrap());
    assert_eq!((shown.nodes, shown.desired_nodes), (Some(2), Some(2)));
    let free = u64::try_from(shown.free_storage.unwrap().bytes()).unwrap();
    assert!(free <= 10 * GI && free > 9 * GI, "the sum, rounded down to a hundredth: {free}");
    // Across a threshold it is shown, and acted upon, at once.
    world.free("orders-a-0", 1);
    world.settles_at(3).await;
    // More than the maximum is free, and without one member it is still above the minimum.
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.free(member, 9);
    }
    world.settles_at(2).await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r2_2_it_does_not_shrink_where_it_would_grow_again() {
    let world = world(
        212,
        json!({"minNodes": 1, "maxNodes": 4, "freeStorageMin": "9Gi", "freeStorageMax": "9500Mi"}),
    )
    .await;
    world.settles_at(2).await;
    let held = world.clusters().get("orders").await.unwrap();
    let said = condition(&held, "ScalingDown");
    assert_eq!((said.status.as_str(), said.reason.as_str()), ("False", "AtSize"), "{said:?}");
    world.unharmed();
}

/// Software that copies everything everywhere gains nothing by another member.
#[tokio::test(start_paused = true)]
async fn r2_2_a_member_that_brings_nothing_ends_growth() {
    let world = world(213, json!({"maxNodes": 5, "freeStorageMin": "40Gi"})).await;
    world
        .until("orders", "to have two members", |cluster| {
            cluster.status.as_ref().unwrap().replicas == Some(2)
        })
        .await;
    world
        .wait_for("the second to come", async || {
            world.free("orders-a-0", 2);
            world.free("orders-a-1", 3);
            let joined = world.clusters().get("orders").await.unwrap().status.unwrap().ready_replicas;
            (joined == Some(2)).then_some(())
        })
        .await;
    let held = world
        .until("orders", "to stop growing", |cluster| condition(cluster, "ScalingUp").reason == "NoGain")
        .await;
    assert!(condition(&held, "ScalingUp").message.contains("orders-a-1"), "{:?}", held.status);
    world.settles_at(2).await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r2_2_without_a_minimum_it_is_created_up_to_the_maximum_of_either_kind() {
    let by_storage = world(214, json!({"freeStorageMax": "12Gi"})).await;
    by_storage.settles_at(3).await;
    let by_count = world(215, json!({"maxNodes": 2})).await;
    by_count.settles_at(2).await;
    by_count.unharmed();
    by_storage.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r2_2_bounds_are_met_at_once_and_the_maximum_is_said() {
    let world = world(216, json!({"minNodes": 3, "maxNodes": 4, "freeStorageMin": "100Gi"})).await;
    world.settles_at(4).await;
    let cluster = world.clusters().get("orders").await.unwrap();
    assert_eq!(condition(&cluster, "ScalingUp").reason, "AtMaximum", "{:?}", cluster.status);
    world
        .patch("orders", json!({"spec": {"pools": [pool_with(&json!({"minNodes": 1, "maxNodes": 2}))]}}))
        .await;
    world.settles_at(2).await;
    world.unharmed();
}

fn pool_with(threshold: &Value) -> Value {
    let mut pool = super::samples::manifest("orders", 1)["spec"]["pools"][0].clone();
    pool["threshold"] = threshold.clone();
    pool
}

/// One that cannot report makes the sum an error: nothing is decided by it, and only the minimum of members is still met.
#[tokio::test(start_paused = true)]
async fn r2_3_one_member_that_cannot_report_holds_the_pool() {
    let threshold = json!({"minNodes": 2, "maxNodes": 4, "freeStorageMin": "8Gi"});
    let world = world(217, threshold).await;
    world.settles_at(2).await;
    world.fleet.measure("shop", "orders-a-1", |measured| measured.storage = None);
    world.free("orders-a-0", 1);
    let held = world
        .until("orders", "to hold", |cluster| {
            condition(cluster, "InfrastructureReady").reason == "FreeStorageUnknown"
        })
        .await;
    assert!(is(&held, "InfrastructureReady", "Unknown") && !is_ready(&held));
    assert!(condition(&held, "InfrastructureReady").message.contains("orders-a-1"), "{:?}", held.status);
    let status = held.status.as_ref().unwrap();
    assert_eq!(
        (status.replicas, &status.pools[0].free_storage, &status.free_storage),
        (Some(2), &None, &None)
    );
    // The minimum is met all the same.
    world
        .patch("orders", json!({"spec": {"pools": [pool_with(&json!({"minNodes": 3, "maxNodes": 4, "freeStorageMin": "8Gi"}))]}}))
        .await;
    world
        .until("orders", "to meet its minimum", |cluster| {
            cluster.status.as_ref().unwrap().replicas == Some(3)
        })
        .await;
    pause(Duration::from_secs(20)).await;
    assert_eq!(world.clusters().get("orders").await.unwrap().status.unwrap().replicas, Some(3));
    world.free("orders-a-1", 9);
    world.settles_at(3).await;
    world.unharmed();
}

/// Capacity is raised on all claims at once, and the cluster is Ready when the volumes have grown.
#[tokio::test(start_paused = true)]
async fn r2_2_capacity_grows_on_all_members_at_once() {
    let world = World::new(218).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let mut pool = pool_with(&json!({"nodes": 3}));
    pool["storage"]["capacity"] = json!("20Gi");
    let runs: Vec<_> = (0..3).map(|n| world.fleet.run("shop", &format!("orders-a-{n}"))).collect();
    world.patch("orders", json!({"spec": {"pools": [pool]}})).await;
    world.ready("orders").await;
    for n in 0..3 {
        let claim = world.api::<PersistentVolumeClaim>().get(&format!("data-orders-a-{n}")).await.unwrap();
        assert_eq!(claim.status.unwrap().capacity.unwrap()["storage"].0, "20Gi");
    }
    let after: Vec<_> = (0..3).map(|n| world.fleet.run("shop", &format!("orders-a-{n}"))).collect();
    assert_eq!(runs, after, "nobody was restarted for it");
    world.unharmed();
}

/// Two pools, one of which goes: its members leave through the same gate, and the other takes over.
#[tokio::test(start_paused = true)]
async fn r2_2_a_pool_that_is_removed_takes_its_members_along() {
    let world = World::new(219).await;
    let mut other = pool_with(&json!({"nodes": 2}));
    other["name"] = json!("b");
    world
        .create_with("orders", 1, |manifest| {
            manifest["spec"]["pools"] = json!([pool_with(&json!({"nodes": 1})), other]);
        })
        .await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!((status.replicas, status.primary.as_deref()), (Some(3), Some("orders-a-0")));
    assert_eq!(status.pools.iter().map(|pool| pool.ready_nodes).collect::<Vec<_>>(), [Some(1), Some(2)]);
    world.patch("orders", json!({"spec": {"pools": [other]}})).await;
    let status = world
        .until("orders", "to be without pool a", |cluster| {
            is_ready(cluster) && cluster.status.as_ref().unwrap().replicas == Some(2)
        })
        .await
        .status
        .unwrap();
    assert!(status.primary.as_deref().is_some_and(|primary| primary.starts_with("orders-b-")), "{status:?}");
    assert_eq!(world.names::<muster_api::Member>().await, ["orders-b-0", "orders-b-1"]);
    world.unharmed();
}
