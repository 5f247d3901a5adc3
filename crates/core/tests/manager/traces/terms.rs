//! Traces about terms: which data is newer, and which is a prefix.

use std::collections::BTreeSet;

use muster_api::names::BlockedBy;
use muster_core::manager::decide::Rule;
use muster_core::manager::election::is_prefix;
use muster_core::manager::report::Held;
use muster_core::manager::requests::Directive;
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::{Stamp, Term};
use muster_core::manager::terms::{Relation, TermList, TermStart};

use super::{PERSON, formed};

fn terms(entries: &[(u64, u64)]) -> TermList {
    let start = |&(n, start)| TermStart { term: Term::commanded(Stamp::new(1, n)), start };
    TermList::new(entries.iter().map(start))
}

#[test]
fn term_number_reused() {
    let mut world = formed(3, Copies::Majority);
    // A new primary writes x, which nobody else has, and is gone before it could report.
    world.power_off("a");
    world.see_terminated(0, "a", PERSON);
    let first = world.elect(0);
    world.begin_serving(&first);
    let x = world.write(&first).expect("it serves");
    let first_term = world.terms_of(&first);
    world.power_off(&first);
    world.power_on("a");
    let leader = world.elect_leader();
    world.hear(leader);
    world.see_terminated(leader, &first, PERSON);
    let second = world.elect(leader);
    assert_ne!(
        world.terms_of(&second),
        first_term,
        "a term is the number of its command, and never comes twice"
    );
    world.begin_serving(&second);
    for _ in 0..4 {
        world.calm_round();
    }
    let y = world.write(&second).expect("it serves");
    let third = if second == "a" { "b" } else { "a" }.to_owned();
    let third = if third == first { "c".to_owned() } else { third };
    world.replicate(&third, 9);
    assert!(world.acknowledged.contains(&y));
    // The second is gone too; the first returns, as long as the third and with an older term.
    world.power_off(&second);
    world.power_on(&first);
    world.hear(leader);
    world.see_terminated(leader, &second, PERSON);
    world.hear(leader);
    world.lead(leader);
    assert!(!world.orders(leader).contains(&(first.as_str(), "lead")));
    assert!(world.log(&first).contains(&x) && !world.log(&first).contains(&y));
    // Its x is not in the third's past, so it is no part of a read set: a person has to say that it goes on.
    assert_eq!(world.blocked_by(leader), Some(BlockedBy::DataMissing));
    world.leaders[leader].observed.directive =
        Some(Directive::Seed { member: third.clone(), accept_data_loss: false });
    assert_eq!(world.elect(leader), third);
    world.begin_serving(&third);
    assert!(world.log(&third).contains(&y));
}

#[test]
fn off_by_one_prefix() {
    let old = Held { terms: terms(&[(1, 1)]), sequence: 2, complete: true, ..Held::default() };
    let mut promoted = Held { terms: terms(&[(1, 1)]), sequence: 1, complete: true, ..Held::default() };
    promoted.terms.begin(Term::commanded(Stamp::new(1, 2)), promoted.sequence);
    promoted.sequence = 5;
    assert!(!is_prefix(&old, &promoted), "2 of the old term is where the new term starts");
    assert!(is_prefix(&Held { sequence: 1, ..old }, &promoted));
}

#[test]
fn unknown_term_is_errant() {
    let primary = terms(&[(1, 1), (3, 4)]);
    assert_eq!(terms(&[(1, 1), (2, 2)]).relation(2, &primary, 9), Relation::Errant);
    assert_eq!(terms(&[(1, 1)]).relation(2, &primary, 9), Relation::Prefix);
}

#[test]
fn stale_list_after_promotion() {
    // A joiner took over [1:1, 2:2] at sequence 0 and is promoted, with loss allowed.
    let mut joiner = terms(&[(1, 1), (2, 2)]);
    joiner.begin(Term::commanded(Stamp::new(1, 3)), 0);
    assert_eq!(joiner, terms(&[(1, 1), (3, 1)]));
    assert_eq!(terms(&[(1, 1)]).relation(1, &joiner, 4), Relation::Errant);
}

#[test]
fn joined_term_without_data() {
    let mut world = formed(3, Copies::Majority);
    let write = world.write("a").expect("it serves");
    world.replicate("b", 9);
    assert!(world.acknowledged.contains(&write));
    world.power_off("a");
    world.hear(0);
    world.see_terminated(0, "a", PERSON);
    assert_eq!(world.elect(0), "b");
    world.begin_serving("b");
    // The third joins in b's term and fetches nothing.
    world.hear(0);
    world.command(0);
    world.hear(0);
    world.command(0);
    assert_eq!(world.terms_of("c"), world.terms_of("b"));
    assert!(world.log("c").is_empty());
    world.power_off("b");
    world.power_on("a");
    world.hear(0);
    world.see_terminated(0, "b", PERSON);
    assert_eq!(world.elect(0), "a", "a holds the write; c has only the newer list");
    world.begin_serving("a");
}

#[test]
fn secondary_repoints_itself() {
    let mut world = formed(3, Copies::Majority);
    world.power_off("a");
    world.hear(0);
    world.see_terminated(0, "a", PERSON);
    let primary = world.elect(0);
    world.begin_serving(&primary);
    let other = if primary == "b" { "c" } else { "b" };
    world.hear(0);
    world.lead(0);
    assert_eq!(world.last(0).rule, Rule::Join);
    assert!(world.orders(0).contains(&(other, "stop")), "it was started for another term");
    world.deliver_all();
    world.settle(&BTreeSet::from(["a".to_owned()]));
    assert_eq!(world.terms_of(other), world.terms_of(&primary));
}

#[test]
fn manual_promotion_same_term() {
    let mut world = formed(3, Copies::Majority);
    // Paused. a writes what nobody has; a person stops it and promotes b by hand, which writes something else.
    let unshared = world.write("a").expect("it serves");
    world.kill_application("a");
    world.nodes.get_mut("b").expect("b is there").promote_by_hand();
    world.write("b").expect("it serves");
    let observed = world.leaders[0].observed.clone().resumed();
    world.leaders[0].observed = observed;
    for _ in 0..12 {
        world.calm_round();
        assert!(world.nodes["a"].app().is_none(), "a is errant, and stays as it is");
    }
    assert_eq!(world.serving(), Some("b"));
    assert!(world.log("a").contains(&unshared));
    assert!(!is_prefix(&world.nodes["a"].volume.held(), &world.nodes["b"].volume.held()));
}
