//! What keeps failing is tried again ever more seldom, whatever happens around it; and status is true all the same.

use std::time::Duration;

use kube::api::PostParams;
use muster_api::cluster::ReplicatedClusterStatus;
use serde_json::json;
use tokio::time::Instant;

use super::help::condition;
use super::world::{World, pause};

/// How long events come, and how far apart: two hundred in a second.
const STORM: Duration = Duration::from_secs(20);
const APART: Duration = Duration::from_millis(5);
/// What a person is promised.
const SECOND: Duration = Duration::from_secs(1);

/// A cluster with a Service that cannot be written.
async fn failing(seed: u64) -> World {
    let world = World::new(seed).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.calls.refuse(Some(("services", "orders".to_owned(), "not for you")));
    world.patch("orders", json!({"spec": {"service": {"annotations": {"example.org/a": "b"}}}})).await;
    world
        .until("orders", "to say what is refused", |cluster| {
            condition(cluster, "InfrastructureReady").reason == "ApplyRefused"
        })
        .await;
    world.calls.take();
    world
}

/// How often it was tried since this was last asked.
fn tries(world: &World) -> usize {
    let calls = world.calls.take().into_iter();
    calls.filter(|call| call.starts_with("write") && call.contains("services orders ")).count()
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_events_does_not_make_a_failing_cluster_be_tried_all_the_time() {
    let world = failing(640).await;
    let began = Instant::now();
    let mut edits = 0;
    while began.elapsed() < STORM {
        edits += 1;
        let edit = json!({"metadata": {"annotations": {"example.org/edit": format!("{edits}")}}});
        world.patch("orders", edit).await;
        pause(APART).await;
    }
    let (tried, seconds) = (tries(&world), STORM.as_secs());
    assert!(edits > 3_000, "{edits} edits are no storm");
    assert!(tried as u64 <= 2 * seconds + 3, "tried {tried} times in {seconds} s");
    let failed = "muster_reconcile_errors_total{kind=\"ReplicatedCluster\",reason=";
    let figures = world.figures();
    assert!(figures.lines().any(|line| line.starts_with(failed)), "{figures}");
    // Without events it is left alone for longer and longer.
    pause(Duration::from_secs(600)).await;
    let tried = tries(&world);
    assert!((8..=25).contains(&tried), "tried {tried} times in ten minutes");
    // What is refused no longer is done soon after something is told of it.
    world.calls.refuse(None);
    world.patch("orders", json!({"metadata": {"annotations": {"example.org/edit": "last"}}})).await;
    pause(SECOND).await;
    assert!(tries(&world) > 0, "it was looked at");
    world.ready("orders").await;
}

#[tokio::test(start_paused = true)]
async fn status_of_a_failing_cluster_is_put_right_within_a_second() {
    let world = failing(641).await;
    pause(Duration::from_secs(300)).await;
    let truth = world.clusters().get("orders").await.unwrap().status.unwrap();
    for _ in 0..20 {
        // At any time of the rest, and of the pass.
        pause(Duration::from_millis(313)).await;
        let mut garbled = world.clusters().get("orders").await.unwrap();
        let status = garbled.status.as_mut().unwrap();
        (status.phase, status.conditions) = (Some("Running".into()), Vec::new());
        world.clusters().replace_status("orders", &PostParams::default(), &garbled).await.unwrap();
        pause(SECOND).await;
        let status = world.clusters().get("orders").await.unwrap().status.unwrap();
        let said = |status: &ReplicatedClusterStatus| {
            let conditions = status.conditions.iter();
            let conditions =
                conditions.map(|one| (one.type_.clone(), one.status.clone(), one.reason.clone()));
            (status.phase.clone(), conditions.collect::<Vec<_>>())
        };
        assert_eq!(said(&status), said(&truth));
    }
}
