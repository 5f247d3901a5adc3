//! Traces about people, strangers and circles: what was asked for and when it ends, volumes from elsewhere, and orders
//! that repeat themselves.

use std::collections::BTreeSet;

use muster_api::names::BlockedBy;
use muster_core::manager::command::{Action, Answer};
use muster_core::manager::decide::{Effect, Rule};
use muster_core::manager::fencing::FenceKind;
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::roster::{Copies, Roster};
use muster_core::manager::stamp::Stamp;

use super::super::world::{Message, World};
use super::{PERSON, formed};
use muster_test_model::{Node, Volume};

/// A configured member on a volume that comes from elsewhere.
fn bring(world: &mut World, volume: Volume) -> String {
    let name = world.configure_next();
    world.power_off(&name);
    world.nodes.insert(name.clone(), Node::new(name.clone(), volume));
    world.power_on(&name);
    name
}

/// What was sent, taken off the wire.
fn intercept(world: &mut World) -> Vec<(String, Stamp, Action)> {
    let messages = world.messages.drain(..);
    let commands = messages.filter_map(|message| match message {
        Message::Command { command, .. } => Some((command.member, command.stamp, command.action)),
        _ => None,
    });
    commands.collect()
}

/// A machine dies, a person vouches for it and asks to forget it, and there is time for it.
fn forget(world: &mut World, member: &str) {
    world.power_off(member);
    world.hear(0);
    world.see_terminated(0, member, PERSON);
    world.ask_for(0, Directive::Forget { members: vec![member.into()] });
    for _ in 0..8 {
        world.hear(0);
        world.command(0);
    }
}

#[test]
fn a_forgotten_member_held_the_second_of_two_copies() {
    let mut world = formed(3, Copies::Fixed(2));
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    assert!(world.acknowledged.contains(&write), "a and b hold it");
    forget(&mut world, "b");
    // c has fetched nothing: to forget b now would leave the write on a alone.
    assert!(world.leaders[0].observed.roster().is_some_and(|roster| roster.entry("b").is_some()));
    world.power_off("a");
    world.hear(0);
    let proofs = ["a", "b"].map(|name| world.proof(0, name, PERSON));
    world.leaders[0].observed.take_proofs(proofs);
    world.hear(0);
    world.lead(0);
    assert_eq!((world.orders(0), world.blocked_by(0)), (vec![], Some(BlockedBy::DataMissing)));
}

#[test]
fn disks_that_are_gone_keep_others_from_being_forgotten() {
    let mut world = formed(3, Copies::Majority);
    for name in ["b", "c"] {
        world.power_off(name);
        world.wipe(name);
        world.power_on(name);
    }
    world.kill_application("a");
    world.hear(0);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
    world.loss_accepted = true;
    world.ask_for(0, Directive::Seed { member: "a".into(), accept_data_loss: false });
    // Without another word of a person.
    for _ in 0..60 {
        world.calm_round();
    }
    assert!(world.settled(&BTreeSet::new()), "{}", world.describe());
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    assert!(world.acknowledged.contains(&write), "the new disks count");
    forget(&mut world, "c");
    let roster = world.leaders[0].observed.roster().expect("there is one");
    assert!(roster.entry("c").is_none(), "{roster:?}");
}

#[test]
fn a_request_outlives_what_the_person_saw() {
    let mut world = formed(3, Copies::Fixed(2));
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    for name in ["a", "b", "c"] {
        world.power_off(name);
    }
    world.power_on("c");
    world.hear(0);
    world.lead(0);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::MemberMissing));
    world.ask_for(0, Directive::Seed { member: "c".into(), accept_data_loss: false });
    world.power_on("a");
    world.power_on("b");
    let elected = world.elect(0);
    assert!(world.log(&elected).contains(&write), "all data is back; the word was given without it");
}

#[test]
fn a_volume_of_another_cluster_brings_its_roster() {
    let mut world = formed(3, Copies::Majority);
    let mut foreign = Volume::new("foreign".into());
    foreign.history = "other".into();
    foreign.complete = true;
    foreign.log = vec![900, 901];
    foreign.roster = Some(Roster::forming(Stamp::new(1, 100_000), "x", "foreign"));
    let name = bring(&mut world, foreign);
    for _ in 0..12 {
        world.calm_round();
    }
    assert!(
        ["a", "b", "c"].iter().all(|member| world.nodes[*member].app().is_some()),
        "nobody was stopped for it"
    );
    assert!(world.nodes["a"].volume.newest_roster().is_some_and(|roster| roster.entry("a").is_some()));
    assert_eq!(world.log(&name), [900, 901], "and it is untouched");
}

#[test]
fn data_that_muster_never_wrote_is_copied_over() {
    let mut world = formed(2, Copies::Majority);
    let mut imported = Volume::new("imported".into());
    imported.history = "precious".into();
    imported.log = vec![900, 901];
    let name = bring(&mut world, imported);
    for _ in 0..20 {
        world.calm_round();
    }
    assert_eq!(world.log(&name), [900, 901]);
}

#[test]
fn two_primaries_without_views_are_taken_for_a_split() {
    let mut world = formed(2, Copies::Majority);
    world.wanted.primaries = 2;
    for _ in 0..20 {
        world.hear(0);
        world.command(0);
        for name in ["a", "b"] {
            world.begin_serving(name);
            world.replicate(name, 9);
        }
        world.pass(10);
    }
    assert_eq!(world.last(0).rule, Rule::Join);
}

#[test]
fn every_level_secondary_is_stopped_in_turn() {
    let mut world = formed(4, Copies::Majority);
    world.wanted.engine.promotes = false;
    world.power_off("a");
    world.see_terminated(0, "a", FenceKind::Terminated);
    let mut stopped = BTreeSet::new();
    for _ in 0..12 {
        world.hear(0);
        world.see_terminated(0, "a", FenceKind::Terminated);
        world.hear(0);
        world.command(0);
        let stops = world.orders(0).into_iter().filter(|(_, action)| *action == "stop");
        stopped.extend(stops.map(|(name, _)| name.to_owned()));
        if world.last(0).orders.iter().any(|order| order.action.begins_term()) {
            assert_eq!(stopped.len(), 1);
            return;
        }
    }
    panic!("nobody was elected: {:?}", world.last(0));
}

#[test]
fn a_member_that_was_never_heard_cannot_go() {
    let mut world = formed(3, Copies::Majority);
    let name = world.configure_next();
    world.power_off(&name);
    world.remove(&name);
    world.ask_for(0, Directive::Forget { members: vec![name.clone()] });
    for _ in 0..10 {
        world.calm_round();
    }
    assert!(!world.wanted.members.contains_key(&name));
    assert_eq!(world.leaders[0].observed.directive, None, "there was nothing of it to forget");
}

#[test]
fn a_switchover_waits_for_who_follows_nobody() {
    let mut world = formed(3, Copies::Majority);
    world.wanted.engine.demotes = false;
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("c".into()), from: "a".into(), deadline });
    while world.leaders[0].last.as_ref().is_none_or(|last| last.orders.is_empty()) {
        world.hear(0);
        world.lead(0);
    }
    // A write reaches b before the stop arrives: c is behind, and its source is stopped.
    world.write("a").expect("it serves");
    world.replicate("b", 9);
    world.deliver_all();
    let begun = world.now;
    while world.serving().is_none() {
        world.calm_round();
    }
    assert!(world.now.duration_since(begun).as_secs() < 60);
}

#[test]
fn a_seed_by_request_is_stopped_again_and_again() {
    let mut world = formed(3, Copies::Majority);
    world.wanted.engine.elects = true;
    for name in ["a", "b"] {
        world.power_off(name);
    }
    world.kill_application("c");
    world.hear(0);
    world.ask_for(0, Directive::Seed { member: "c".into(), accept_data_loss: true });
    for _ in 0..6 {
        let proofs = ["a", "b"].map(|name| world.proof(0, name, PERSON));
        world.leaders[0].observed.take_proofs(proofs);
        world.hear(0);
        world.calm_round();
    }
    assert_eq!((world.serving(), &world.leaders[0].observed.directive), (Some("c"), &None));
}

#[test]
fn a_command_that_fails_is_sent_at_every_look() {
    let mut world = formed(2, Copies::Majority);
    world.kill_application("b");
    let mut joins = 0;
    for _ in 0..20 {
        world.hear(0);
        world.lead(0);
        for (member, stamp, action) in intercept(&mut world) {
            joins += usize::from(matches!(action, Action::Join(_)));
            let answer = Answer { stamp, succeeded: false };
            world.nodes.get_mut(&member).expect("it is there").volume.last = Some(answer);
            let now = world.now;
            world.leaders[0].observed.note_answer(&member, answer, now);
        }
    }
    assert_eq!(joins, 2, "once more at once, and then after a rest");
    world.configure_next();
    let mut told = 0;
    for _ in 0..20 {
        world.hear(0);
        world.lead(0);
        for (member, stamp, action) in intercept(&mut world) {
            told += usize::from(action == Action::TakeRoster && member == "a");
            let now = world.now;
            world.leaders[0].observed.note_refusal(&member, stamp, now);
        }
    }
    assert!(told <= 2, "{told} times");
}

#[test]
fn a_blocked_manager_asks_without_end() {
    let mut world = formed(3, Copies::Majority);
    world.power_off("a");
    let mut asked = 0;
    for _ in 0..50 {
        world.hear(0);
        world.lead(0);
        asked += usize::from(world.last(0).ask);
    }
    assert_eq!(world.blocked_by(0), Some(BlockedBy::MemberMissing));
    assert!(asked < 5, "{asked} times");
}

#[test]
fn a_stop_that_was_answered_is_sent_again() {
    let mut world = formed(2, Copies::Majority);
    for name in ["a", "b"] {
        world.kill_application(name);
    }
    while world.last(0).orders.iter().all(|order| !order.action.begins_term()) {
        world.hear(0);
        world.lead(0);
    }
    world.messages.clear();
    world.pass(31);
    let mut stops = 0;
    for _ in 0..10 {
        world.lead(0);
        stops += world.orders(0).iter().filter(|(_, action)| *action == "stop").count();
        world.deliver_all();
    }
    assert_eq!(stops, 1);
}

#[test]
fn parking_waits_for_someone_who_has_stopped() {
    let mut world = formed(3, Copies::Majority);
    world.wanted.parked = true;
    world.hear(0);
    world.command(0);
    world.hear(0);
    world.power_off("b");
    for _ in 0..4 {
        world.hear(0);
        world.command(0);
    }
    assert!(world.last(0).effects.contains(&Effect::Parked));
}
