//! People against the writer of status, on a real server: the truth is back within a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use muster_api::{ReplicatedCluster, ReplicatedClusterStatus};
use muster_test_world::spy::Hook;
use muster_test_world::{World, is_ready, pause};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::scene::{Scene, live};

/// What a person is promised.
const SECOND: Duration = Duration::from_secs(1);
/// A machine that is busy with other things may take so many calls' time longer.
const CALLS: u32 = 20;
/// Fifty times a second.
const TOUCH_EVERY: Duration = Duration::from_millis(20);
/// How many of them are under way at most: more would only wait for each other at one object.
const TOUCHES_AT_ONCE: usize = 4;
/// How long the spec is edited between every read and every write of a status.
const EDITING: Duration = Duration::from_secs(30);

impl Scene {
    /// How long a second is on this machine now.
    async fn second(&self) -> Duration {
        let began = Instant::now();
        self.world.annotate("orders", "example.org/measured", Some(&format!("{began:?}"))).await;
        SECOND + began.elapsed() * CALLS
    }

    /// Waits until this is true; fails if that takes longer than a second.
    async fn within_a_second(
        &self,
        what: &str,
        test: impl Fn(&ReplicatedCluster) -> bool,
    ) -> ReplicatedCluster {
        let (second, began) = (self.second().await, Instant::now());
        let cluster = self.world.until("orders", what, test).await;
        assert!(began.elapsed() <= second, "it took {:?} {what}, more than {second:?}", began.elapsed());
        cluster
    }
}

/// Without the times, which say when something became so.
fn timeless(cluster: &ReplicatedCluster) -> ReplicatedClusterStatus {
    let mut status = cluster.status.clone().unwrap_or_default();
    for condition in &mut status.conditions {
        condition.last_transition_time = muster_api::Time(jiff::Timestamp::UNIX_EPOCH);
    }
    status
}

/// Waits until nothing has been written for a while.
async fn settled(world: &World) -> ReplicatedCluster {
    let mut before = world.ready("orders").await;
    loop {
        pause(SECOND).await;
        let now = world.ready("orders").await;
        if now.metadata.resource_version == before.metadata.resource_version {
            return now;
        }
        before = now;
    }
}

#[tokio::test]
async fn r0_8_a_garbled_or_emptied_status_is_put_right_within_a_second() {
    let fight = live("garbled", 84, 3).await;
    let truth = settled(&fight.world).await;
    let commands = fight.world.epochs.commands();
    for garbage in [
        json!({}),
        json!({"phase": "Failed", "restoreReplicas": 1, "conditions": [], "observedGeneration": 99}),
        json!({"phase": "Running", "observedGeneration": 1, "members": {"failed": ["orders-a-0"]}, "primary": "nobody"}),
    ] {
        let mut object = fight.world.clusters().get("orders").await.unwrap();
        object.status = Some(serde_json::from_value(garbage).unwrap());
        let written = fight.world.clusters().replace_status("orders", &PostParams::default(), &object).await;
        assert_ne!(timeless(&written.unwrap()), timeless(&truth));
        let back = |cluster: &ReplicatedCluster| timeless(cluster) == timeless(&truth);
        let restored = fight.within_a_second("to say the truth", back).await;
        assert_eq!(restored.spec, truth.spec);
        assert_eq!(restored.metadata.generation, truth.metadata.generation);
    }
    assert_eq!(fight.world.epochs.commands(), commands, "a status decides nothing");
    fight.end().await;
}

#[tokio::test]
async fn r0_3_annotations_touched_fifty_times_a_second_do_not_hide_the_truth() {
    let fight = live("touched", 85, 3).await;
    let (api, touched, waited) =
        (fight.world.clusters(), Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (count, waits, started) = (touched.clone(), waited.clone(), Instant::now());
    let touching = tokio::spawn(async move {
        // One that is late is made up for, and holds up nobody: a busy server answers late.
        let (mut due, mut under_way) = (tokio::time::interval(TOUCH_EVERY), JoinSet::new());
        loop {
            due.tick().await;
            while under_way.try_join_next().is_some() {}
            if under_way.len() == TOUCHES_AT_ONCE {
                waits.fetch_add(1, Ordering::SeqCst);
                under_way.join_next().await.unwrap().unwrap();
            }
            let (api, edit) = (api.clone(), count.fetch_add(1, Ordering::SeqCst).to_string());
            under_way.spawn(async move {
                let patch = json!({"metadata": {"annotations": {"example.org/edit": edit}}});
                api.patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
            });
        }
    });
    let primary = |cluster: &ReplicatedCluster| cluster.status.as_ref().and_then(|it| it.primary.clone());
    for _ in 0..3 {
        let old = primary(&fight.world.ready("orders").await).unwrap();
        fight.world.fleet.restart(&fight.world.namespace, &old);
        // The truth, when it has come about, is told within a second.
        let began = Instant::now();
        while fight.world.fleet.serving(&fight.world.namespace, "orders").is_empty() {
            assert!(began.elapsed() < fight.world.patience, "nobody serves");
            pause(Duration::from_millis(5)).await;
        }
        let serving = fight.world.fleet.serving(&fight.world.namespace, "orders");
        fight
            .within_a_second("to name who serves", |cluster| primary(cluster).as_ref() == serving.first())
            .await;
    }
    touching.abort();
    let (often, waited) = (touched.load(Ordering::SeqCst), waited.load(Ordering::SeqCst));
    let expected = started.elapsed().as_millis() / TOUCH_EVERY.as_millis();
    // Less often only where the server, all the while, took no more.
    let busy = waited * 2 >= often;
    assert!(often as u128 * 10 >= expected, "touched {often} times of {expected}");
    assert!(
        busy || often as u128 * 2 >= expected,
        "touched {often} times of {expected}, waited {waited} times"
    );
    fight.world.ready("orders").await;
    fight.end().await;
}

#[tokio::test]
async fn r0_3_a_spec_edited_between_every_read_and_write_is_told_of_within_a_second_after_the_last_edit() {
    let fight = live("edited", 86, 1).await;
    let (edits, api) = (Arc::new(AtomicUsize::new(0)), fight.world.clusters());
    let counted = edits.clone();
    let hook: Hook = Arc::new(move |call| {
        let (api, edits) = (api.clone(), counted.clone());
        let is_report = call.resource == "replicatedclusters/status";
        Box::pin(async move {
            if is_report {
                let edit = edits.fetch_add(1, Ordering::SeqCst).to_string();
                let patch = json!({"spec": {"service": {"annotations": {"example.org/edit": edit}}}});
                api.patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
            }
        })
    });
    fight.world.spy.before(Some(hook));
    fight.world.fleet.restart(&fight.world.namespace, "orders-a-0");
    let began = Instant::now();
    while began.elapsed() < EDITING {
        pause(Duration::from_millis(100)).await;
        let cluster = fight.world.clusters().get("orders").await.unwrap();
        let status = cluster.status.as_ref().unwrap();
        assert!(status.observed_generation <= cluster.metadata.generation);
    }
    fight.world.spy.before(None);
    // One edit may still be under way.
    let made = edits.load(Ordering::SeqCst);
    assert!(made > 3, "nobody edited");
    let is_last = |cluster: &ReplicatedCluster| {
        cluster.spec.service.annotations.get("example.org/edit") == Some(&(made - 1).to_string())
    };
    let last = fight.within_a_second("to have the last edit", is_last).await;
    let live = fight.within_a_second("to be Ready", is_ready).await;
    assert_eq!(live.spec, last.spec, "the spec is the person's");
    fight.end().await;
}
