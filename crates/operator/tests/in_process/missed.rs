//! Events that never come: the operator is not told what it wrote itself, reads it after a while, and goes on. Everything is
//! told anew only after half an hour.

use std::time::Duration;

use muster_api::Member;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::samples;
use super::world::World;

/// How long it may take: seconds for each event that is missed, of which there are a few. Far less than until all is told anew.
const SOON: Duration = Duration::from_secs(120);

/// One change of a cluster of two, while the operator is not told what it writes to this object.
async fn misses(seed: u64, resource: &'static str, name: &str, change: Value) -> World {
    let world = World::new(seed).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.miss(resource, name);
    let began = Instant::now();
    world.patch("orders", change).await;
    world.ready("orders").await;
    assert!(world.calls.missed() > 0, "nothing was missed");
    assert!(began.elapsed() < SOON, "it took {:?}", began.elapsed());
    // It is as well afterwards, and not only for a moment.
    world.rest().await;
    world.ready("orders").await;
    world.unharmed();
    world
}

fn version() -> Value {
    json!({"spec": {"engine": {"version": "2"}}})
}

fn nodes(count: i64) -> Value {
    json!({"spec": {"pools": samples::manifest("orders", count)["spec"]["pools"]}})
}

#[tokio::test(start_paused = true)]
async fn a_cluster_goes_on_when_it_is_not_told_what_was_written_to_itself() {
    misses(241, "replicatedclusters", "orders", version()).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_goes_on_when_it_is_not_told_what_was_written_to_a_member() {
    misses(242, "/members", "orders-a-1", version()).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_goes_on_when_it_is_not_told_what_was_written_to_a_workload_or_a_pod() {
    misses(243, "statefulsets", "orders-a-1", version()).await;
    misses(244, "pods", "orders-a-1-0", version()).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_goes_on_when_it_is_not_told_what_it_made() {
    misses(245, "/members", "orders-a-2", nodes(3)).await;
    misses(246, "persistentvolumeclaims", "data-orders-a-2", nodes(3)).await;
    misses(247, "statefulsets", "orders-a-2", nodes(3)).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_goes_on_when_it_is_not_told_what_it_let_go_of() {
    let world = misses(248, "/members", "orders-a-1", nodes(1)).await;
    assert_eq!(world.names::<Member>().await, ["orders-a-0"]);
}
