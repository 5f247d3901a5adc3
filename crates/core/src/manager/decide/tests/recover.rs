//! Tests of rule 4.

use muster_api::names::BlockedBy;

use super::super::super::command::Action;
use super::super::super::observed::{FailedSeeds, Observed};
use super::super::super::report::{Application, Data, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{EPOCH, at, empty, fence, observed, roster, stopped, wanted};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Effect, Rule, decide};
use super::{ABC, Copies, after, blocked, idle, majority, new_roster, orders, request_ended, trio};

fn recover(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::Recover);
    decision
}

fn level() -> Observed {
    trio(stopped(0, 5), stopped(0, 5), stopped(0, 5))
}

#[test]
fn the_most_advanced_seeds() {
    let decision = recover(&trio(stopped(0, 3), stopped(0, 5), empty(0)), &majority());
    assert_eq!(orders(&decision), ["seed b"]);
    assert_eq!((decision.roster, decision.effects, decision.blocked), (None, vec![], None));
    assert_eq!(decision.orders[0].action, Action::Seed { forming: false });
}

#[test]
fn what_is_empty_left_incomplete_or_unreadable_never_seeds() {
    let unfit = [
        empty(0),
        stopped(0, 9).with_held(|held| held.left = true),
        stopped(0, 9).with_held(|held| held.complete = false),
        stopped(0, 9).with(|report| report.data = Data::Unreadable),
    ];
    for report in unfit {
        let decision = recover(&trio(stopped(0, 5), report.clone(), stopped(0, 4)), &majority());
        assert_eq!(orders(&decision), ["seed a"], "{report:?}");
        let short = recover(&trio(stopped(0, 5), report.clone(), report), &majority());
        assert_eq!(short.blocked, blocked(BlockedBy::DataMissing, &["b", "c"]));
        assert!(short.orders.is_empty());
    }
}

#[test]
fn who_is_missing_is_named_and_loss_is_no_accounting() {
    let knows = observed(&roster(ABC), vec![("a", stopped(0, 5)), ("b", stopped(0, 5))]);
    for allow_loss in [false, true] {
        let decision = recover(&knows, &Wanted { allow_loss, ..majority() });
        assert_eq!(decision.blocked, blocked(BlockedBy::MemberMissing, &["c"]));
        assert!(decision.orders.is_empty() && !decision.ask, "the others were read in this round");
    }
}

#[test]
fn where_an_agent_cannot_tell_what_runs_it_is_waited_for() {
    let unknown = stopped(0, 5).with(|report| report.application = Application::Unknown);
    let decision = recover(&trio(stopped(0, 5), stopped(0, 5), unknown), &majority());
    assert_eq!((&decision.waiting, decision.ask), (&vec!["c".to_owned()], true));
    assert!(idle(&decision));
}

#[test]
fn different_histories_block_until_a_person_chooses() {
    let foreign = stopped(0, 1).with_held(|held| held.history = "other".into());
    let mut knows = trio(stopped(0, 5), stopped(0, 5), foreign);
    assert_eq!(recover(&knows, &majority()).blocked, blocked(BlockedBy::HistoryDiffers, ABC));
    knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss: false });
    assert_eq!(orders(&recover(&knows, &majority())), ["seed a"]);
    knows.directive = Some(Directive::Forget { members: vec!["c".into()] });
    let refused = recover(&knows, &majority());
    assert!(request_ended(&refused).is_some_and(|ended| ended.is_err()), "nobody serves");
    assert_eq!((refused.roster.clone(), refused.orders.len()), (None, 0));
}

#[test]
fn loss_is_warned_of() {
    let mut knows = level();
    fence(&mut knows, &["b", "c"]);
    let decision = recover(&knows, &Wanted { allow_loss: true, ..majority() });
    assert_eq!(orders(&decision), ["seed a"]);
    let [Effect::WarnOfLoss(loss)] = decision.effects.as_slice() else { panic!("{decision:?}") };
    assert_eq!((loss.member.as_str(), loss.without.clone()), ("a", vec!["b".to_owned(), "c".to_owned()]));
}

#[test]
fn a_seed_that_owes_an_answer_is_waited_for_and_no_other_is_chosen() {
    let mut knows = level();
    knows.note_sent("a", Stamp::new(EPOCH, 9), Instance(1), &Action::TakeRoster, at(0));
    let decision = recover(&knows, &majority());
    assert_eq!((&decision.waiting, decision.wake), (&vec!["a".to_owned()], Some(at(30))));
    assert!(idle(&decision));
    assert_eq!(orders(&decide(&knows, &majority(), at(30))), ["seed a"]);
}

#[test]
fn while_a_seed_is_unanswered_nobody_else_is_started() {
    let mut knows = level();
    knows.note_sent("a", Stamp::new(EPOCH, 9), Instance(1), &Action::Seed { forming: false }, at(0));
    assert!(idle(&recover(&knows, &majority())));
    let late = decide(&knows, &majority(), at(30));
    assert_eq!(orders(&late), ["stop a"]);
    knows.lose_stream("a");
    let lost = decide(&knows, &majority(), at(30));
    assert_eq!(lost.blocked, blocked(BlockedBy::SeedUnconfirmed, &["a"]));
    assert!(lost.orders.is_empty());
}

#[test]
fn an_equal_is_tried_after_one_that_failed_and_then_all_wait() {
    let mut knows = trio(stopped(0, 5), stopped(0, 5), stopped(0, 4));
    let failed = |members: &[&str]| FailedSeeds {
        members: members.iter().map(|&name| name.to_owned()).collect(),
        attempts: 2,
        last: Some(at(100)),
    };
    knows.failed_seeds = failed(&["a"]);
    assert_eq!(orders(&decide(&knows, &majority(), at(101))), ["seed b"]);
    knows.failed_seeds = failed(&["a", "b"]);
    let none = decide(&knows, &majority(), at(119));
    assert_eq!((none.no_seed, none.wake, none.ask), (Some(at(120)), Some(at(120)), false));
    assert!(idle(&none));
    assert_eq!(orders(&decide(&knows, &majority(), at(120))), ["seed a"]);
}

fn choose(knows: &mut Observed, member: &str, accept_data_loss: bool) -> Decision {
    knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss });
    recover(knows, &majority())
}

#[test]
fn a_person_may_choose_a_lower_place_and_the_roster_stays() {
    let decision = choose(&mut trio(stopped(0, 5), stopped(0, 5), stopped(0, 3)), "c", false);
    assert_eq!((orders(&decision), decision.roster), (vec!["seed c".to_owned()], None));
    assert_eq!(decision.effects.len(), 1);
}

#[test]
fn a_person_who_accepts_the_loss_begins_a_roster_of_that_seed_alone() {
    let reports = |d: Report| {
        let mut reports = ABC.iter().map(|&name| (name, stopped(0, 5))).collect::<Vec<_>>();
        reports.push(("d", d));
        observed(&roster(ABC), reports)
    };
    let nothing = choose(&mut reports(empty(0)), "d", true);
    assert_eq!((orders(&nothing), new_roster(&nothing)), (vec!["form d".into()], Some(vec!["d".into()])));
    let change = nothing.roster.unwrap();
    assert_eq!((change.entries[0].id, change.next_id), (4, 5), "an id that nobody had");
    let foreign = choose(&mut reports(stopped(0, 7)), "d", true);
    assert_eq!((orders(&foreign), new_roster(&foreign)), (vec!["seed d".into()], Some(vec!["d".into()])));
    let member = choose(&mut reports(empty(0)), "b", true);
    let change = member.roster.unwrap();
    assert_eq!((change.entries[0].id, change.entries[0].volume.as_str(), change.next_id), (2, "b", 4));
}

#[test]
fn an_unfit_choice_ends_the_request_and_starts_nobody() {
    let decision = choose(&mut trio(stopped(0, 5), stopped(0, 5), empty(0)), "c", false);
    let why = "c holds no data that counts: it would take --accept-data-loss to start from it";
    assert_eq!((request_ended(&decision), decision.orders.len()), (Some(Err(why)), 0));
}

#[test]
fn a_count_of_a_person_blocks_a_recovery() {
    let decision = recover(&level(), &Wanted { restore: Some(4), ..majority() });
    assert_eq!(decision.blocked, blocked(BlockedBy::RestoreReplicas, &[]));
    assert!(decision.orders.is_empty());
}

#[test]
fn a_roster_that_too_few_know_is_handed_out_before_anyone_seeds() {
    let four = after(roster(&["a", "b", "c", "d"]), 2, &roster(ABC));
    let with = |copies| {
        let report = |name: &str| {
            let known = if name == "d" { four.clone() } else { roster(ABC) };
            stopped(0, 5).with(|report| report.roster = Some(known))
        };
        let knows = observed(&roster(ABC), ["a", "b", "c", "d"].map(|name| (name, report(name))).into());
        recover(&knows, &wanted(&["a", "b", "c", "d"], copies))
    };
    let untold = with(Copies::Majority);
    assert_eq!(orders(&untold), ["take roster a", "take roster b", "take roster c"]);
    assert_eq!(orders(&with(Copies::Fixed(1))), ["seed a"], "the seed itself is enough");
}

#[test]
fn data_without_any_roster_is_not_formed_over() {
    let mut knows = level();
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    let decision = recover(&knows, &majority());
    assert_eq!(decision.blocked, blocked(BlockedBy::HistoryDiffers, ABC), "nothing of it is this cluster's");
    assert!(decision.orders.is_empty());
    let chosen = choose(&mut knows, "b", true);
    assert_eq!((orders(&chosen), new_roster(&chosen)), (vec!["seed b".into()], Some(vec!["b".into()])));
    let change = chosen.roster.unwrap();
    assert_eq!((change.entries[0].id, change.next_id), (1, 2));
}
