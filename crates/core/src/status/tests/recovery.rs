//! `status.recovery`: what each member holds, what would unblock it, and a digest that moves with what a person
//! decides on and with nothing else.

use muster_api::cluster::Recovery;
use muster_api::names::BlockedBy;
use proptest::prelude::*;

use super::*;
use crate::conditions::MESSAGE_LIMIT;
use crate::manager::election::Obstacle;

fn recovery_of(world: &World) -> Recovery {
    world.status().recovery.unwrap()
}

fn outage(reports: Vec<(&str, Report)>) -> World {
    let mut world = World::of(observed(Some(&roster(&[A0, A1, B0])), reports));
    world.decide();
    world
}

#[track_caller]
fn blocked(world: &World, by: BlockedBy, unblock: &str) {
    let recovery = recovery_of(world);
    assert_eq!((recovery.state.as_str(), recovery.blocked_by.as_deref()), ("Blocked", Some(by.as_str())));
    let command = recovery.unblock.unwrap();
    assert!(command.lines().any(|line| line.split(" #").next() == Some(unblock)), "{command}");
}

#[test]
fn nothing_is_said_while_all_is_well_or_nobody_looks() {
    let mut world = World::running();
    assert_eq!(world.status().recovery, None);
    world.lose(A0);
    world.stop_clustering();
    assert_eq!(world.status().recovery, None);
}

#[test]
fn members_that_are_missing_are_fenced_together() {
    let world = outage(vec![(A1, stopped(9))]);
    blocked(&world, BlockedBy::MemberMissing, "kubectl muster fence orders orders-a-0 orders-b-0");
    assert_eq!(recovery_of(&world).missing, [A0, B0]);
}

#[test]
fn whoever_shares_a_view_with_the_chosen_one_is_not_stopped() {
    let mut world = World::running();
    for (member, view) in [(A0, "v"), (A1, "v"), (B0, "w")] {
        world.says(member, change_running(runs(Role::Primary, 12), |it| it.view = Some(view.into())));
    }
    world.wanted.primaries = 3;
    world.now = at(200);
    world.decide();
    let unblock = recovery_of(&world).unblock.unwrap();
    let stopped: Vec<&str> = unblock.lines().filter_map(|line| line.split(['(', ')']).nth(1)).collect();
    assert_eq!(stopped, [B0, B0, "orders-a-0, orders-a-1"], "{unblock}");
}

#[test]
fn what_each_member_holds() {
    let foreign = change_held(stopped(7), |held| held.position = "0-1-7".into());
    let unreadable = Report { data: Data::Unreadable, ..stopped(0) };
    let recovery = recovery_of(&outage(vec![(A0, foreign), (A1, unreadable), (B0, empty())]));
    let [a0, b0, a1] = recovery.reported.as_slice() else { panic!("three reports") };
    assert_eq!((a0.history.as_deref(), a0.term.as_deref(), a0.sequence), (Some("h"), Some("5.1"), Some(7)));
    assert_eq!((a0.position.as_deref(), a0.empty), (Some("0-1-7"), Some(false)));
    assert_eq!((b0.sequence, b0.empty), (None, Some(true)));
    assert_eq!((a1.sequence, a1.empty), (None, None), "unreadable is not empty");
}

#[test]
fn missing_data_is_given_up_in_favour_of_the_most_advanced() {
    let mut world = outage(vec![(A1, stopped(7)), (B0, stopped(9))]);
    world.fence(&[A0]);
    blocked(&world, BlockedBy::DataMissing, "kubectl muster recover orders --seed orders-b-0");
    world.wanted.members.get_mut(B0).unwrap().disabled = true;
    world.wanted.members.get_mut(A1).unwrap().disabled = true;
    let obstacle = Obstacle { by: BlockedBy::DataMissing, members: vec![A0.into()] };
    world.decision.as_mut().unwrap().blocked = Some(obstacle);
    assert!(recovery_of(&world).unblock.unwrap().starts_with("bring back orders-a-0"));
}

#[test]
fn incomplete_data_seeds_only_where_loss_is_accepted() {
    let part = change_held(stopped(7), |held| held.complete = false);
    let mut world = outage(vec![(A1, part), (B0, empty())]);
    world.fence(&[A0]);
    blocked(
        &world,
        BlockedBy::DataMissing,
        "kubectl muster recover orders --seed orders-a-1 --accept-data-loss",
    );
}

#[test]
fn a_count_set_by_hand_can_be_lowered() {
    let mut world = outage([A0, A1, B0].map(|name| (name, stopped(9))).to_vec());
    world.wanted.restore = Some(5);
    world.decide();
    blocked(&world, BlockedBy::RestoreReplicas, "kubectl muster recover orders --replicas 3");
    assert_eq!(world.status().restore_replicas, Some(5));
}

#[test]
fn each_history_is_a_choice() {
    let other = change_held(stopped(4), |held| held.history = "g".into());
    let world = outage(vec![(A0, stopped(9)), (A1, stopped(8)), (B0, other)]);
    blocked(&world, BlockedBy::HistoryDiffers, "kubectl muster recover orders --seed orders-a-0");
    blocked(&world, BlockedBy::HistoryDiffers, "kubectl muster recover orders --seed orders-b-0");
}

#[test]
fn a_disabled_member_is_to_be_enabled() {
    let mut world = outage(vec![(A0, stopped(9)), (A1, stopped(7)), (B0, stopped(7))]);
    world.wanted.members.get_mut(A0).unwrap().disabled = true;
    world.decide();
    blocked(&world, BlockedBy::MemberDisabled, "kubectl muster enable orders orders-a-0");
}

#[test]
fn nothing_is_left() {
    let world = outage(vec![(A0, empty()), (A1, empty()), (B0, empty())]);
    blocked(
        &world,
        BlockedBy::AllEmpty,
        "kubectl muster recover orders --seed orders-a-0 --accept-data-loss",
    );
}

#[test]
fn a_seed_that_was_never_confirmed_is_fenced() {
    let mut world = outage([A0, A1, B0].map(|name| (name, stopped(9))).to_vec());
    let obstacle = Obstacle { by: BlockedBy::SeedUnconfirmed, members: vec![A0.into()] };
    world.decision.as_mut().unwrap().blocked = Some(obstacle);
    blocked(&world, BlockedBy::SeedUnconfirmed, "kubectl muster fence orders orders-a-0");
}

#[test]
fn after_no_seed_a_lower_place_is_a_persons_choice() {
    let mut world = outage(vec![(A0, stopped(9)), (A1, stopped(9)), (B0, stopped(7))]);
    world.observed.failed_seeds.members = [A0.to_owned(), A1.to_owned()].into();
    world.decision.as_mut().unwrap().no_seed = Some(at(120));
    let unblock = recovery_of(&world).unblock.unwrap();
    assert!(unblock.starts_with("kubectl muster recover orders --seed orders-b-0 # it ends at sequence 7"));
}

#[test]
fn a_lost_quorum_of_software_that_elects_is_a_persons_to_mend() {
    let mut world = World::running();
    world.wanted.engine.elects = true;
    assert_eq!(world.status().recovery, None);
    world.lose(A0);
    world.lose(B0);
    let recovery = recovery_of(&world);
    assert_eq!((recovery.state.as_str(), recovery.blocked_by), ("FailingOver", None));
    assert!(recovery.unblock.unwrap().starts_with("kubectl muster recover orders --seed orders-a-1 #"));
}

#[test]
fn a_command_is_never_cut() {
    let names: Vec<String> = (0..512).map(|n| format!("orders-{}-{n}", "p".repeat(15))).collect();
    let mut world = outage(vec![(A1, stopped(9))]);
    let obstacle = Obstacle { by: BlockedBy::MemberMissing, members: names };
    world.decision.as_mut().unwrap().blocked = Some(obstacle);
    let unblock = recovery_of(&world).unblock.unwrap();
    assert!(unblock.len() < MESSAGE_LIMIT);
    assert!(unblock.contains("jsonpath='{.status.recovery.missing[*]}'"), "{unblock}");
}

#[test]
fn the_seed_that_is_tried_is_named() {
    let world = outage([A0, A1, B0].map(|name| (name, stopped(9))).to_vec());
    assert_eq!(recovery_of(&world).seed.as_deref(), Some(A0));
    assert_eq!(recovery_of(&world).state, "Recovering");
}

#[test]
fn a_running_members_sequence_moves_neither_digest_nor_status() {
    let mut world = World::running();
    world.lose(A0);
    let before = recovery_of(&world);
    world.says(A1, runs(Role::Secondary, 15));
    let after = recovery_of(&world);
    assert_eq!(before.digest, after.digest);
    assert_ne!(before.reported, after.reported);
    let inputs = ClusterInputs { shown_recovery: Some(&before), ..world.inputs() };
    assert_eq!(judge_cluster(&inputs).over(None, world.now).recovery, Some(before));
}

#[test]
fn the_digest_moves_with_what_a_person_decides_on() {
    let digest = |world: &World| recovery_of(world).digest;
    let base = || outage(vec![(A1, stopped(9)), (B0, stopped(9))]);
    let first = digest(&base());
    assert_eq!(first.len(), 16);
    assert_eq!(first, digest(&base()), "stable");
    let mut seen = vec![first];
    let mut differs = |world: &World| {
        let next = digest(world);
        assert!(!seen.contains(&next));
        seen.push(next);
    };
    differs(&outage(vec![(A1, stopped(8)), (B0, stopped(9))]));
    differs(&outage(vec![(A1, stopped(9))]));
    differs(&outage(vec![(A1, stopped(9)), (B0, empty())]));
    differs(&outage(vec![(A1, stopped(9)), (B0, runs(Role::Secondary, 9))]));
    let mut fenced = base();
    fenced.fence(&[A0]);
    differs(&fenced);
    let mut returned = base();
    returned.says(A0, Report { instance: Instance(7), ..busy(Activity::Isolated, runs(Role::Secondary, 9)) });
    returned.lose(A0);
    differs(&returned);
}

proptest! {
    #[test]
    fn a_digest_is_hexadecimal_and_follows_stopped_sequences(one in 0_u64..1000, other in 0_u64..1000) {
        let digest = |sequence| recovery_of(&outage(vec![(A1, stopped(sequence)), (B0, stopped(5))])).digest;
        prop_assert_eq!(digest(one) == digest(other), one == other);
        prop_assert!(digest(one).chars().all(|c| c.is_ascii_hexdigit()));
    }
}
