//! Events for what a person wants to know, each said once; and the figures that move.

use std::time::Duration;

use kube::api::{Patch, PatchParams};
use muster_protocol::Storage;
use serde_json::json;

use super::help::clustering;
use super::world::{Trouble, World, is, pause};

/// How often this was said, by reason and by a word in it.
fn times(said: &[(String, String, String)], tone: &str, reason: &str, word: &str) -> usize {
    let same = |one: &&(String, String, String)| one.0 == tone && one.1 == reason && one.2.contains(word);
    said.iter().filter(same).count()
}

#[tokio::test(start_paused = true)]
async fn what_a_person_wants_to_know_is_said_once() {
    let mut world = World::new(601).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let said = world.said_of("orders").await;
    assert_eq!(times(&said, "Normal", "PrimaryChanged", "orders-a-0"), 1, "{said:#?}");
    assert_eq!(times(&said, "Normal", "Ready", "True"), 1, "{said:#?}");
    assert!(
        said.iter().all(|one| one.0 == "Normal"),
        "that it is being formed is no reason to worry: {said:#?}"
    );
    // An invalid spec.
    world.patch("orders", json!({"spec": {"engine": {"version": "99"}}})).await;
    world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    world.rest().await;
    let said = world.said_of("orders").await;
    assert_eq!(times(&said, "Warning", "SpecValid", "spec.engine.version"), 1, "{said:#?}");
    world.patch("orders", json!({"spec": {"engine": {"version": "1"}}})).await;
    world.ready("orders").await;
    // Two failovers of the same kind are two pieces of news.
    for round in 1..=2 {
        let primary = world.clusters().get("orders").await.unwrap().status.unwrap().primary.unwrap();
        world.fleet.restart("shop", &primary);
        world
            .until("orders", "to fail over", |cluster| {
                let now = cluster.status.as_ref().unwrap().primary.clone();
                now.is_some_and(|now| now != primary)
            })
            .await;
        world.ready("orders").await;
        pause(Duration::from_secs(1)).await;
        let said = world.said_of("orders").await;
        assert_eq!(times(&said, "Normal", "PrimaryChanged", "served by"), 1 + round, "{said:#?}");
        assert!(times(&said, "Warning", "Available", "False") >= round, "{said:#?}");
    }
    // A pause, and its end.
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    world.patch("orders", clustering(false)).await;
    world.ready("orders").await;
    pause(Duration::from_secs(1)).await;
    let said = world.said_of("orders").await;
    assert_eq!(times(&said, "Warning", "ClusteringActive", "False"), 1, "{said:#?}");
    // A restart has nothing to say.
    world.start_operator();
    world.rest().await;
    assert_eq!(world.said_of("orders").await.len(), said.len());
}

/// What somebody writes into a status, and is put right, is not news.
#[tokio::test(start_paused = true)]
async fn a_status_that_is_put_right_is_not_told_as_if_it_had_happened() {
    let world = World::new(603).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    let count = async |name: &str| world.said_of(name).await.len();
    let before = [count("orders").await, count("orders-a-0").await];
    let lies = json!({"status": {"primary": "nobody", "conditions": [], "phase": "Failed", "role": null}});
    let params = PatchParams::default();
    for round in 0..6 {
        let patch = Patch::Merge(if round % 2 == 0 { json!({"status": null}) } else { lies.clone() });
        // A cluster counts a Member by what is stored of it, too: that is told, and true.
        if round < 3 {
            world.clusters().patch_status("orders", &params, &patch).await.unwrap();
        } else {
            world.members().patch_status("orders-a-0", &params, &patch).await.unwrap();
        }
        pause(Duration::from_secs(2)).await;
        world.ready("orders").await;
        if round == 2 {
            assert_eq!(count("orders").await, before[0], "{:#?}", world.said_of("orders").await);
        }
    }
    assert_eq!(count("orders-a-0").await, before[1], "{:#?}", world.said_of("orders-a-0").await);
    // What does happen is told.
    let primary = world.clusters().get("orders").await.unwrap().status.unwrap().primary.unwrap();
    world.fleet.restart("shop", &primary);
    world.until("orders", "to notice", |cluster| !is(cluster, "Ready", "True")).await;
    world.ready("orders").await;
    pause(Duration::from_secs(1)).await;
    assert!(count("orders").await > before[0]);
}

/// The value of a line of the figures.
fn value(figures: &str, line: &str) -> Option<f64> {
    let found =
        figures.lines().find(|found| found.starts_with(line) && found[line.len()..].starts_with(' '))?;
    found.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(start_paused = true)]
async fn every_figure_is_there_and_moves() {
    let world = World::new(602).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let of = |name: &str| format!("{name}{{cluster=\"orders\",name=\"orders-a-1\",namespace=\"shop\"}}");
    let before = world.figures();
    for figure in [
        "muster_leader",
        "muster_epoch",
        "muster_agent_streams",
        "muster_agent_streams_wanted",
        "muster_clusters{phase=\"Running\"}",
        "muster_reconcile_total{kind=\"ReplicatedCluster\",result=\"succeeded\"}",
        "muster_reconcile_total{kind=\"Member\",result=\"succeeded\"}",
        "muster_reconcile_total{kind=\"ReplicationEngine\",result=\"succeeded\"}",
        "muster_reconcile_duration_seconds_count{kind=\"ReplicatedCluster\"}",
        "muster_queue_depth{kind=\"ReplicatedCluster\"}",
        "muster_status_writes_total{kind=\"ReplicatedCluster\",result=\"written\"}",
        "muster_agent_commands_total{kind=\"seed\",result=\"obeyed\"}",
        "muster_cluster_clustering_stopped{name=\"orders\",namespace=\"shop\"}",
        "muster_cluster_reconciliation_stopped{name=\"orders\",namespace=\"shop\"}",
    ] {
        assert!(value(&before, figure).is_some(), "{figure}\n{before}");
    }
    assert_eq!(value(&before, "muster_agent_streams"), Some(2.0));
    assert_eq!(value(&before, &of("muster_member_sequence")), Some(0.0));
    for _ in 0..3 {
        world.fleet.write("shop", "orders");
    }
    world.fleet.measure("shop", "orders-a-1", |measured| {
        measured.lag_seconds = Some(7);
        measured.storage = Some(Storage { capacity: 1000, free: 123 });
    });
    pause(Duration::from_secs(3)).await;
    let after = world.figures();
    assert_eq!(value(&after, &of("muster_member_sequence")), Some(3.0), "{after}");
    assert_eq!(value(&after, &of("muster_member_lag_seconds")), Some(7.0));
    assert_eq!(value(&after, &of("muster_member_storage_free_bytes")), Some(123.0));
    assert_eq!(value(&after, &of("muster_member_storage_capacity_bytes")), Some(1000.0));
    // A conflict, an error by its reason, and a phase that changes.
    let params = PatchParams::default();
    for round in 0..200 {
        let edit = json!({"metadata": {"annotations": {"example.org/edit": format!("{round}")}}});
        if round % 20 == 0 {
            world.fleet.restart("shop", "orders-a-1");
        }
        world.clusters().patch("orders", &params, &Patch::Merge(edit)).await.unwrap();
        pause(Duration::from_millis(5)).await;
    }
    world.ready("orders").await;
    // Among the first writes for a new generation is the cluster's status: each of them meets a conflict once.
    for (write, nodes) in (1..).zip([1, 2, 1, 2, 1]) {
        world.rest().await;
        world.calls.trouble(world.calls.writes() + write, Trouble::Conflict);
        world.scale("orders", nodes).await;
        world.ready("orders").await;
    }
    pause(Duration::from_secs(2)).await;
    let last = world.figures();
    assert_eq!(value(&last, &of("muster_member_sequence")), None, "what is gone is not shown");
    assert_eq!(value(&last, "muster_clusters{phase=\"Running\"}"), Some(1.0));
    assert!(
        value(&last, "muster_conflicts_total{kind=\"ReplicatedCluster\"}").is_some_and(|count| count > 0.0),
        "{last}"
    );
}
