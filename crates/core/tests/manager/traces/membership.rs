//! Traces about who counts: the roster, voters, joining and leaving.

use std::collections::BTreeSet;

use muster_api::names::BlockedBy;
use muster_core::manager::decide::Effect;
use muster_core::manager::restore::{Source, to_record};
use muster_core::manager::roster::Copies;

use super::super::world::World;

use super::{PERSON, formed};

#[test]
fn empty_starter_counts() {
    let mut world = World::new(2, Copies::Fixed(1));
    // Up to the moment at which b was started and has fetched nothing.
    while world.nodes["b"].app().is_none() {
        world.hear(0);
        world.command(0);
        world.begin_serving("a");
    }
    let write = world.write("a").expect("it serves");
    assert!(world.acknowledged.contains(&write));
    assert!(!world.nodes["b"].volume.empty() && !world.nodes["b"].volume.complete);
    world.power_off("a");
    world.hear(0);
    world.see_terminated(0, "a", PERSON);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
    assert_eq!(world.orders(0), []);
}

#[test]
fn new_member_never_filled() {
    let mut world = formed(3, Copies::Majority);
    let name = world.configure_next();
    for _ in 0..3 {
        world.hear(0);
        world.command(0);
    }
    assert!(world.leaders[0].observed.roster().is_some_and(|roster| roster.entry(&name).is_some()));
    for member in ["a", "b", "c"] {
        world.kill_application(member);
    }
    world.power_off(&name);
    world.hear(0);
    world.see_terminated(0, &name, PERSON);
    assert_eq!(world.elect(0), "a", "every volume is there: the new member's copies never counted");
}

#[test]
fn majority_fixed_at_start() {
    let mut world = World::new(5, Copies::Majority);
    world.settle(&BTreeSet::new());
    let write = world.write("a").expect("it serves");
    assert!(!world.acknowledged.contains(&write), "a seeded alone, and does not count alone any more");
    world.replicate("b", 9);
    assert!(!world.acknowledged.contains(&write));
    world.replicate("c", 9);
    assert!(world.acknowledged.contains(&write));
}

#[test]
fn recorded_count_gives_up() {
    let mut world = formed(2, Copies::Majority);
    world.remove("b");
    world.hear(0);
    let roster = world.leaders[0].observed.roster().expect("it is formed").clone();
    assert_eq!(to_record(&world.leaders[0].observed, &world.wanted, &roster), None, "one is leaving");
    assert_eq!(Source::of(Some(1), Some(&[1])).persons(), None, "what Muster wrote gives nobody up");
    // The operator restarts; b, stopped, reports first.
    world.kill_application("b");
    let leader = world.elect_leader();
    world.poll(leader, "b");
    world.deliver_all();
    world.lead(leader);
    assert_eq!(world.orders(leader), []);
    assert_eq!(world.blocked_by(leader), Some(BlockedBy::MemberMissing));
}

#[test]
fn scale_down_outage() {
    let mut world = formed(3, Copies::Majority);
    world.remove("c");
    world.hear(0);
    world.command(0);
    for member in ["a", "b", "c"] {
        world.power_off(member);
    }
    for member in ["a", "b", "c"] {
        world.power_on(member);
    }
    // Two are configured, three were recorded: it is Muster's own count, and does not block.
    assert_eq!(Source::of(Some(3), Some(&[3])), Source::Muster(3));
    world.calm(&BTreeSet::new());
    world.settle(&BTreeSet::new());
    assert!(world.serving().is_some());
}

#[test]
fn leave_before_copies() {
    let mut world = formed(2, Copies::Majority);
    world.remove("b");
    while world.nodes["b"].app().is_some() {
        world.hear(0);
        world.command(0);
    }
    let write = world.write("a").expect("it serves");
    assert!(!world.acknowledged.contains(&write), "two still count");
    while world.wanted.members.contains_key("b") {
        world.hear(0);
        world.command(0);
        let further = world.write("a").expect("it serves");
        if world.acknowledged.contains(&further) {
            assert!(world.nodes["b"].volume.left, "a counts alone only after b cannot be elected any more");
        }
    }
    let alone = world.write("a").expect("it serves");
    assert!(world.acknowledged.contains(&alone));
    // a is gone; b comes back with its old roster, marked.
    world.power_off("a");
    let leader = world.elect_leader();
    world.configure_next();
    world.hear(leader);
    world.see_terminated(leader, "a", PERSON);
    world.hear(leader);
    world.lead(leader);
    assert_eq!(world.orders(leader), []);
    assert_eq!(world.blocked_by(leader), Some(BlockedBy::DataMissing));
}

#[test]
fn left_in_the_roster_before() {
    for copies in [Copies::Fixed(1), Copies::Fixed(2), Copies::Majority] {
        let mut world = formed(3, copies);
        world.remove("c");
        // Up to the moment at which there is a roster without c, and it is not settled.
        let unsettled = |world: &World| {
            let roster = world.leaders[0].observed.roster().expect("it is formed");
            roster.entry("c").is_none() && roster.before.is_some()
        };
        while !unsettled(&world) {
            world.command(0);
            world.hear(0);
        }
        assert!(world.nodes["c"].volume.left);
        for member in ["a", "b"] {
            world.kill_application(member);
        }
        assert_eq!(world.elect(0), "a", "{copies:?}: c went through the gate, and need not be read");
    }
}

#[test]
fn left_and_back_in_the_roster() {
    let mut world = formed(3, Copies::Fixed(2));
    world.remove("c");
    while !world.nodes["c"].volume.left {
        world.command(0);
        world.hear(0);
    }
    // Only a voter that the newest roster is without has left for good: until then its data is missed.
    let roster = world.leaders[0].observed.roster().expect("it is formed");
    assert!(roster.entry("c").is_some_and(|entry| entry.voter));
    for member in ["a", "b"] {
        world.kill_application(member);
    }
    world.power_off("b");
    world.hear(0);
    world.see_terminated(0, "b", PERSON);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing), "a alone is not enough of three");
}

#[test]
fn forms_beside_data() {
    let mut world = formed(1, Copies::Majority);
    world.wanted.members.clear();
    world.wanted.members.insert("b".into(), muster_core::manager::wanted::WantedMember::default());
    world.marks.insert("b".into(), None);
    let leader = world.elect_leader();
    world.leaders[leader].cut_off.insert("a".into());
    let node = muster_test_model::Node::new("b", muster_test_model::Volume::new("vb".into()));
    world.nodes.insert("b".into(), node);
    world.power_on("b");
    for _ in 0..3 {
        world.hear(leader);
        world.lead(leader);
        assert_eq!(world.orders(leader), []);
        assert!(!world.last(leader).effects.iter().any(|effect| matches!(effect, Effect::MarkFormed(_))));
    }
    assert_eq!(world.blocked_by(leader), Some(BlockedBy::AllEmpty));
}

#[test]
fn grown_roster_read_set() {
    let mut world = formed(3, Copies::Majority);
    // Acknowledged on two of three.
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    assert!(world.acknowledged.contains(&write));
    let d = world.configure_next();
    let votes = |world: &World| {
        let roster = world.leaders[0].observed.roster();
        roster.and_then(|roster| roster.entry(&d)).is_some_and(|entry| entry.voter)
    };
    while !votes(&world) {
        world.hear(0);
        world.command(0);
        world.replicate(&d, 0);
    }
    // Read from the other two of four: c, and the new one, which is cut short.
    world.nodes.get_mut(&d).expect("d is there").volume.log.clear();
    for name in ["a", "b"] {
        world.power_off(name);
    }
    world.hear(0);
    let proofs = ["a", "b"].map(|name| world.proof(0, name, PERSON));
    world.leaders[0].observed.take_proofs(proofs);
    for _ in 0..3 {
        world.hear(0);
        world.lead(0);
        assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
    }
}
