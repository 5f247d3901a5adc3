//! Tests of software that elects by itself.

use muster_api::names::BlockedBy;

use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Report};
use super::super::super::requests::Directive;
use super::super::super::testing::{at, empty, fence, observed, roster, stopped, terms, wanted};
use super::super::super::wanted::{Mark, Marks, Wanted};
use super::super::{Decision, Effect, Rule, decide};
use super::{ABC, Copies, blocked, idle, majority, new_roster, orders, primary, secondary, trio};

fn electing() -> Wanted {
    let mut wishes = majority();
    wishes.engine.elects = true;
    wishes
}

fn keep(knows: &Observed, rule: Rule) -> Decision {
    let decision = decide(knows, &electing(), at(1));
    assert_eq!(decision.rule, rule);
    decision
}

#[test]
fn it_is_formed_like_any_other() {
    let mut knows = trio(empty(0), empty(0), empty(0));
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    let mark = Mark { member: "a".into(), volume: "a".into() };
    assert_eq!(keep(&knows, Rule::Form).effects, [Effect::MarkFormed(mark.clone())]);
    let formed = Marks { found: [mark].into(), some_unmarked: false };
    assert_eq!(orders(&decide(&knows, &Wanted { formed, ..electing() }, at(1))), ["form a"]);
}

#[test]
fn all_stopped_members_are_started_at_once_without_a_read_set() {
    let all = keep(&trio(stopped(0, 3), stopped(0, 5), stopped(0, 4)), Rule::Recover);
    assert_eq!(orders(&all), ["start a", "start b", "start c"]);
    let mut alone = trio(stopped(0, 3), stopped(0, 5), stopped(0, 4));
    alone.lose_stream("b");
    alone.lose_stream("c");
    assert_eq!(orders(&keep(&alone, Rule::Recover)), ["start a"], "whoever is missing");
    let some = keep(&trio(secondary(3), stopped(0, 5), stopped(0, 9)), Rule::FailOver);
    assert_eq!(orders(&some), ["start b", "start c"]);
    let serves = keep(&trio(primary(5), stopped(0, 3), stopped(0, 9)), Rule::Join);
    assert_eq!(orders(&serves), ["start b", "start c"], "who wins is the software's affair");
}

#[test]
fn nobody_is_promoted_bootstrapped_or_stopped_whatever_they_report() {
    assert!(idle(&keep(&trio(secondary(3), secondary(5), secondary(5)), Rule::FailOver)));
    let isolated = || secondary(5).with_running(|running| running.activity = Activity::Isolated);
    assert!(idle(&keep(&trio(isolated(), isolated(), isolated()), Rule::FailOver)));
    let mut wishes = electing();
    wishes.primaries = 3;
    let decision = decide(&trio(primary(5), secondary(5), secondary(5)), &wishes, at(1));
    assert!(idle(&decision), "nobody is restarted to become a primary");
}

#[test]
fn only_whole_data_of_a_roster_member_is_started() {
    let unfit = [
        stopped(0, 5).with_held(|held| held.complete = false),
        stopped(0, 5).with_held(|held| held.left = true),
        empty(0),
    ];
    for report in unfit {
        let decision = keep(&trio(stopped(0, 5), stopped(0, 5), report), Rule::Recover);
        assert_eq!(orders(&decision), ["start a", "start b"]);
    }
    let reports = vec![("a", stopped(0, 5)), ("x", stopped(0, 5))];
    assert_eq!(orders(&keep(&observed(&roster(ABC), reports), Rule::Recover)), ["start a"]);
}

#[test]
fn a_member_without_data_is_copied_beside_a_primary() {
    let decision = keep(&trio(primary(5), secondary(5), empty(0)), Rule::Join);
    assert_eq!(orders(&decision), ["copy c as Secondary"]);
    let both = keep(&trio(primary(5), stopped(0, 5), empty(0)), Rule::Join);
    assert_eq!(orders(&both), ["copy c as Secondary", "start b"]);
}

#[test]
fn different_histories_start_nobody() {
    let foreign = || stopped(0, 5).with_held(|held| held.history = "other".into());
    let decision = keep(&trio(stopped(0, 5), foreign(), stopped(0, 5)), Rule::Recover);
    assert_eq!(decision.blocked, blocked(BlockedBy::HistoryDiffers, ABC));
    assert!(decision.orders.is_empty());
    let harmless = foreign().with_held(|held| held.left = true);
    let started = keep(&trio(stopped(0, 5), harmless, stopped(0, 5)), Rule::Recover);
    assert_eq!(orders(&started), ["start a", "start c"]);
    let other_terms = stopped(0, 9).with_held(|held| held.terms = terms(&[(4, 2)]));
    let started = keep(&trio(stopped(0, 5), other_terms, stopped(0, 5)), Rule::Recover);
    assert_eq!(orders(&started), ["start a", "start b", "start c"], "terms are not compared");
}

#[test]
fn one_that_fell_again_and_again_rests() {
    let mut knows = trio(secondary(5), stopped(0, 5), stopped(0, 5));
    let seen = knows.members.get_mut("b").unwrap();
    seen.falls = crate::manager::observed::Failures { count: 2, last: Some(at(100)) };
    assert_eq!(orders(&decide(&knows, &electing(), at(109))), ["start c"]);
    assert_eq!(orders(&decide(&knows, &electing(), at(110))), ["start b", "start c"]);
}

fn chosen(a: Report, b: Report, c: Report) -> Observed {
    let mut knows = trio(a, b, c);
    knows.directive = Some(Directive::Seed { member: "b".into(), accept_data_loss: false });
    knows
}

#[test]
fn lost_quorum_is_mended_by_a_chosen_seed_after_all_have_stopped() {
    let isolated = || secondary(5).with_running(|running| running.activity = Activity::Isolated);
    let first = keep(&chosen(isolated(), isolated(), stopped(0, 5)), Rule::Recover);
    assert_eq!(orders(&first), ["stop a", "stop b"]);
    let next = keep(&chosen(stopped(0, 5), stopped(0, 5), stopped(0, 5)), Rule::Recover);
    assert_eq!(orders(&next), ["seed b"]);
    let mut missing = chosen(stopped(0, 5), stopped(0, 5), secondary(5));
    missing.lose_stream("c");
    let waits = keep(&missing, Rule::Recover);
    assert_eq!(waits.blocked, blocked(BlockedBy::MemberMissing, &["c"]), "accounting is for all");
    fence(&mut missing, &["c"]);
    assert_eq!(orders(&keep(&missing, Rule::Recover)), ["seed b"]);
}

#[test]
fn an_agent_that_cannot_tell_what_runs_delays_the_chosen_seed() {
    let unknown =
        stopped(0, 5).with(|report| report.application = super::super::super::report::Application::Unknown);
    let decision = keep(&chosen(stopped(0, 5), stopped(0, 5), unknown), Rule::Recover);
    assert!(idle(&decision));
}

#[test]
fn data_without_a_roster_waits_for_a_person() {
    let mut knows = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    let decision = keep(&knows, Rule::Recover);
    assert!(decision.orders.is_empty() && decision.blocked.is_some());
}

#[test]
fn the_roster_is_kept_as_for_any_other() {
    let names = ["a", "b", "c", "d"];
    let mut wishes = wanted(&names, Copies::Majority);
    wishes.engine.elects = true;
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("d", empty(0))];
    let decision = decide(&observed(&roster(ABC), reports), &wishes, at(1));
    let grown = ["a", "b", "c", "(d)"].map(str::to_owned);
    assert_eq!(new_roster(&decision), Some(grown.into()));
    assert_eq!(decision.rule, Rule::Join);
}

#[test]
fn even_the_leader_leaves_without_a_switchover() {
    let mut wishes = electing();
    wishes.members.get_mut("a").unwrap().leaving = true;
    let knows = trio(primary(5), secondary(5), secondary(5));
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), ["leave a"]);
}

#[test]
fn one_that_stopped_to_be_replaced_is_not_started_before() {
    let mut wishes = electing();
    wishes.members.get_mut("b").unwrap().outdated = true;
    for (first, rule) in [(secondary(5), Rule::FailOver), (primary(5), Rule::Join)] {
        let decision = decide(&trio(first, stopped(0, 5), secondary(5)), &wishes, at(1));
        assert_eq!((orders(&decision), decision.rule), (vec![], rule));
        assert_eq!(decision.effects, [Effect::Replace("b".into())]);
    }
}
