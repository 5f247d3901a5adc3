//! Tests of rule 2: who joins, when, and how.

use muster_api::names::Role;

use super::super::super::command::{Action, Join};
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Data, Held, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::terms::TermList;
use super::super::super::testing::{
    EPOCH, at, empty, observed, roster, running_in, stopped, term, terms, wanted,
};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Rule, decide};
use super::{
    ABC, Copies, after, idle, majority, new_roster, orders, primary, request_ended, secondary, trio,
};

fn tend(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::Join);
    decision
}

fn joins(a: Report, b: Report, c: Report) -> Vec<String> {
    orders(&tend(&trio(a, b, c), &majority()))
}

/// A stopped member with these marks.
fn marked(sequence: u64, change: impl FnOnce(&mut Held)) -> Report {
    stopped(0, sequence).with_held(change)
}

#[test]
fn a_whole_cluster_is_left_alone() {
    let decision = tend(&trio(primary(5), secondary(5), secondary(5)), &majority());
    assert!(idle(&decision) && !decision.ask && decision.wake.is_none() && decision.waiting.is_empty());
}

#[test]
fn prefixes_join_one_at_a_time_the_highest_first() {
    assert_eq!(joins(primary(5), stopped(0, 3), stopped(0, 4)), ["join c as Secondary"]);
    assert_eq!(joins(primary(5), stopped(0, 4), stopped(0, 4)), ["join b as Secondary"], "by ordinal");
    let newer = stopped(0, 3).with_held(|held| held.terms = terms(&[(1, 1), (2, 4)]));
    let serving = running_in(2, 4, Role::Primary, 9);
    assert_eq!(joins(serving, stopped(0, 2), newer), ["join c as Secondary"], "by term first");
    let mut wishes = majority();
    wishes.members.get_mut("b").unwrap().ordinal = Some(7);
    let knows = trio(primary(5), stopped(0, 4), stopped(0, 4));
    assert_eq!(orders(&tend(&knows, &wishes)), ["join c as Secondary"]);
}

#[test]
fn a_joiner_gets_the_primarys_term_history_and_list() {
    let serving = running_in(2, 4, Role::Primary, 9);
    let decision = tend(&trio(serving, stopped(0, 3), stopped(0, 2)), &majority());
    let expected = Join {
        role: Role::Secondary,
        term: term(2),
        history: "h".into(),
        terms: terms(&[(1, 1), (2, 4)]),
        copy: false,
    };
    assert_eq!(decision.orders[0].action, Action::Join(expected));
    assert_eq!((decision.orders[0].member.as_str(), decision.orders[0].instance), ("b", Instance(1)));
}

#[test]
fn nobody_joins_while_another_is_on_its_way() {
    let on_its_way = |activity, synced| {
        let joiner = secondary(3).with_running(|r| (r.activity, r.synced) = (activity, synced));
        joins(primary(5), joiner, stopped(0, 4))
    };
    for activity in [Activity::Starting, Activity::Joining] {
        assert!(on_its_way(activity, true).is_empty() && on_its_way(activity, false).is_empty());
    }
    assert!(on_its_way(Activity::Serving, false).is_empty(), "it has not caught up");
    assert_eq!(on_its_way(Activity::Serving, true), ["join c as Secondary"]);
    assert_eq!(on_its_way(Activity::Failed, false), ["join c as Secondary"], "who failed blocks nobody");
    let mut knows = trio(primary(5), stopped(0, 3), stopped(0, 4));
    knows.note_sent("x", Stamp::new(EPOCH, 9), Instance(1), &Action::Start, at(1));
    let waits = tend(&knows, &majority());
    assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(31))), "a start is under way");
}

#[test]
fn one_that_was_told_to_start_and_is_gone_does_not_hold_up_the_others_for_ever() {
    let mut knows = trio(primary(5), stopped(0, 3), stopped(0, 4));
    knows.note_sent("b", Stamp::new(EPOCH, 9), Instance(1), &Action::Start, at(1));
    knows.lose_stream("b");
    assert!(orders(&decide(&knows, &majority(), at(30))).is_empty(), "it may be on its way");
    assert_eq!(orders(&decide(&knows, &majority(), at(31))), ["join c as Secondary"]);
}

#[test]
fn a_primary_that_is_not_synced_is_not_on_its_way() {
    let serving = primary(5).with_running(|running| running.synced = false);
    assert_eq!(joins(serving, stopped(0, 3), stopped(0, 4)), ["join c as Secondary"]);
}

#[test]
fn what_is_errant_or_unreadable_stays_stopped() {
    let alone = |c: Report| joins(primary(5), secondary(5), c);
    assert_eq!(alone(stopped(0, 5)), ["join c as Secondary"]);
    assert!(alone(stopped(0, 6)).is_empty(), "it holds more");
    assert!(alone(marked(5, |held| held.history = "other".into())).is_empty());
    assert!(alone(marked(5, |held| held.terms = terms(&[(3, 1)]))).is_empty());
    assert!(alone(marked(1, |held| held.terms = TermList::default())).is_empty());
    assert!(alone(stopped(0, 5).with(|report| report.data = Data::Unreadable)).is_empty());
}

#[test]
fn what_is_empty_or_incomplete_is_copied_anew_whatever_it_says() {
    let alone = |c: Report| joins(primary(5), secondary(5), c);
    assert_eq!(alone(empty(0)), ["copy c as Secondary"]);
    assert_eq!(alone(marked(9, |held| held.complete = false)), ["copy c as Secondary"]);
    assert_eq!(alone(marked(9, |held| held.empty = true)), ["copy c as Secondary"]);
    assert_eq!(alone(marked(4, |held| held.left = true)), ["join c as Secondary"], "left, and a prefix");
}

#[test]
fn a_running_secondary_that_follows_an_earlier_term_is_stopped_first() {
    let serving = || running_in(2, 4, Role::Primary, 9);
    assert_eq!(joins(serving(), secondary(3), running_in(2, 4, Role::Secondary, 9)), ["stop b"]);
    let nobody = running_in(2, 4, Role::Secondary, 9).with_running(|running| running.term = None);
    assert_eq!(joins(serving(), nobody, stopped(0, 3)), ["stop b"], "it follows nobody");
    assert_eq!(joins(serving(), secondary(3), secondary(3)), ["stop b", "stop c"]);
}

#[test]
fn who_runs_and_is_in_no_roster_is_stopped() {
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("x", secondary(5))];
    assert_eq!(orders(&tend(&observed(&roster(ABC), reports), &majority())), ["stop x"]);
}

#[test]
fn one_that_fell_again_and_again_rests_and_does_not_keep_others_waiting() {
    let mut knows = trio(primary(5), stopped(0, 3), stopped(0, 4));
    let seen = knows.members.get_mut("c").unwrap();
    seen.falls = super::super::super::observed::Failures { count: 2, last: Some(at(100)) };
    let decision = decide(&knows, &majority(), at(109));
    assert_eq!((orders(&decision), decision.wake), (vec!["join b as Secondary".into()], Some(at(110))));
    let rested = decide(&knows, &majority(), at(110));
    assert_eq!((orders(&rested), rested.wake), (vec!["join c as Secondary".to_owned()], None));
}

#[test]
fn a_new_member_is_started_only_once_its_roster_is_acknowledged() {
    let four = || after(roster(&["a", "b", "c", "d"]), 2, &roster(ABC));
    let mut newer = four();
    newer.entries[3].voter = false;
    let knows_it = |report: Report| {
        report
            .with(|report| report.roster = Some(newer.clone()))
            .with_running(|running| running.roster = Some(newer.version))
    };
    let wishes = wanted(&["a", "b", "c", "d"], Copies::Majority);
    let reports = |c: Report, d: Report| {
        vec![("a", knows_it(primary(5))), ("b", knows_it(secondary(5))), ("c", c), ("d", d)]
    };
    let untold = observed(&roster(ABC), reports(secondary(5), knows_it(empty(0))));
    assert_eq!(orders(&tend(&untold, &wishes)), ["take roster c"]);
    let told = observed(&roster(ABC), reports(knows_it(secondary(5)), knows_it(empty(0))));
    let settled = tend(&told, &wishes);
    assert_eq!(orders(&settled), Vec::<String>::new(), "first the roster is settled");
    assert_eq!(settled.roster.and_then(|change| change.before), None);
    // b is silent, and by three copies it would have to know: who was there before may be started all the same.
    let silent_b = |c: Report, d: Report| {
        let mut knows = observed(&roster(ABC), reports(c, d));
        knows.lose_stream("b");
        orders(&tend(&knows, &wanted(&["a", "b", "c", "d"], Copies::Fixed(3))))
    };
    assert_eq!(silent_b(knows_it(stopped(0, 3)), knows_it(empty(0))), ["join c as Secondary"]);
    assert!(silent_b(knows_it(secondary(5)), knows_it(empty(0))).is_empty(), "d is new");
}

#[test]
fn more_primaries_are_made_up_to_the_wanted_count() {
    let mut wishes = majority();
    wishes.primaries = 2;
    let view = |report: Report| report.with_running(|running| running.view = Some("v".into()));
    let one = trio(view(primary(5)), stopped(0, 5), stopped(0, 4));
    assert_eq!(orders(&tend(&one, &wishes)), ["join b as Primary"]);
    let two = trio(view(primary(5)), view(primary(5)), stopped(0, 4));
    assert_eq!(orders(&tend(&two, &wishes)), ["join c as Secondary"]);
    // Nobody is left to join: a secondary starts anew, as a primary.
    let whole = trio(view(primary(5)), secondary(5), secondary(5));
    assert_eq!(orders(&tend(&whole, &wishes)), ["stop b"]);
    wishes.members.get_mut("b").unwrap().disabled = true;
    assert_eq!(orders(&tend(&whole, &wishes)), ["stop c"], "a disabled one keeps its role");
    let behind = secondary(5).with_running(|running| running.synced = false);
    assert!(idle(&tend(&trio(view(primary(5)), secondary(5), behind), &wishes)), "c has not caught up");
    wishes.primaries = 1;
    assert!(idle(&tend(&whole, &wishes)));
}

#[test]
fn a_primary_that_has_joined_is_not_stopped_for_an_older_term() {
    let mut wishes = majority();
    wishes.primaries = 3;
    let view = |report: Report| report.with_running(|running| running.view = Some("v".into()));
    let leading = view(running_in(2, 4, Role::Primary, 9));
    let knows = trio(leading, view(primary(9)), view(primary(9)));
    assert!(orders(&tend(&knows, &wishes)).iter().all(|order| !order.starts_with("stop")));
}

#[test]
fn everyone_is_told_the_count_before_it_is_written() {
    let untold = |report: Report| report.with(|report| report.recorded = vec![3, 2]);
    let knows = trio(primary(5), untold(secondary(5)), secondary(5));
    assert_eq!(orders(&tend(&knows, &majority())), ["remember b 3"]);
    let forgetful = |report: Report| report.with(|report| report.recorded = vec![]);
    let nobody = trio(forgetful(primary(5)), forgetful(secondary(5)), forgetful(secondary(5)));
    assert_eq!(orders(&tend(&nobody, &majority())), ["remember a 3", "remember b 3", "remember c 3"]);
    let reports = vec![
        ("a", primary(5)),
        ("b", secondary(5)),
        ("c", secondary(5)),
        ("x", stopped(0, 9).with(|report| report.recorded = vec![])),
    ];
    assert!(orders(&tend(&observed(&roster(ABC), reports), &majority())).is_empty(), "x is no member");
}

#[test]
fn a_recovery_by_request_ends_when_a_primary_serves() {
    let ask = |member: &str| {
        let mut knows = trio(primary(5), secondary(5), secondary(5));
        knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss: false });
        knows
    };
    assert_eq!(request_ended(&tend(&ask("a"), &majority())), Some(Ok(())));
    let other = tend(&ask("b"), &majority());
    assert_eq!(request_ended(&other), Some(Err("a serves already, b was not needed")));
    let mut wishes = majority();
    wishes.primaries = 3;
    for member in ABC {
        let serves = || primary(5).with_running(|running| running.view = Some("v".into()));
        let mut knows = trio(serves(), serves(), serves());
        knows.directive = Some(Directive::Seed { member: (*member).into(), accept_data_loss: false });
        assert_eq!(request_ended(&tend(&knows, &wishes)), Some(Ok(())), "{member} takes writes as chosen");
    }
}

fn rejoining(c: Report) -> Observed {
    let mut knows = trio(primary(5), secondary(5), c);
    knows.directive = Some(Directive::Rejoin { member: "c".into() });
    knows
}

#[test]
fn who_may_be_discarded_loses_its_vote_and_then_its_data() {
    let first = tend(&rejoining(stopped(0, 9)), &majority());
    assert_eq!(new_roster(&first), Some(vec!["a".into(), "b".into(), "(c)".into()]));
    assert_eq!((orders(&first), request_ended(&first)), (vec![], None));
    assert_eq!(first.roster.unwrap().before, None, "what it voted on is not waited for");
    let mut without_vote = roster(ABC);
    without_vote.entries[2].voter = false;
    for c in [stopped(0, 9), stopped(0, 9).with(|report| report.data = Data::Unreadable)] {
        let mut next = observed(&without_vote, vec![("a", primary(5)), ("b", secondary(5)), ("c", c)]);
        next.directive = Some(Directive::Rejoin { member: "c".into() });
        assert_eq!(orders(&tend(&next, &majority())), ["copy c as Secondary"]);
    }
    let mut before = without_vote.clone();
    before.before = Some(roster(ABC).entries);
    let mut still = observed(&before, vec![("a", primary(5)), ("b", secondary(5)), ("c", stopped(0, 9))]);
    still.directive = Some(Directive::Rejoin { member: "c".into() });
    assert!(tend(&still, &majority()).roster.is_some_and(|change| change.before.is_none()));
}

#[test]
fn a_rejoin_ends_when_the_member_runs_for_this_primary_or_cannot() {
    let why = "c runs and its copies count: nothing was discarded";
    assert_eq!(request_ended(&tend(&rejoining(secondary(5)), &majority())), Some(Err(why)));
    let mut copied = roster(ABC);
    copied.entries[2].voter = false;
    let mut done = observed(&copied, vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))]);
    done.directive = Some(Directive::Rejoin { member: "c".into() });
    assert_eq!(request_ended(&tend(&done, &majority())), Some(Ok(())));
    let older = rejoining(secondary(5).with_running(|running| running.term = None));
    assert_eq!(request_ended(&tend(&older, &majority())), None);
    let mut unheard = rejoining(stopped(0, 9));
    unheard.lose_stream("c");
    assert_eq!(request_ended(&tend(&unheard, &majority())), Some(Err("the agent of c is not heard")));
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().leaving = true;
    let leaving = tend(&rejoining(stopped(0, 9)), &wishes);
    assert_eq!(request_ended(&leaving), Some(Err("c is leaving")));
    let mut alone = roster(&["a", "c"]);
    alone.entries[0].voter = false;
    let mut last = observed(&alone, vec![("a", primary(5)), ("c", stopped(0, 9))]);
    last.directive = Some(Directive::Rejoin { member: "c".into() });
    let refused = tend(&last, &majority());
    assert_eq!(request_ended(&refused), Some(Err("nobody would be left whose copies count")));
}

#[test]
fn the_primary_that_is_followed_is_the_one_of_the_highest_place() {
    let mut wishes = majority();
    wishes.primaries = 2;
    let view = |report: Report| report.with_running(|running| running.view = Some("v".into()));
    let followed = |a: Report, b: Report| {
        let decision = tend(&trio(view(a), view(b), stopped(0, 3)), &wishes);
        let [order] = decision.orders.as_slice() else { panic!("{decision:?}") };
        let Action::Follow(follow) = &order.action else { panic!("{order:?}") };
        (order.member.clone(), follow.term)
    };
    let newer = || running_in(2, 4, Role::Primary, 5);
    assert_eq!(followed(primary(9), newer()), ("a".into(), term(2)), "one view: it takes over the term");
    assert_eq!(followed(newer(), primary(9)), ("b".into(), term(2)));
}
