//! One thing happens to the Lease at a time, and what must come of it.

use std::time::Duration;

use futures::FutureExt;
use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::Fault;
use muster_operator::lease::{Error, MAX_EPOCH_LEAD, NotLeader, Options};
use serde_json::json;
use tokio::time::Instant;

use crate::process::Process;
use crate::world::{NAMESPACE, World, all_the_time, within};

/// What a leader writes between two renewals, in seconds.
const PERIOD: u64 = 2;
/// How long others wait, in seconds.
const DURATION: u64 = 15;

#[tokio::test(start_paused = true)]
async fn the_first_leader_waits_in_case_the_lease_was_deleted() {
    let mut world = World::new(1).await;
    let process = world.start(0);
    all_the_time(DURATION - 1, || assert_eq!(process.leads(), None)).await;
    let epoch = within(2, || process.leads()).await;
    assert!(epoch.abs_diff(world.seconds()) <= 1);
    let lease = world.lease().await.unwrap();
    assert_eq!(lease.metadata.annotations.unwrap()["muster.dev/epoch"], epoch.to_string());
    assert_eq!(world.holder().await, process.identity);
}

#[tokio::test(start_paused = true)]
async fn on_a_new_store_there_is_nobody_to_wait_for() {
    let mut world = World::new(1).await;
    let began = Instant::now();
    world.leader().await;
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_left_in_peace_stays_leader_under_one_epoch() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let (epoch, follower) = (leader.leads(), world.start(0));
    let version = |lease: Option<k8s_openapi::api::coordination::v1::Lease>| {
        lease.unwrap().metadata.resource_version.unwrap().parse::<u64>().unwrap()
    };
    let before = version(world.lease().await);
    all_the_time(600, || assert_eq!((leader.leads(), follower.leads()), (epoch, None))).await;
    let writes = version(world.lease().await) - before;
    assert!((295..=301).contains(&writes), "{writes} renewals in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn when_a_leader_dies_another_takes_over_under_a_higher_epoch() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(20, || assert_eq!(follower.leads(), None)).await;
    let old = leader.leads().unwrap();
    drop(leader);
    all_the_time(DURATION - PERIOD - 1, || assert_eq!(follower.leads(), None)).await;
    assert!(within(2 * PERIOD + 1, || follower.leads()).await > old);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_has_ended_before_another_begins() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(20, || assert!(leader.leads().is_some())).await;
    leader.link.fall_silent();
    all_the_time(7, || assert!(leader.leads().is_some())).await;
    within(3, || leader.leads().is_none().then_some(())).await;
    assert_eq!(leader.authority.now(), Err(NotLeader::Lapsed));
    all_the_time(4, || assert_eq!(follower.leads(), None)).await;
    let epoch = within(5, || follower.leads()).await;
    leader.link.mend();
    all_the_time(60, || assert_eq!((leader.leads(), follower.leads()), (None, Some(epoch)))).await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_stood_still_has_no_mandate_when_it_goes_on() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(20, || assert!(leader.leads().is_some())).await;
    leader.brake.stop();
    within(DURATION + 2 * PERIOD, || {
        assert!(leader.leads().is_none() || follower.leads().is_none());
        follower.leads()
    })
    .await;
    leader.brake.go();
    all_the_time(30, || assert!(leader.leads().is_none() && follower.leads().is_some())).await;
}

#[tokio::test(start_paused = true)]
async fn a_lapsed_leader_that_finds_the_lease_still_its_own_takes_it_anew() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let old = leader.leads().unwrap();
    leader.link.refuse();
    within(11, || leader.leads().is_none().then_some(())).await;
    leader.link.mend();
    assert!(within(PERIOD + 1, || leader.leads()).await > old);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_gives_the_lease_back_when_all_work_has_ended() {
    let mut world = World::new(1).await;
    let mut leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    let epoch = leader.leads().unwrap();
    let work = leader.authority.begin(epoch).unwrap();
    leader.shut_down();
    within(1, || leader.leads().is_none().then_some(())).await;
    all_the_time(25, || assert!(leader.leads().is_none() && follower.leads().is_none())).await;
    assert_eq!(world.holder().await, leader.identity, "kept while something is at work");
    drop(work);
    assert!(within(PERIOD + 1, || follower.leads()).await > epoch);
    leader.outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_give_the_lease_back_when_work_does_not_end() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let identity = leader.identity.clone();
    let work = leader.authority.begin(leader.leads().unwrap()).unwrap();
    leader.end().await.unwrap();
    assert_eq!(world.holder().await, identity);
    drop(work);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_gives_the_lease_back_when_all_that_was_sent_is_answered() {
    let mut world = World::new(1).await;
    let mut leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    let epoch = leader.leads().unwrap();
    let act = leader.authority.act().unwrap();
    leader.shut_down();
    within(1, || leader.leads().is_none().then_some(())).await;
    assert_eq!(leader.authority.act().err(), Some(NotLeader::Follower), "nothing more is sent");
    all_the_time(20, || assert_eq!(follower.leads(), None)).await;
    act.answered();
    assert!(within(PERIOD + 1, || follower.leads()).await > epoch);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_leaves_the_lease_to_run_out_when_something_may_take_effect_yet() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    let identity = leader.identity.clone();
    // Cut off: what it was sent by has ended, and the server may be at it still.
    drop(leader.authority.act().unwrap());
    let began = Instant::now();
    leader.end().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "the process does not wait for it");
    assert_eq!(world.holder().await, identity);
    all_the_time(DURATION - PERIOD - 1, || assert_eq!(follower.leads(), None)).await;
    within(2 * PERIOD + 1, || follower.leads()).await;
}

#[tokio::test(start_paused = true)]
async fn a_follower_ends_at_once_and_changes_nothing() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    follower.end().await.unwrap();
    assert_eq!(world.holder().await, leader.identity);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_costs_its_leader_a_new_epoch_and_no_more() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let old = leader.leads().unwrap();
    let work = leader.authority.begin(old).unwrap();
    world.delete().await;
    within(PERIOD + 1, || leader.leads().is_none().then_some(())).await;
    all_the_time(5, || assert_eq!(leader.leads(), None, "something is still at work")).await;
    drop(work);
    assert!(within(PERIOD + 1, || leader.leads()).await > old);
}

#[tokio::test(start_paused = true)]
async fn who_finds_the_lease_deleted_first_still_waits_for_the_leader_that_was() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let old = leader.leads().unwrap();
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    leader.brake.stop();
    world.delete().await;
    all_the_time(DURATION - 1, || assert_eq!(follower.leads(), None)).await;
    let new = within(PERIOD + 2, || follower.leads()).await;
    leader.brake.go();
    all_the_time(60, || assert_eq!((leader.leads(), follower.leads()), (None, Some(new)))).await;
    assert!(new > old);
}

#[tokio::test(start_paused = true)]
async fn other_edits_of_the_lease_change_nothing() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let epoch = leader.leads();
    for round in 0..20 {
        world.patch(json!({"metadata": {"labels": {"touched": round.to_string()}}})).await;
        all_the_time(1, || assert_eq!(leader.leads(), epoch)).await;
    }
    let lease = world.lease().await.unwrap();
    assert_eq!(lease.metadata.labels.unwrap()["touched"], "19", "and they are kept");
}

#[tokio::test(start_paused = true)]
async fn a_garbled_epoch_is_replaced_by_a_new_one_that_no_absurd_one_lifts() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let absurd = (world.seconds() + MAX_EPOCH_LEAD + 1_000).to_string();
    for text in ["soon", "", "1", "-7", &absurd] {
        let old = leader.leads().unwrap();
        world.write_epoch(text).await;
        within(PERIOD + 1, || leader.leads().filter(|epoch| *epoch > old)).await;
        assert!(leader.leads().unwrap() <= world.seconds() + 10, "{text}");
    }
    let high = world.seconds() + 1_000_000;
    world.write_epoch(&high.to_string()).await;
    within(PERIOD + 1, || leader.leads().filter(|epoch| *epoch == high + 1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_a_person_removed_is_still_waited_for() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    all_the_time(5, || {}).await;
    leader.brake.stop();
    world.patch(json!({"spec": {"holderIdentity": ""}})).await;
    all_the_time(DURATION - 1, || assert_eq!(follower.leads(), None)).await;
    within(2 * PERIOD, || follower.leads()).await;
}

#[tokio::test(start_paused = true)]
async fn an_outranked_holder_leads_under_a_higher_epoch_when_its_work_has_ended() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let old = leader.leads().unwrap();
    let work = leader.authority.begin(old).unwrap();
    leader.authority.outranked(old + 1_000);
    assert_eq!(leader.authority.now(), Err(NotLeader::Outranked { seen: old + 1_000 }));
    all_the_time(20, || assert_eq!(leader.leads(), None)).await;
    drop(work);
    assert_eq!(within(PERIOD + 1, || leader.leads()).await, old + 1_001);
    leader.authority.outranked(old + 900);
    assert_eq!(leader.leads(), Some(old + 1_001), "an answer from before");
}

#[tokio::test(start_paused = true)]
async fn an_outranked_one_that_is_not_the_holder_steps_down_and_raises_nothing() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let old = leader.leads().unwrap();
    world.patch(json!({"spec": {"holderIdentity": "another"}})).await;
    leader.authority.outranked(old + 7);
    all_the_time(10, || assert_eq!(leader.leads(), None)).await;
    let lease = world.lease().await.unwrap();
    assert_eq!(lease.metadata.annotations.unwrap()["muster.dev/epoch"], old.to_string());
    assert_eq!(lease.spec.unwrap().holder_identity.unwrap(), "another");
}

#[tokio::test(start_paused = true)]
async fn who_is_outranked_again_and_again_waits_longer_and_keeps_the_lease() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let follower = world.start(0);
    let began = Instant::now();
    for _ in 0..8 {
        let epoch = within(70, || leader.leads()).await;
        leader.authority.outranked(epoch + 5);
        assert_eq!(follower.leads(), None);
    }
    assert!(began.elapsed() > Duration::from_secs(120), "{:?}", began.elapsed());
    within(70, || leader.leads()).await;
}

#[tokio::test(start_paused = true)]
async fn lost_answers_and_conflicts_of_renewals_change_nothing() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let epoch = leader.leads();
    let broken = || ApiError::new(Reason::InternalError, "broken");
    let late = Fault::Delay(Duration::from_secs(4));
    for fault in [
        Fault::LostAfter,
        Fault::After(broken()),
        Fault::LostBefore,
        Fault::Before(broken()),
        Fault::Conflict,
        late,
    ] {
        world.trouble.next("update", fault);
        all_the_time(15, || assert_eq!(leader.leads(), epoch)).await;
        assert!(world.trouble.is_over());
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_counts_from_before_it_was_sent() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let until = || leader.authority.now().unwrap().until;
    for _ in 0..2 {
        world.trouble.next("update", Fault::Delay(Duration::from_secs(4)));
    }
    let before = until();
    within(7, || (until() > before).then_some(())).await;
    let longer = until().duration_since(before);
    assert!(longer < Duration::from_millis(PERIOD * 1_000 + 10), "not from the answer on: {longer:?}");
}

#[tokio::test(start_paused = true)]
async fn lost_answers_of_a_taking_end_in_a_taking() {
    let broken = || ApiError::new(Reason::InternalError, "broken");
    for (verb, fault) in [
        ("update", Fault::LostAfter),
        ("update", Fault::After(broken())),
        ("update", Fault::Delay(Duration::from_secs(8))),
        ("create", Fault::LostAfter),
        ("create", Fault::Delay(Duration::from_secs(8))),
    ] {
        let mut world = World::new(1).await;
        world.trouble.next(verb, fault);
        let process = world.start(0);
        let epoch = within(2 * DURATION + 5, || process.leads()).await;
        all_the_time(30, || assert_eq!(process.leads(), Some(epoch))).await;
        assert!(world.trouble.is_over());
    }
}

#[tokio::test(start_paused = true)]
async fn where_the_namespace_is_missing_it_waits_for_it() {
    let mut world = World::new(1).await;
    let options = Options { namespace: "shop".into(), new_store: true, ..world.options() };
    let process = Process::start(&world.server, world.clock, 0, options);
    all_the_time(20, || assert_eq!(process.leads(), None)).await;
    world.create_namespace("shop").await;
    within(PERIOD + 1, || process.leads()).await;
    assert!(world.lease().await.is_none(), "{NAMESPACE} is not its own");
}

#[tokio::test(start_paused = true)]
async fn work_that_does_not_end_ends_the_process() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let work = leader.authority.begin(leader.leads().unwrap()).unwrap();
    world.patch(json!({"spec": {"holderIdentity": "another"}})).await;
    assert!(matches!(leader.outcome().await, Err(Error::StillAtWork)));
    drop(work);
}

#[tokio::test(start_paused = true)]
async fn managers_see_every_change_of_the_epoch() {
    let mut world = World::new(1).await;
    let leader = world.leader().await;
    let mut epochs = leader.authority.epochs();
    let old = epochs.borrow_and_update().unwrap();
    assert!(epochs.changed().now_or_never().is_none());
    world.delete().await;
    let new = *epochs.wait_for(|epoch| epoch.is_some_and(|epoch| epoch != old)).await.unwrap();
    assert!(new.unwrap() > old && new == leader.leads());
}
