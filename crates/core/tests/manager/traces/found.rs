//! Traces that the random histories found.

use std::collections::BTreeSet;

use muster_api::names::BlockedBy;
use muster_core::manager::decide::Rule;
use muster_core::manager::fencing::FenceKind;
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::roster::Copies;

use super::super::world::World;

use super::{PERSON, formed};

/// Two members, up to the moment at which the leader has made the roster in which b counts, and nobody has it yet.
fn up_to_the_second_voter(copies: Copies) -> World {
    let mut world = World::new(2, copies);
    let votes = |world: &World| {
        let roster = world.leaders[0].observed.roster();
        roster.and_then(|roster| roster.entry("b")).is_some_and(|entry| entry.voter)
    };
    while !votes(&world) {
        world.hear(0);
        world.command(0);
        world.begin_serving("a");
        world.replicate("b", 9);
    }
    world
}

/// A promotion was answered, but the last report is of a time before it: a second election would not see it.
#[test]
fn answered_promote_old_report() {
    let mut world = formed(3, Copies::Majority);
    world.kill_application("a");
    world.hear(0);
    let first = world.elect(0);
    // The answer arrives, a report does not.
    while !world.messages.is_empty() {
        world.deliver(0, false);
    }
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("a".into()), from: "a".into(), deadline });
    world.lead(0);
    assert_eq!(world.orders(0), [], "{first} may be primary by now");
}

/// A write had all the copies that one voter asks for; with two voters it has too few, and the new one lacks it.
#[test]
fn copies_not_carried_over() {
    let mut world = up_to_the_second_voter(Copies::Fixed(2));
    // The new roster is made and nobody has it: a acknowledges alone, and b, which is to count, does not have it.
    let write = world.write("a").expect("it serves");
    assert!(world.acknowledged.contains(&write));
    world.kill_application("b");
    for _ in 0..6 {
        world.hear(0);
        world.command(0);
        assert!(world.leaders[0].observed.roster().is_some_and(|roster| roster.before.is_some()));
        world.kill_application("b");
    }
    world.power_off("a");
    world.hear(0);
    world.see_terminated(0, "a", PERSON);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
}

/// A seed counted by a roster that the only old voter had never heard of; then that voter was read alone.
#[test]
fn roster_used_before_it_is_known() {
    let mut world = up_to_the_second_voter(Copies::Fixed(1));
    // Only the leader knows that b counts now. Everything stops; b is preferred, because a is to leave.
    world.remove("a");
    for name in ["a", "b"] {
        world.kill_application(name);
    }
    assert_eq!(world.elect(0), "b");
    let known = world.nodes["a"].volume.newest_roster().and_then(|roster| roster.entry("b").cloned());
    assert!(known.is_some_and(|entry| entry.voter), "a was told before b could count by it");
    world.begin_serving("b");
    let write = world.write("b").expect("it serves");
    assert!(world.acknowledged.contains(&write));
    world.power_off("b");
    let leader = world.elect_leader();
    world.hear(leader);
    world.see_terminated(leader, "b", PERSON);
    world.hear(leader);
    world.lead(leader);
    assert_eq!(world.blocked_by(leader), Some(BlockedBy::DataMissing));
}

/// A primary that cannot say what it holds is a primary all the same: nobody is promoted beside it.
#[test]
fn unreadable_primary_is_a_primary() {
    let mut world = formed(3, Copies::Majority);
    world.nodes.get_mut("a").expect("a is there").volume.unreadable = true;
    for _ in 0..4 {
        world.hear(0);
        world.command(0);
        assert_eq!(world.orders(0), []);
        world.check_one_primary();
    }
    assert_eq!(world.last(0).rule, Rule::Starting);
}

/// A leaving primary was demoted, and elected again because it came first: for ever.
#[test]
fn leaving_primary_is_elected_again() {
    let mut world = formed(3, Copies::Majority);
    world.remove("a");
    world.settle(&BTreeSet::new());
    for _ in 0..40 {
        world.calm_round();
    }
    assert!(!world.wanted.members.contains_key("a"));
    assert!(world.serving().is_some_and(|name| name != "a"));
}

/// What a and b acknowledged is on a alone once b has thrown its data away beside it. Without a the third, which lacks it, is not
/// elected; with a nobody waits for b, whose copy was cut off.
#[test]
fn copy_begun_beside_a_primary() {
    let mut world = formed(3, Copies::Majority);
    world.kill_application("c");
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    assert!(world.acknowledged.contains(&write));
    world.kill_application("b");
    while world.nodes["b"].app().is_none() {
        world.hear(0);
        world.command(0);
    }
    world.throw_away("b");
    world.power_off("a");
    world.see_terminated(0, "a", FenceKind::Terminated);
    world.kill_application("b");
    for _ in 0..4 {
        world.hear(0);
        world.command(0);
    }
    assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
    world.power_on_if_configured("a");
    assert_eq!(world.elect(0), "a");
    world.settle(&BTreeSet::new());
    assert_eq!(world.log("b"), [write]);
}
