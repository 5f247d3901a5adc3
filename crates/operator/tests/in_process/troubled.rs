//! A pass that cannot do one thing does the others, reports, and comes back in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use muster_api::Member;
use muster_api::names::FINALIZER_MEMBER;
use muster_core::manager::requests::Ask;
use muster_operator::clock::{Clock, RuntimeClock};
use muster_operator::context::Chance;
use muster_operator::lease::Authority;
use muster_operator::run::Operator;
use serde_json::json;

use super::help::{condition, member_is, why};
use super::world::{Trouble, World, is_ready, pause};

/// Within this everything that was withheld is told.
const SOON: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_cluster_that_cannot_be_held_says_so_and_nothing_is_made() {
    let world = World::new(620).await;
    world.calls.refuse(Some(("replicatedclusters", "orders".to_owned(), "metadata is not for you")));
    world.create("orders", 1).await;
    let refused = world
        .until("orders", "to say what is refused", |cluster| {
            cluster.status.is_some() && condition(cluster, "InfrastructureReady").reason == "ApplyRefused"
        })
        .await;
    assert!(condition(&refused, "InfrastructureReady").message.contains("not for you"));
    assert_eq!(world.names::<Member>().await, Vec::<String>::new());
    world.calls.refuse(None);
    world.ready("orders").await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_member_that_cannot_be_held_says_so_and_nothing_is_made() {
    let world = World::new(621).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.calls.refuse(Some(("members", "orders-a-0".to_owned(), "metadata is not for you")));
    world.edit::<Member>("orders-a-0", json!({"metadata": {"finalizers": null}})).await;
    let member = world
        .until_member("orders-a-0", "to say what is refused", |member| {
            why(member, "WorkloadReady").0 == "ApplyRefused"
        })
        .await;
    assert!(why(&member, "WorkloadReady").1.contains("not for you"));
    world.calls.refuse(None);
    world.ready("orders").await;
    let held = world.members().get("orders-a-0").await.unwrap();
    assert_eq!(held.metadata.finalizers, Some(vec![FINALIZER_MEMBER.to_owned()]));
}

/// What keeps a request from being taken up keeps nobody from reporting.
#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_taken_up_does_not_hide_what_happens() {
    let world = World::new(622).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.calls.refuse(Some(("replicatedclusters", "orders".to_owned(), "metadata is not for you")));
    let annotations =
        json!({"muster.dev/request": "{}", "muster.dev/last-backup-time": "2025-12-31T23:00:00Z"});
    world.patch("orders", json!({"metadata": {"annotations": annotations}})).await;
    world
        .until("orders", "to show its backup", |cluster| {
            cluster.status.as_ref().is_some_and(|status| status.last_backup_time.is_some())
        })
        .await;
}

/// Others may write at the same moment: the request is the same.
#[tokio::test(start_paused = true)]
async fn a_request_is_taken_up_in_the_pass_that_sees_it_whatever_else_is_edited() {
    let world = World::new(623).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.trouble(world.calls.writes() + 1, Trouble::Conflict);
    let (result, message) = world.ask("one", Ask::Switchover { to: Some("orders-a-1".into()) }).await;
    assert_eq!(result, "Done", "{message}");
    assert!(!world.figures().contains("reason=\"Conflict\""), "{}", world.figures());
    world.ready("orders").await;
    world.unharmed();
}

/// A Member that nobody can look at withholds the status of its cluster for a moment, not until the next look in ten minutes.
#[tokio::test(start_paused = true)]
async fn a_status_that_is_withheld_is_written_when_that_time_is_over() {
    let mut world = World::new(624).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.operator = None;
    world.edit::<Member>("orders-a-1", json!({"spec": {"desiredState": "Disabled"}})).await;
    let annotations = json!({"muster.dev/last-backup-time": "2025-12-31T23:00:00Z"});
    world.patch("orders", json!({"metadata": {"annotations": annotations}})).await;
    world.calls.refuse(Some(("members/status", "orders-a-1".to_owned(), "status is not for you")));
    world.start_operator();
    pause(SOON).await;
    let cluster = world.clusters().get("orders").await.unwrap();
    assert!(cluster.status.as_ref().unwrap().last_backup_time.is_some(), "{:?}", cluster.status);
    assert!(!is_ready(&cluster), "one of its Members is not known");
}

/// What could not be read may be there.
#[tokio::test(start_paused = true)]
async fn a_claim_that_cannot_be_read_is_not_said_to_be_missing() {
    let world = World::new(625).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world
        .make::<PersistentVolumeClaim>(json!({
            "metadata": {"name": "data-extra"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}},
        }))
        .await;
    world.calls.hide(Some(("persistentvolumeclaims", "data-extra".to_owned())));
    world
        .make::<Member>(json!({
            "metadata": {"name": "extra"},
            "spec": {"clusterName": "orders", "pool": "a", "storage": [{"pvcName": "data-extra"}]},
        }))
        .await;
    let member = world
        .until_member("extra", "to be looked at", |member| {
            why(member, "StorageReady").0 == "ObservationFailed"
        })
        .await;
    assert!(member_is(&member, "StorageReady", "Unknown"), "{:?}", member.status);
    assert!(why(&member, "StorageReady").1.contains("data-extra"));
    world.calls.hide(None);
    world.until_member("extra", "to be Ready", |member| member_is(member, "Ready", "True")).await;
}

/// What we wrote and were not told back yet is not written again, however often its cluster is looked at meanwhile.
#[tokio::test(start_paused = true)]
async fn no_pass_acts_on_what_was_before_our_own_last_write() {
    let world = World::new(627).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.rest().await;
    world.writes();
    let late = Duration::from_secs(4);
    world.calls.delay(Some(("services", late)));
    world.patch("orders", json!({"spec": {"service": {"annotations": {"example.org/a": "b"}}}})).await;
    let began = tokio::time::Instant::now();
    let mut services = 0;
    for edit in 0.. {
        if began.elapsed() >= late {
            break;
        }
        pause(Duration::from_millis(100)).await;
        let edit = json!({"metadata": {"annotations": {"example.org/edit": format!("{edit}")}}});
        world.patch("orders", edit).await;
        let written = world.writes();
        services += written.iter().filter(|call| call.contains("services orders ")).count();
        let ready = is_ready(&world.clusters().get("orders").await.unwrap());
        assert!(!ready || services == 1, "Ready before it was written");
    }
    assert_eq!(services, 1, "the same change was written again");
    world.calls.delay(None);
    world.ready("orders").await;
}

/// A clock that breaks whoever looks at it, once it is told to.
struct Bomb {
    clock: RuntimeClock,
    armed: AtomicBool,
}

impl Clock for Bomb {
    fn now(&self) -> Timestamp {
        assert!(!self.armed.load(Ordering::Relaxed), "the clock is broken");
        self.clock.now()
    }
}

#[tokio::test(start_paused = true)]
async fn an_operator_of_which_a_part_breaks_says_so() {
    let mut world = World::new(626).await;
    world.operator = None;
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let bomb = Arc::new(Bomb { clock: RuntimeClock::starting_at(began), armed: AtomicBool::new(false) });
    let authority = Authority::uncontested(9, Arc::new(RuntimeClock::starting_at(began)));
    let parts = world.parts(world.server.clone(), authority, bomb.clone(), Chance::seeded(1));
    let mut operator = Operator::start(parts);
    world.create("orders", 1).await;
    tokio::select! {
        broken = operator.failed() => panic!("{broken}"),
        _ = world.ready("orders") => {}
    }
    bomb.armed.store(true, Ordering::Relaxed);
    world.scale("orders", 2).await;
    let broken = tokio::time::timeout(SOON, operator.failed()).await.unwrap();
    assert!(broken.to_string().contains("the clock is broken"), "{broken}");
}
