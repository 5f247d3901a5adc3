//! The traces that broke earlier wordings of the rules, each by its name, and those that the histories added.
//!
//! A trace is played as it was found; it ends where the rule that stops it must have stopped it. That nothing
//! acknowledged is lost, and that there is one primary, is checked by the world itself at every step.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use muster_api::names::BlockedBy;
use muster_core::manager::command::{Action, Answer, Command, Judge, Refusal, Verdict};
use muster_core::manager::decide::{Effect, Rule};
use muster_core::manager::election::is_prefix;
use muster_core::manager::fencing::{FenceKind, Standing};
use muster_core::manager::report::{Held, Instance};
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::restore::{Source, to_record};
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::{Stamp, Term};
use muster_core::manager::terms::{Relation, TermList, TermStart};

use super::world::{Message, World};

const PERSON: FenceKind = FenceKind::Person;

fn terms(entries: &[(u64, u64)]) -> TermList {
    let start = |&(n, start)| TermStart { term: Term::commanded(Stamp::new(1, n)), start };
    TermList::new(entries.iter().map(start))
}

/// A formed cluster with `a` as its primary.
fn formed(members: usize, copies: Copies) -> World {
    let mut world = World::new(members, copies);
    world.settle(&BTreeSet::new());
    world
}

impl World {
    fn log(&self, name: &str) -> &[u64] {
        &self.nodes[name].volume.log
    }

    fn last(&self, leader: usize) -> &muster_core::manager::decide::Decision {
        self.leaders[leader].last.as_ref().expect("this leader has decided")
    }

    fn blocked_by(&self, leader: usize) -> Option<BlockedBy> {
        self.last(leader).blocked.as_ref().map(|obstacle| obstacle.by)
    }

    fn orders(&self, leader: usize) -> Vec<(&str, &str)> {
        self.last(leader).orders.iter().map(|order| (order.member.as_str(), order.action.word())).collect()
    }

    fn deliver_all(&mut self) {
        while !self.messages.is_empty() {
            self.deliver(0, false);
        }
    }

    /// Everyone is asked and answers; nothing is decided.
    fn hear(&mut self, leader: usize) {
        self.poll_all(leader);
        self.deliver_all();
    }

    /// The leader decides, and its commands arrive; their answers do not.
    fn command(&mut self, leader: usize) {
        self.lead(leader);
        let (commands, others): (Vec<Message>, Vec<Message>) =
            self.messages.drain(..).partition(|message| matches!(message, Message::Command { .. }));
        self.messages = commands;
        for _ in 0..self.messages.len() {
            self.deliver(0, false);
        }
        self.messages = others;
    }

    /// Asks, hears and decides until an election is ordered, and lets the order arrive.
    fn elect(&mut self, leader: usize) -> String {
        for _ in 0..8 {
            self.hear(leader);
            self.command(leader);
            let elected = self.last(leader).orders.iter().find(|order| order.action.begins_term());
            if let Some(order) = elected {
                return order.member.clone();
            }
        }
        panic!("nobody was elected: {:?}", self.leaders[leader].last);
    }

    fn terms_of(&self, name: &str) -> Option<Term> {
        self.nodes[name].volume.terms.current()
    }
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
fn positions_read_before_fence() {
    let mut world = formed(5, Copies::Majority);
    world.hear(0);
    let write = world.write("a").expect("it serves");
    world.replicate("c", 9);
    world.replicate("e", 9);
    assert!(world.acknowledged.contains(&write), "three of five hold it");
    world.power_off("a");
    world.see_terminated(0, "a", PERSON);
    world.lead(0);
    assert_eq!(world.orders(0), [], "every position is of a time before the fence");
    assert!(world.last(0).ask);
    let elected = world.elect(0);
    assert!(["c", "e"].contains(&elected.as_str()));
    world.begin_serving(&elected);
}

#[test]
fn old_fence_reused() {
    let mut world = formed(3, Copies::Majority);
    world.power_off("a");
    let new = world.elect_leader();
    world.see_terminated(new, "a", PERSON);
    // It returns, is not heard by the new leader, and has not heard of it: it obeys the old one.
    world.leaders[new].cut_off.insert("a".into());
    world.power_on("a");
    world.hear(new);
    assert_eq!(world.leaders[new].observed.standing("a"), Standing::Silent { expired: true });
    world.lead(new);
    assert_eq!(world.blocked_by(new), Some(BlockedBy::MemberMissing));
    assert_eq!(world.orders(new), []);
}

#[test]
fn unanswered_promote() {
    let mut world = formed(4, Copies::Majority);
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("d".into()), from: "a".into(), deadline });
    assert_eq!(world.elect(0), "d");
    world.messages.clear();
    world.begin_serving("d");
    world.leaders[0].lose("d");
    // d serves; its last report says secondary; a, demoted, would be there.
    for _ in 0..5 {
        world.now += SignedDuration::from_secs(31);
        world.lead(0);
        assert!(
            world.last(0).orders.iter().all(|order| !order.action.begins_term()),
            "{:?}",
            world.orders(0)
        );
    }
    assert_eq!(world.leaders[0].observed.standing("d"), Standing::Unanswered);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::SeedUnconfirmed));
}

#[test]
fn pod_uid_latch() {
    let mut world = formed(3, Copies::Majority);
    let new = world.elect_leader();
    world.power_off("a");
    world.hear(new);
    world.see_terminated(new, "a", FenceKind::Terminated);
    world.hear(new);
    assert_eq!(world.leaders[new].observed.standing("a"), Standing::Fenced(FenceKind::Terminated));
    // The container is up again in the same Pod: the proof is of another run, and is gone.
    world.leaders[new].cut_off.insert("a".into());
    world.power_on("a");
    world.leaders[new].observed.lift_fence("a");
    world.hear(new);
    world.lead(new);
    assert_eq!(world.orders(new), []);
    assert_eq!(world.blocked_by(new), Some(BlockedBy::MemberMissing));
}

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
fn recorded_count_gives_up() {
    let mut world = formed(2, Copies::Majority);
    world.remove("b");
    world.hear(0);
    let roster = world.leaders[0].observed.roster().expect("it is formed").clone();
    assert_eq!(to_record(&world.leaders[0].observed, &world.wanted, &roster), None, "one is leaving");
    assert_eq!(Source::of(Some(1), &[1]).persons(), None, "what Muster wrote gives nobody up");
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
    assert_eq!(Source::of(Some(3), &[3]), Source::Muster(3));
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
fn pause_forgets_seed() {
    let mut world = World::new(2, Copies::Majority);
    world.hear(0);
    world.lead(0);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.orders(0), [("a", "seed")]);
    let seed = world.messages.clone();
    world.messages.clear();
    // Pause and resume: what was sent stays sent.
    let observed = world.leaders[0].observed.clone().resumed();
    world.leaders[0].observed = observed;
    world.hear(0);
    world.lead(0);
    assert_eq!(world.orders(0), []);
    assert_eq!(world.leaders[0].observed.standing("a"), Standing::Unanswered);
    // A new operator goes on with the seed that the mark names, and the delayed one is refused.
    let leader = world.elect_leader();
    world.hear(leader);
    world.lead(leader);
    assert_eq!(world.orders(leader), [("a", "seed")]);
    world.deliver_all();
    world.begin_serving("a");
    let history = world.nodes["a"].volume.history.clone();
    world.messages = seed;
    world.deliver_all();
    assert_eq!(world.nodes["a"].volume.history, history);
    // And on data no new history is ever formed.
    let forming = Command {
        stamp: Stamp::new(9, 9),
        instance: Instance(1),
        member: "a".into(),
        roster: None,
        action: Action::Seed { forming: true },
    };
    let judge = Judge { member: "a", instance: Instance(1), epoch: 1, last: None, empty: false };
    assert_eq!(judge.judge(&forming), Verdict::Refuse(Refusal::NotEmpty));
}

#[test]
fn forms_beside_data() {
    let mut world = formed(1, Copies::Majority);
    world.wanted.members.clear();
    world.wanted.members.insert("b".into(), muster_core::manager::wanted::WantedMember::default());
    world.marks.insert("b".into(), None);
    let leader = world.elect_leader();
    world.leaders[leader].cut_off.insert("a".into());
    let node =
        super::node::Node { name: "b".into(), volume: super::node::Volume::new("vb".into()), agent: None };
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

#[test]
fn switchover_into_missing_data() {
    let mut world = formed(3, Copies::Fixed(1));
    world.power_off("c");
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline });
    world.see_terminated(0, "c", PERSON);
    for _ in 0..4 {
        world.hear(0);
        world.command(0);
        assert!(world.orders(0).iter().all(|(_, action)| *action != "demote" && *action != "stop"));
    }
    assert_eq!(world.serving(), Some("a"));
    world.now = deadline;
    world.hear(0);
    world.lead(0);
    assert!(world.last(0).effects.iter().any(|effect| matches!(effect, Effect::RequestEnded(Err(_)))));
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
    world.leaders[0].observed.take_fences([("a", PERSON), ("b", PERSON)]);
    for _ in 0..3 {
        world.hear(0);
        world.lead(0);
        assert_eq!(world.blocked_by(0), Some(BlockedBy::DataMissing));
    }
}

#[test]
fn stop_on_full_disk_undone() {
    // The stop was obeyed and could not be written: it is remembered in memory.
    let stop = Answer { stamp: Stamp::new(1, 8), succeeded: true };
    let judge = Judge { member: "a", instance: Instance(1), epoch: 1, last: Some(stop), empty: false };
    let delayed = Command {
        stamp: Stamp::new(1, 7),
        instance: Instance(1),
        member: "a".into(),
        roster: None,
        action: Action::Promote,
    };
    let refused = Refusal::OldNumber { got: delayed.stamp, last: stop.stamp };
    assert_eq!(judge.judge(&delayed), Verdict::Refuse(refused));
}

// --- Found by the histories.

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
    let mut world = World::new(2, Copies::Fixed(2));
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
    let mut world = World::new(2, Copies::Fixed(1));
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
    // Only the leader knows that b counts now. Everything stops; b is preferred, because a is to leave.
    world.remove("a");
    for name in ["a", "b"] {
        world.kill_application(name);
    }
    assert_eq!(world.elect(0), "b");
    let known = world.nodes["a"].volume.roster.as_ref().and_then(|roster| roster.entry("b").cloned());
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
