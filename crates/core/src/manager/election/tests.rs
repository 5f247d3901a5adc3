//! Tests of election: who wins. What is read, and who must answer, is in the modules below.

mod accounting;
mod read_set;
mod requested;

use muster_api::names::Role;

use super::super::observed::FailedSeeds;
use super::super::report::Data;
use super::super::roster::Copies;
use super::super::testing::{at, fence, held, observed, roster, running, stopped, term, terms, wanted};
use super::*;

const ABC: &[&str] = &["a", "b", "c"];

/// The election of rule 4 over the newest roster.
fn hold(knows: &Observed, wishes: &Wanted) -> Outcome {
    elect(knows, wishes, knows.roster().unwrap(), at(0), true)
}

fn blocked_by(by: BlockedBy, members: &[&str]) -> Outcome {
    Outcome::Blocked(Obstacle { by, members: names(members) })
}

fn names(members: &[&str]) -> Vec<String> {
    members.iter().map(|&member| member.to_owned()).collect()
}

/// Who won, and without whom.
fn winner(outcome: &Outcome) -> (&str, Vec<&str>) {
    let Outcome::Elected(winner) = outcome else { panic!("nobody was elected: {outcome:?}") };
    (&winner.member, winner.without.iter().map(String::as_str).collect())
}

fn majority() -> Wanted {
    wanted(ABC, Copies::Majority)
}

fn three(a: Report, b: Report, c: Report) -> Observed {
    observed(&roster(ABC), vec![("a", a), ("b", b), ("c", c)])
}

/// All three hold the same.
fn level() -> Observed {
    three(stopped(1, 5), stopped(1, 5), stopped(1, 5))
}

#[test]
fn the_longest_log_of_one_term_wins() {
    let knows = three(stopped(1, 3), stopped(1, 5), stopped(1, 4));
    let place = Place { term: Some(term(1)), sequence: 5 };
    let expected = Winner { member: "b".into(), place, without: vec![] };
    assert_eq!(hold(&knows, &majority()), Outcome::Elected(expected));
}

#[test]
fn a_newer_term_beats_a_longer_log_and_who_is_errant_blocks_nobody() {
    let newer = stopped(1, 2).with_held(|held| held.terms = terms(&[(1, 1), (2, 3)]));
    let knows = three(newer, stopped(1, 50), stopped(1, 2));
    assert_eq!(winner(&hold(&knows, &majority())), ("a", vec![]));
}

#[test]
fn a_term_whose_data_was_never_reached_does_not_count() {
    let joined_without_data = stopped(1, 0).with_held(|held| held.terms = terms(&[(1, 1), (2, 2)]));
    let knows = three(stopped(1, 1), stopped(1, 1), joined_without_data);
    assert_eq!(winner(&hold(&knows, &majority())), ("a", vec![]));
}

#[test]
fn equals_are_taken_by_ordinal_then_pool_then_name() {
    let mut wishes = majority();
    for (name, ordinal, pool) in [("a", 1, "p"), ("b", 0, "q"), ("c", 0, "p")] {
        let member = wishes.members.get_mut(name).unwrap();
        (member.ordinal, member.pool) = (Some(ordinal), pool.into());
    }
    assert_eq!(winner(&hold(&level(), &wishes)).0, "c");
    for member in wishes.members.values_mut() {
        (member.ordinal, member.pool) = (Some(0), "p".into());
    }
    assert_eq!(winner(&hold(&level(), &wishes)).0, "a");
    wishes.members.get_mut("a").unwrap().ordinal = None;
    assert_eq!(winner(&hold(&level(), &wishes)).0, "b", "one made by hand comes last");
}

#[test]
fn among_equals_one_that_runs_and_one_that_stays_come_before_the_first() {
    let runs = three(stopped(1, 5), stopped(1, 5), running(1, Role::Secondary, 5));
    assert_eq!(winner(&hold(&runs, &majority())).0, "c");
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().leaving = true;
    assert_eq!(winner(&hold(&runs, &wishes)).0, "a", "who leaves comes after those who stay");
    wishes.members.remove("a");
    assert_eq!(winner(&hold(&runs, &wishes)).0, "b", "who is not configured, too");
}

#[test]
fn a_leaving_member_wins_if_it_holds_more() {
    let mut wishes = majority();
    wishes.members.get_mut("b").unwrap().leaving = true;
    let knows = three(stopped(1, 3), stopped(1, 5), stopped(1, 4));
    assert_eq!(winner(&hold(&knows, &wishes)).0, "b");
}

#[test]
fn the_target_of_a_switchover_only_breaks_ties() {
    let switchover =
        |to: &str| Some(Directive::Switchover { to: Some(to.into()), from: "a".into(), deadline: at(120) });
    let mut knows = three(stopped(1, 5), running(1, Role::Secondary, 5), stopped(1, 5));
    knows.directive = switchover("c");
    assert_eq!(winner(&hold(&knows, &majority())).0, "c", "before who runs and who comes first");
    let mut behind = three(stopped(1, 5), stopped(1, 5), stopped(1, 4));
    behind.directive = switchover("c");
    assert_eq!(winner(&hold(&behind, &majority())).0, "a", "who handed over takes it back");
    behind.directive = Some(Directive::Switchover { to: None, from: "a".into(), deadline: at(120) });
    assert_eq!(winner(&hold(&behind, &majority())).0, "b", "anyone but who hands over");
}

#[test]
fn a_disabled_member_is_never_elected_but_its_data_counts() {
    let mut wishes = majority();
    wishes.members.get_mut("a").unwrap().disabled = true;
    assert_eq!(winner(&hold(&level(), &wishes)).0, "b");
    let ahead = three(stopped(1, 6), stopped(1, 5), stopped(1, 5));
    assert_eq!(hold(&ahead, &wishes), blocked_by(BlockedBy::MemberDisabled, &["a"]));
    let mut two_read = level();
    fence(&mut two_read, &["c"]);
    assert_eq!(winner(&hold(&two_read, &wishes)), ("b", vec![]), "read from a and b");
    for member in wishes.members.values_mut() {
        member.disabled = true;
    }
    assert_eq!(hold(&level(), &wishes), blocked_by(BlockedBy::MemberDisabled, ABC));
}

#[test]
fn who_failed_is_passed_over_for_an_equal_and_never_for_a_lower_one() {
    let failed = |members: &[&str]| FailedSeeds {
        members: names(members).into_iter().collect(),
        attempts: 2,
        last: Some(at(100)),
    };
    let at_time =
        |knows: &Observed, seconds| elect(knows, &majority(), knows.roster().unwrap(), at(seconds), true);
    let mut knows = three(stopped(1, 5), stopped(1, 4), stopped(1, 5));
    knows.failed_seeds = failed(&["a"]);
    assert_eq!(winner(&at_time(&knows, 101)).0, "c");
    knows.failed_seeds = failed(&["a", "c"]);
    assert_eq!(at_time(&knows, 119), Outcome::NoSeed(at(120)), "b holds less");
    assert_eq!(winner(&at_time(&knows, 120)).0, "a", "everyone is tried again after the pause");
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().disabled = true;
    knows.failed_seeds = failed(&["a"]);
    assert_eq!(
        elect(&knows, &wishes, knows.roster().unwrap(), at(101), true),
        Outcome::NoSeed(at(120)),
        "the equal that is left is disabled"
    );
}

#[test]
fn one_history_among_all_data_found() {
    let foreign = |sequence| stopped(1, sequence).with_held(|held| held.history = "other".into());
    let differs = blocked_by(BlockedBy::HistoryDiffers, ABC);
    assert_eq!(hold(&three(stopped(1, 5), stopped(1, 5), foreign(1)), &majority()), differs);
    // Data outside of the roster contradicts it where no application runs, and not where some do.
    let outside = |report: Report| {
        let reports = vec![("a", stopped(1, 5)), ("b", stopped(1, 5)), ("c", stopped(1, 5)), ("d", report)];
        observed(&roster(ABC), reports)
    };
    let knows = outside(foreign(1));
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::HistoryDiffers, &["a", "b", "c", "d"]));
    let beside = elect(&knows, &majority(), knows.roster().unwrap(), at(0), false);
    assert_eq!(winner(&beside).0, "a");
    let harmless: [fn(&mut Held); 3] =
        [|held| held.empty = true, |held| held.complete = false, |held| held.left = true];
    for change in harmless {
        assert_eq!(winner(&hold(&outside(foreign(1).with_held(change)), &majority())).0, "a");
    }
    let unreadable = outside(foreign(1).with(|report| report.data = Data::Unreadable));
    assert_eq!(winner(&hold(&unreadable, &majority())).0, "a");
    assert_eq!(winner(&hold(&outside(stopped(1, 9)), &majority())).0, "a", "more, but not in the roster");
}

#[test]
fn a_prefix_is_of_the_same_history() {
    let other = Held { history: "other".into(), ..held(3) };
    assert!(is_prefix(&held(3), &held(3)) && is_prefix(&held(2), &held(3)));
    assert!(!is_prefix(&other, &held(3)) && !is_prefix(&held(4), &held(3)));
}
