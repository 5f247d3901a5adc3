//! Tests of keeping the roster.

use super::super::super::command::{Action, Answer};
use super::super::super::fencing::FenceKind;
use super::super::super::observed::{Observed, RosterFloor};
use super::super::super::report::{Data, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::roster::Roster;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{
    EPOCH, ask_again, at, empty, fence, now_says, observed, roster, stopped, term, wanted,
};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Rule, decide};
use super::{
    ABC, Copies, after, idle, majority, new_roster, orders, primary, request_ended, secondary, trio,
};

const FOUR: [&str; 4] = ["a", "b", "c", "d"];

fn tend(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::Join);
    decision
}

fn knowing(names: &Roster, report: Report) -> Report {
    report.with(|report| report.roster = Some(names.clone()))
}

/// A primary that counts by this roster.
fn counting(names: &Roster, sequence: u64) -> Report {
    knowing(names, primary(sequence)).with_running(|running| running.roster = Some(names.version))
}

#[expect(clippy::unnecessary_wraps, reason = "as it is compared with a roster that may not be made")]
fn all(entries: &[&str]) -> Option<Vec<String>> {
    Some(entries.iter().map(|&entry| entry.to_owned()).collect())
}

/// A roster of four, of whom d does not vote, made from one of three.
fn adding_d() -> Roster {
    let mut newer = after(roster(&FOUR), 2, &roster(ABC));
    newer.entries[3].voter = false;
    newer
}

/// A roster of four voters, made from one in which d did not vote.
fn voting_d() -> Roster {
    let mut before = roster(&FOUR);
    before.entries[3].voter = false;
    after(roster(&FOUR), 2, &before)
}

#[test]
fn a_roster_that_an_agent_keeps_is_not_handed_to_it_again_while_its_application_takes_it_up() {
    let newer = adding_d();
    let kept = knowing(&newer, primary(5)).with_running(|running| running.roster = Some(roster(ABC).version));
    let others = |report: Report| knowing(&newer, report);
    let reports =
        vec![("a", kept), ("b", others(secondary(5))), ("c", others(secondary(5))), ("d", others(empty(0)))];
    let mut knows = observed(&newer, reports);
    let wishes = wanted(&FOUR, Copies::Majority);
    assert_eq!(orders(&tend(&knows, &wishes)), ["take roster a"], "nobody knows whether it was told");
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::TakeRoster, at(1));
    now_says(&mut knows, "a", |report| report.obeyed(4, true));
    let waits = decide(&knows, &wishes, at(30));
    assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(31))));
    assert_eq!(orders(&decide(&knows, &wishes, at(31))), ["take roster a"]);
}

#[test]
fn a_configured_member_that_is_heard_and_stopped_is_added_without_a_vote() {
    let with = |d: Report| {
        let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("d", d)];
        tend(&observed(&roster(ABC), reports), &wanted(&FOUR, Copies::Majority))
    };
    let added = with(empty(0));
    assert_eq!((new_roster(&added), orders(&added)), (all(&["a", "b", "c", "(d)"]), vec![]));
    let change = added.roster.unwrap();
    assert_eq!((change.entries[3].id, change.entries[3].volume.as_str(), change.next_id), (4, "d", 5));
    assert_eq!(change.before, Some(roster(ABC).entries));
    assert_eq!(with(secondary(5)).roster, None, "it runs");
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))];
    assert!(idle(&tend(&observed(&roster(ABC), reports), &wanted(&FOUR, Copies::Majority))), "not heard");
}

#[test]
fn members_are_added_one_at_a_time_in_order_and_only_those_that_stay() {
    let names = ["a", "b", "c", "d", "e"];
    let mut reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))];
    reports.extend([("d", empty(0)), ("e", empty(0))]);
    let knows = observed(&roster(ABC), reports);
    let mut wishes = wanted(&names, Copies::Majority);
    assert_eq!(new_roster(&tend(&knows, &wishes)), all(&["a", "b", "c", "(d)"]));
    wishes.members.get_mut("d").unwrap().ordinal = Some(9);
    assert_eq!(new_roster(&tend(&knows, &wishes)), all(&["a", "b", "c", "(e)"]));
    wishes.members.get_mut("e").unwrap().leaving = true;
    assert_eq!(new_roster(&tend(&knows, &wishes)), all(&["a", "b", "c", "(d)"]));
}

#[test]
fn a_member_votes_once_it_is_complete_and_synced_in_this_term() {
    let mut names = roster(ABC);
    names.entries[2].voter = false;
    let with = |c: Report| {
        let knows = observed(&names, vec![("a", primary(5)), ("b", secondary(5)), ("c", c)]);
        tend(&knows, &majority()).roster.map(|change| change.entries)
    };
    assert_eq!(with(secondary(5)), Some(roster(ABC).entries));
    assert_eq!(with(secondary(5).with_running(|running| running.synced = false)), None);
    assert_eq!(with(secondary(5).with_running(|running| running.term = Some(term(9)))), None);
    assert_eq!(with(secondary(5).with_held(|held| held.complete = false)), None);
    assert_eq!(with(secondary(5).with_held(|held| held.left = true)), None);
    assert_eq!(with(secondary(5).with(|report| report.data = Data::Unreadable)), None);
    assert_eq!(with(stopped(0, 5)), None);
}

#[test]
fn a_vote_moves_with_the_volume() {
    let exchanged = secondary(5).with(|report| report.volume = "new disk".into());
    let decision = tend(&trio(primary(5), secondary(5), exchanged), &majority());
    let change = decision.roster.unwrap();
    assert_eq!((change.entries[2].volume.as_str(), change.entries[2].voter), ("new disk", true));
    assert_eq!(change.before, Some(roster(ABC).entries));
}

#[test]
fn a_vote_comes_before_a_new_member() {
    let mut names = roster(ABC);
    names.entries[2].voter = false;
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("d", empty(0))];
    let knows = observed(&names, reports);
    assert_eq!(new_roster(&tend(&knows, &wanted(&FOUR, Copies::Majority))), all(ABC));
}

#[test]
fn everyone_who_reports_must_know_a_roster_before_the_next_change() {
    let newer = adding_d();
    let old = roster(ABC);
    let with = |a: Report, b: Report, d: Report| {
        let c = knowing(&newer, secondary(5));
        let knows = observed(&old, vec![("a", a), ("b", b), ("c", c), ("d", d)]);
        tend(&knows, &wanted(&FOUR, Copies::Majority))
    };
    let b = || knowing(&newer, secondary(5));
    let d = || knowing(&newer, empty(0));
    let settled = with(counting(&newer, 5), b(), d());
    assert_eq!(
        settled.roster.map(|change| (change.entries, change.before)),
        Some((newer.entries.clone(), None))
    );
    assert_eq!(orders(&with(counting(&newer, 5), b(), empty(0))), ["take roster d"], "a stopped one too");
    assert_eq!(orders(&with(counting(&newer, 5), secondary(5), d())), ["take roster b"]);
    let kept_only = knowing(&newer, primary(5));
    let in_use = with(kept_only, b(), d());
    assert_eq!((orders(&in_use), in_use.roster), (vec!["take roster a".to_owned()], None));
}

#[test]
fn enough_old_voters_must_know_a_roster_even_if_nobody_else_reports() {
    let newer = adding_d();
    let knows = |gone: &[&str]| {
        let mut reports = vec![("a", counting(&newer, 5)), ("d", knowing(&newer, empty(0)))];
        reports.extend(["b", "c"].map(|name| (name, knowing(&newer, secondary(5)))));
        let mut knows = observed(&newer, reports);
        fence(&mut knows, gone);
        knows
    };
    let settles = |gone, copies| tend(&knows(gone), &wanted(&FOUR, copies)).roster.is_some();
    assert!(settles(&["c"], Copies::Majority));
    assert!(!settles(&["b", "c"], Copies::Majority), "one of three");
    assert!(settles(&["b", "c"], Copies::Fixed(1)), "all three are read: one is enough");
    assert!(!settles(&["c"], Copies::Fixed(3)), "one is read: all must know");
}

#[test]
fn a_primary_counts_by_new_voters_only_once_enough_old_ones_know() {
    let newer = voting_d();
    let mut old = newer.clone();
    (old.version, old.before) = (Stamp::new(EPOCH, 1), None);
    old.entries[3].voter = false;
    let with = |b: Report| {
        let reports = vec![
            ("a", knowing(&old, primary(5))),
            ("b", b),
            ("c", knowing(&old, secondary(5))),
            ("d", knowing(&newer, secondary(5))),
        ];
        orders(&tend(&observed(&old, reports), &wanted(&FOUR, Copies::Majority)))
    };
    assert_eq!(with(knowing(&old, secondary(5))), ["take roster b", "take roster c"], "a last");
    assert_eq!(with(knowing(&newer, secondary(5))), ["take roster a", "take roster c"], "a and b of three");
}

/// Four primaries, of whom these know already that d votes.
fn primaries_of_whom(told: &[&'static str], copies: Copies) -> (Observed, Wanted) {
    let newer = voting_d();
    let mut old = newer.clone();
    (old.version, old.before) = (Stamp::new(EPOCH, 1), None);
    old.entries[3].voter = false;
    let report = |name: &&'static str| {
        let kept = if told.contains(name) { &newer } else { &old };
        (*name, knowing(kept, primary(5)).with_running(|running| running.roster = Some(old.version)))
    };
    let mut wishes = wanted(&FOUR, copies);
    wishes.primaries = 4;
    let mut knows = observed(&old, FOUR.iter().map(report).collect());
    knows.issue(newer);
    (knows, wishes)
}

#[test]
fn where_several_serve_each_keeps_a_roster_before_anyone_counts_by_it() {
    for copies in [Copies::Majority, Copies::Fixed(2)] {
        let (knows, wishes) = primaries_of_whom(&["d"], copies);
        // That d knows it proves nothing: its copies did not count before.
        assert_eq!(orders(&tend(&knows, &wishes)), ["keep roster a", "keep roster b", "keep roster c"]);
        let (knows, wishes) = primaries_of_whom(&FOUR, copies);
        assert_eq!(orders(&tend(&knows, &wishes)), FOUR.map(|name| format!("take roster {name}")));
    }
}

#[test]
fn one_that_was_told_to_keep_a_roster_is_told_at_once_to_count_by_it_when_it_may() {
    let (mut knows, wishes) = primaries_of_whom(&FOUR, Copies::Majority);
    for (n, name) in (4..).zip(FOUR) {
        knows.note_sent(name, Stamp::new(EPOCH, n), Instance(1), &Action::KeepRoster, at(0));
        knows.note_answer(name, Answer { stamp: Stamp::new(EPOCH, n), succeeded: true }, at(0));
        knows.members.get_mut(name).unwrap().pending = None;
    }
    assert_eq!(orders(&tend(&knows, &wishes)), FOUR.map(|name| format!("take roster {name}")));
}

/// Everyone knows that d votes now; the primary began to count so at 7 and is at 9.
fn carried(sequences: [u64; 3], floor: Option<(u64, u64)>, copies: Copies) -> bool {
    let newer = voting_d();
    let mut reports = vec![("a", counting(&newer, 9))];
    reports.extend(["b", "c", "d"].into_iter().zip(sequences.map(|at| knowing(&newer, secondary(at)))));
    let mut knows = observed(&newer, reports);
    knows.roster_floor = floor.map(|(version, n)| RosterFloor {
        version: Stamp::new(EPOCH, version),
        term: Some(term(n)),
        sequence: 7,
    });
    tend(&knows, &wanted(&FOUR, copies)).roster.is_some_and(|change| change.before.is_none())
}

#[test]
fn a_change_of_voters_is_settled_when_what_was_written_before_has_enough_copies() {
    let now = Some((2, 1));
    assert!(carried([7, 7, 0], now, Copies::Majority), "three of four");
    assert!(!carried([7, 6, 6], now, Copies::Majority), "two of four");
    assert!(carried([9, 7, 6], now, Copies::Fixed(1)), "a majority, even for one copy");
    assert!(!carried([7, 6, 6], now, Copies::Fixed(1)));
    assert!(!carried([7, 7, 6], now, Copies::Fixed(4)) && carried([7, 7, 7], now, Copies::Fixed(4)));
    assert!(carried([7, 7, 0], Some((3, 1)), Copies::Majority), "a later roster does as well");
    assert!(!carried([9, 9, 9], Some((1, 1)), Copies::Majority), "it did not count by it yet");
    assert!(!carried([9, 9, 9], Some((2, 2)), Copies::Majority), "the floor of another term");
    assert!(!carried([9, 9, 9], None, Copies::Majority));
}

fn forgetting(knows: Observed) -> Observed {
    Observed { directive: Some(Directive::Forget { members: vec!["c".into()] }), ..knows }
}

#[test]
fn a_member_is_forgotten_only_if_it_surely_does_not_run() {
    let runs = tend(&forgetting(trio(primary(5), secondary(5), secondary(5))), &majority());
    assert_eq!(
        (request_ended(&runs), runs.roster.clone()),
        (Some(Err("c runs: disable or delete it instead")), None)
    );
    let mut lost = forgetting(trio(primary(5), secondary(5), secondary(5)));
    lost.lose_stream("c");
    let why = "nothing proves that c does not run: kubectl muster fence orders c";
    assert_eq!(request_ended(&tend(&lost, &majority())), Some(Err(why)));
    lost.take_fences([("c", FenceKind::Terminated)]);
    let dead = tend(&lost, &majority());
    assert_eq!(dead.roster, None, "what the others hold has to be read since");
    assert!(dead.ask);
    ask_again(&mut lost, at(0));
    let dead = tend(&lost, &majority());
    assert_eq!((new_roster(&dead), request_ended(&dead)), (all(&["a", "b"]), None));
    assert_eq!(dead.roster.unwrap().before, None, "its votes are not waited for any more");
    let behind = tend(&forgetting(trio(primary(5), secondary(4), stopped(0, 5))), &majority());
    assert_eq!((behind.roster, behind.effects), (None, vec![]), "b lacks what a and c hold");
    let stopped = tend(&forgetting(trio(primary(5), secondary(5), stopped(0, 5))), &majority());
    assert_eq!(new_roster(&stopped), all(&["a", "b"]));
}

#[test]
fn a_lost_volume_is_forgotten_and_its_member_stays() {
    let new_disk = |report: Report| report.with(|report| report.volume = "new disk".into());
    let decision = tend(&forgetting(trio(primary(5), secondary(5), new_disk(secondary(5)))), &majority());
    assert_eq!(new_roster(&decision), all(&["a", "b", "(c)"]));
    let change = decision.roster.unwrap();
    assert_eq!((change.entries[2].volume.as_str(), change.before), ("new disk", None));
    let stopped = tend(&forgetting(trio(primary(5), secondary(5), new_disk(empty(0)))), &majority());
    assert_eq!(new_roster(&stopped), all(&["a", "b"]), "one that does not run comes back as a new member");
    // The roster knows the new volume already, and waits for the old one: that is given up.
    let mut newer = after(roster(ABC), 2, &roster(ABC));
    newer.entries[2].volume = "new disk".into();
    let knows = observed(&newer, vec![("a", primary(5)), ("b", secondary(5)), ("c", new_disk(secondary(5)))]);
    let decision = tend(&forgetting(knows), &majority());
    assert_eq!(decision.roster.map(|change| (change.entries, change.before)), Some((newer.entries, None)));
}

#[test]
fn the_last_whose_copies_count_and_strangers_are_not_forgotten() {
    let mut names = roster(&["a", "c"]);
    names.entries[0].voter = false;
    let knows = observed(&names, vec![("a", primary(5)), ("c", stopped(0, 5))]);
    let last = tend(&forgetting(knows), &majority());
    assert_eq!(request_ended(&last), Some(Err("nobody would be left whose copies count")));
    let stranger = tend(&forgetting(observed(&roster(&["a"]), vec![("a", primary(5))])), &majority());
    assert_eq!((stranger.roster.clone(), request_ended(&stranger)), (None, Some(Ok(()))));
}

#[test]
fn who_is_only_in_the_roster_before_can_be_forgotten() {
    let newer = after(roster(&["a", "b"]), 2, &roster(ABC));
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))];
    let mut knows = forgetting(observed(&newer, reports));
    fence(&mut knows, &["c"]);
    let decision = tend(&knows, &majority());
    assert_eq!(new_roster(&decision), all(&["a", "b"]));
    assert_eq!(decision.roster.unwrap().before, None);
}

#[test]
fn a_primary_without_a_term_or_a_roster_is_left_alone() {
    let mut knows = trio(primary(5), secondary(4), stopped(0, 3));
    now_says(&mut knows, "a", |report| report.with_held(|held| held.terms = <_>::default()));
    assert!(idle(&tend(&knows, &majority())));
    let mut knows = trio(primary(5), secondary(4), stopped(0, 3));
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    assert!(idle(&tend(&knows, &majority())));
}

#[test]
fn a_primary_that_a_person_chose_and_nobody_agrees_with_goes_on_alone() {
    let exchanged = || empty(0).with(|report| report.volume = "new".into());
    let foreign = || stopped(0, 9).with_held(|held| held.history = "other".into());
    let chosen = |b: Report, c: Report| {
        let mut knows = trio(primary(5), b, c);
        knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss: false });
        decide(&knows, &majority(), at(1))
    };
    let alone = chosen(exchanged(), foreign());
    assert_eq!(new_roster(&alone), Some(vec!["a".into(), "(b)".into(), "(c)".into()]));
    assert_eq!(request_ended(&alone), Some(Ok(())));
    let before = alone.roster.and_then(|change| change.before).unwrap();
    let told: Vec<&str> =
        before.iter().filter(|entry| entry.voter).map(|entry| entry.volume.as_str()).collect();
    assert_eq!(told, ["a", "c"], "c is there to hear of it, the disk of b is gone");
    let unreadable = stopped(0, 5).with(|report| report.data = Data::Unreadable);
    for other in [stopped(0, 5), secondary(5), unreadable] {
        assert_eq!(new_roster(&chosen(exchanged(), other.clone())), None, "{other:?}");
    }
}
