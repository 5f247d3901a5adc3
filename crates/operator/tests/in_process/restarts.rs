//! What an operator that was just started does not do: it knows nobody yet, so it lets nobody go, and calls nobody Ready.

use std::time::Duration;

use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use muster_api::{Member, ReplicatedCluster};
use muster_core::manager::requests::Ask;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::help::{member_is, reconciliation};
use super::world::{World, is_ready, pause};

/// How often these tests look: more often than anything can be said and taken back.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Shorter than a manager waits for those it expects.
const NOT_LOOKED_YET: Duration = Duration::from_secs(9);
/// For how long an operator that was just started may keep to itself what it finds (DESIGN section 4, point 3, and the moment that
/// `withhold.rs` adds to it).
const WITHHELD: Duration = Duration::from_secs(11);
/// How long anything may take, in the world's own time.
const PATIENCE: Duration = Duration::from_secs(300);

impl World {
    pub(crate) async fn all_members(&self) -> Vec<Member> {
        self.members().list(&ListParams::default()).await.unwrap().items
    }

    /// Nobody operates any more.
    fn stop_operator(&mut self) {
        self.operator = None;
    }
}

/// A restart in the middle of a scale-down, when the member with the highest ordinal is the primary and one is not heard: nobody
/// is chosen to go before everyone who is expected was looked at, and then it is not the primary.
#[tokio::test(start_paused = true)]
async fn after_a_restart_nobody_is_chosen_to_leave_before_everyone_was_looked_at() {
    let mut world = World::new(702).await;
    world.create("orders", 4).await;
    world.ready("orders").await;
    let (result, why) = world.ask("last", Ask::Switchover { to: Some("orders-a-3".into()) }).await;
    assert_eq!(result, "Done", "{why}");
    world.ready("orders").await;
    world.stop_operator();
    world.scale("orders", 2).await;
    for left in [3, 2] {
        let chosen = leaving(&world.all_members().await);
        world.fleet.isolate("shop", "orders-a-0", true);
        world.start_operator();
        let began = Instant::now();
        while began.elapsed() < NOT_LOOKED_YET {
            let now = leaving(&world.all_members().await);
            assert!(now.iter().all(|name| chosen.contains(name)), "chosen too early: {now:?}");
            pause(LOOK_EVERY).await;
        }
        world.fleet.isolate("shop", "orders-a-0", false);
        let began = Instant::now();
        while world.all_members().await.len() > left {
            assert!(began.elapsed() < PATIENCE, "{}", world.describe("orders").await);
            pause(LOOK_EVERY).await;
        }
        // In the middle of it.
        world.stop_operator();
    }
    world.start_operator();
    world.ready("orders").await;
    assert_eq!(world.names::<Member>().await, ["orders-a-0", "orders-a-3"]);
    assert_eq!(world.fleet.serving("shop", "orders"), ["orders-a-3"]);
    world.unharmed();
}

/// One who is not heard is waited for, and not longer than may be.
#[tokio::test(start_paused = true)]
async fn after_a_restart_status_is_written_as_soon_as_who_is_not_heard_was_waited_for() {
    let mut world = World::new(704).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.rest().await;
    world.stop_operator();
    world.fleet.isolate("shop", "orders-a-2", true);
    world.calls.take();
    world.start_operator();
    let began = Instant::now();
    while began.elapsed() < NOT_LOOKED_YET {
        assert_eq!(world.writes(), Vec::<String>::new(), "after {:?}", began.elapsed());
        pause(LOOK_EVERY).await;
    }
    while is_ready(&world.clusters().get("orders").await.unwrap()) {
        assert!(began.elapsed() <= WITHHELD, "{}", world.describe("orders").await);
        pause(LOOK_EVERY).await;
    }
    world.unharmed();
}

fn leaving(members: &[Member]) -> Vec<String> {
    members.iter().filter(|it| it.metadata.deletion_timestamp.is_some()).map(ResourceExt::name_any).collect()
}

/// A Member whose workload was to change when it was deleted: nothing is applied to it any more, and nobody is told that it runs
/// what it never got.
#[tokio::test(start_paused = true)]
async fn a_member_that_leaves_is_not_said_to_run_what_it_never_got() {
    let mut world = World::new(703).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.stop_operator();
    world.edit::<Member>("orders-a-2", json!({"spec": {"workload": {"version": "2"}}})).await;
    world.members().delete("orders-a-2", &DeleteParams::default()).await.unwrap();
    world.scale("orders", 2).await;
    world.start_operator();
    let began = Instant::now();
    while let Some(member) = world.members().get_opt("orders-a-2").await.unwrap() {
        assert!(!member_is(&member, "Ready", "True"), "it runs version 1: {:?}", member.status);
        assert!(began.elapsed() < PATIENCE, "{}", world.describe("orders").await);
        pause(LOOK_EVERY).await;
    }
    world.ready("orders").await;
    world.unharmed();
}

/// Nothing is applied to it, and its manager goes on all the same: an operator that was just started reaches its agents, too.
async fn fails_over_after_a_restart(seed: u64, patch: Value) {
    let mut world = World::new(seed).await;
    world.create("orders", 3).await;
    let primary = world.ready("orders").await.status.unwrap().primary.unwrap();
    world.patch("orders", patch).await;
    world.rest().await;
    world.stop_operator();
    world.start_operator();
    world.rest().await;
    world.calls.take();
    world.fleet.restart("shop", &primary);
    let elsewhere = |cluster: &ReplicatedCluster| {
        let now = cluster.status.as_ref().and_then(|status| status.primary.as_ref());
        now.is_some_and(|now| *now != primary)
    };
    world.until("orders", "to fail over", elsewhere).await;
    let touched = world.writes();
    assert!(!touched.iter().any(|write| write.contains("secrets")), "{touched:?}");
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_while_reconciliation_is_stopped_fails_over() {
    fails_over_after_a_restart(705, reconciliation(true)).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_beside_an_invalid_spec_fails_over() {
    fails_over_after_a_restart(706, json!({"spec": {"engine": {"version": "99"}}})).await;
}
