//! Tests of rule 1.

use muster_api::names::{BlockedBy, Role};

use super::super::super::command::Action;
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::roster::Copies;
use super::super::super::stamp::{Stamp, Term};
use super::super::super::terms::{TermList, TermStart};
use super::super::super::testing::{EPOCH, at, observed, roster, running_in, wanted};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Rule, decide, is_split};
use super::{ABC, blocked, idle, majority, orders, primary, secondary, trio};

/// Decides long after the split was first seen.
fn settled(mut knows: Observed, wishes: &Wanted) -> Decision {
    knows.look_around(wishes, at(0));
    decide(&knows, wishes, at(60))
}

fn newer(n: u64) -> Report {
    running_in(n, 3, Role::Primary, 5)
}

#[test]
fn a_change_of_hands_is_no_split_until_five_seconds_have_passed() {
    let mut knows = trio(newer(2), primary(5), secondary(5));
    knows.look_around(&majority(), at(10));
    for now in [10, 14] {
        let decision = decide(&knows, &majority(), at(now));
        assert_eq!((decision.rule, decision.wake), (Rule::SplitBrain, Some(at(15))), "{now}");
        assert!(idle(&decision));
    }
    let certain = decide(&knows, &majority(), at(15));
    assert_eq!((certain.rule, orders(&certain)), (Rule::SplitBrain, vec!["stop b".to_owned()]));
}

#[test]
fn a_split_that_nobody_watched_for_begins_now() {
    let decision = decide(&trio(newer(2), primary(5), secondary(5)), &majority(), at(60));
    assert_eq!((decision.rule, decision.wake), (Rule::SplitBrain, Some(at(65))));
    assert!(idle(&decision));
}

#[test]
fn the_newest_commanded_term_stays_and_all_others_are_stopped() {
    let decision = settled(trio(primary(5), newer(3), newer(2)), &majority());
    assert_eq!(orders(&decision), ["stop a", "stop c"]);
    assert_eq!(decision.blocked, None);
}

#[test]
fn nothing_is_touched_where_terms_do_not_decide() {
    let equal = settled(trio(newer(2), newer(2), primary(5)), &majority());
    assert_eq!(equal.blocked, blocked(BlockedBy::EqualTerms, ABC));
    assert!(equal.orders.is_empty());
    let start = TermStart { term: Term::self_made(Stamp::new(EPOCH, 4), 2), start: 5 };
    let self_made = newer(2).with_held(|held| held.terms = TermList::new([start]));
    let by_hand = settled(trio(newer(2), self_made, secondary(5)), &majority());
    assert_eq!(by_hand.blocked, blocked(BlockedBy::EqualTerms, &["a", "b"]));
    assert!(by_hand.orders.is_empty());
    let none = || primary(5).with_held(|held| held.terms = TermList::default());
    let without = settled(trio(none(), none(), secondary(5)), &majority());
    assert_eq!(without.blocked, blocked(BlockedBy::EqualTerms, &["a", "b"]));
}

#[test]
fn nothing_is_touched_where_histories_differ() {
    let foreign = newer(2).with_held(|held| held.history = "other".into());
    let decision = settled(trio(foreign, primary(5), secondary(5)), &majority());
    assert_eq!(decision.blocked, blocked(BlockedBy::HistoryDiffers, &["a", "b"]));
    assert!(decision.orders.is_empty());
}

#[test]
fn a_person_decides_who_stays() {
    let choose = |member: &str| {
        let foreign = newer(2).with_held(|held| held.history = "other".into());
        let mut knows = trio(foreign, primary(5), secondary(5));
        knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss: false });
        settled(knows, &majority())
    };
    assert_eq!(orders(&choose("a")), ["stop b"]);
    assert_eq!(orders(&choose("b")), ["stop a"]);
    assert_eq!(choose("c").blocked, blocked(BlockedBy::HistoryDiffers, &["a", "b"]), "c is no primary");
}

#[test]
fn only_primaries_that_serve_are_rivals() {
    let doing = |activity| trio(newer(2), primary(5).with_running(|r| r.activity = activity), secondary(5));
    assert!(is_split(&doing(Activity::Serving), &majority()));
    assert!(is_split(&doing(Activity::Donor), &majority()));
    for activity in [Activity::Starting, Activity::Joining, Activity::Isolated, Activity::Failed] {
        assert!(!is_split(&doing(activity), &majority()), "{activity:?}");
    }
    let mut unheard = doing(Activity::Serving);
    unheard.lose_stream("b");
    assert!(!is_split(&unheard, &majority()));
    assert!(!is_split(&trio(primary(5), secondary(5), secondary(5)), &majority()));
}

/// A member of multi-primary software, in this view.
fn node(view: &str, sequence: u64, n: u64) -> Report {
    primary(sequence).with_running(|running| running.view = Some(view.to_owned())).obeyed(n, true)
}

/// Three primaries are wanted.
fn multi(demotes: bool) -> Wanted {
    let mut wishes = wanted(&["a", "b", "c", "d"], Copies::Fixed(1));
    wishes.primaries = 3;
    wishes.engine.demotes = demotes;
    wishes
}

fn four(nodes: [Report; 4]) -> Observed {
    let names = ["a", "b", "c", "d"];
    observed(&roster(&names), names.into_iter().zip(nodes).collect())
}

#[test]
fn as_many_primaries_as_wanted_in_one_view_are_no_split() {
    let knows = trio(node("v", 5, 1), node("v", 5, 2), node("v", 5, 3));
    assert!(!is_split(&knows, &multi(true)));
    assert_eq!(settled(knows, &multi(true)).rule, Rule::Join);
}

#[test]
fn too_many_in_one_view_are_demoted_by_last_command_then_sequence_then_ordinal() {
    let demoted = |nodes| orders(&settled(four(nodes), &multi(true)));
    let v = |sequence, n| node("v", sequence, n);
    assert_eq!(demoted([v(5, 1), v(9, 7), v(3, 2), v(2, 3)]), ["demote b"], "the last commanded");
    assert_eq!(demoted([v(5, 4), v(3, 4), v(5, 4), v(4, 4)]), ["demote b"], "the lowest sequence");
    assert_eq!(demoted([v(5, 4), v(5, 4), v(5, 4), v(5, 4)]), ["demote d"], "the highest ordinal");
    let never_commanded = v(1, 0).with(|report| report.last = None);
    assert_eq!(demoted([v(5, 4), v(5, 4), v(5, 4), never_commanded]), ["demote c"]);
    let stopped = orders(&settled(four([v(5, 1), v(5, 2), v(5, 3), v(5, 4)]), &multi(false)));
    assert_eq!(stopped, ["stop d"], "where the engine cannot demote");
}

#[test]
fn primaries_of_one_view_are_demoted_one_at_a_time() {
    let mut knows = four([node("v", 5, 1), node("v", 5, 2), node("v", 5, 3), node("v", 5, 4)]);
    let mut wishes = multi(true);
    wishes.primaries = 1;
    assert_eq!(orders(&settled(knows.clone(), &wishes)), ["demote d"]);
    knows.note_sent("d", Stamp::new(EPOCH, 9), Instance(1), &Action::Demote, at(59));
    assert!(orders(&settled(knows, &wishes)).is_empty(), "the first has not answered yet");
}

#[test]
fn of_two_views_the_one_with_the_newest_commanded_term_stays_as_a_whole() {
    let newer = |view: &str| newer(2).with_running(|running| running.view = Some(view.to_owned()));
    let decision =
        settled(four([node("v", 5, 1), newer("v"), node("w", 5, 1), node("w", 5, 1)]), &multi(true));
    assert_eq!(
        (decision.rule, orders(&decision)),
        (Rule::SplitBrain, vec!["stop c".into(), "stop d".into()])
    );
    let two = settled(trio(node("v", 5, 1), node("w", 5, 1), node("w", 5, 1)), &multi(true));
    assert_eq!(two.rule, Rule::SplitBrain, "not more than wanted, but two views");
    assert_eq!(two.blocked, blocked(BlockedBy::EqualTerms, ABC));
}
