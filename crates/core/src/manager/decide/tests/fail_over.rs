//! Tests of rule 3.

use muster_api::names::BlockedBy;

use super::super::super::command::Action;
use super::super::super::election::Winner;
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::terms::Place;
use super::super::super::testing::{
    EPOCH, at, empty, fence, now_says, observed, roster, stopped, term, wanted,
};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Effect, Rule, decide};
use super::{
    ABC, Copies, after, blocked, idle, majority, new_roster, orders, primary, request_ended, secondary, trio,
};

fn fail_over(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::FailOver);
    decision
}

fn told(a: Report, b: Report, c: Report) -> Vec<String> {
    orders(&fail_over(&trio(a, b, c), &majority()))
}

fn place(sequence: u64) -> Place {
    Place { term: Some(term(1)), sequence }
}

#[test]
fn the_most_advanced_is_promoted() {
    assert_eq!(told(secondary(3), secondary(5), secondary(4)), ["promote b"]);
    assert_eq!(told(stopped(0, 3), secondary(3), secondary(5)), ["promote c"]);
    let knows = trio(secondary(3), secondary(5), secondary(4));
    let decision = fail_over(&knows, &majority());
    assert_eq!((decision.roster, decision.effects, decision.blocked), (None, vec![], None));
}

#[test]
fn a_stopped_ex_primary_that_holds_more_leads_again() {
    assert_eq!(told(stopped(0, 5), secondary(4), secondary(4)), ["lead a"]);
    assert_eq!(told(stopped(0, 5), secondary(5), secondary(4)), ["promote b"], "one that runs is as good");
}

#[test]
fn where_the_engine_cannot_promote_the_most_advanced_is_stopped_first() {
    let mut wishes = majority();
    wishes.engine.promotes = false;
    assert_eq!(orders(&fail_over(&trio(secondary(3), secondary(5), stopped(0, 4)), &wishes)), ["stop b"]);
    assert_eq!(orders(&fail_over(&trio(secondary(3), stopped(0, 5), stopped(0, 4)), &wishes)), ["lead b"]);
}

#[test]
fn who_is_missing_blocks_and_those_who_are_there_are_asked_once() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.lose_stream("a");
    let decision = fail_over(&knows, &majority());
    assert_eq!(decision.blocked, blocked(BlockedBy::MemberMissing, &["a"]));
    assert!(decision.orders.is_empty() && !decision.ask, "they were read in this round");
    knows.take_fences([("a", super::super::super::fencing::FenceKind::Terminated)]);
    let waits = fail_over(&knows, &majority());
    assert_eq!((&waits.waiting, waits.ask), (&vec!["b".to_owned(), "c".to_owned()], true));
    assert!(idle(&waits));
    super::super::super::testing::ask_again(&mut knows, at(0));
    let decision = fail_over(&knows, &majority());
    assert_eq!((orders(&decision), decision.ask), (vec!["promote b".to_owned()], false));
}

#[test]
fn missing_data_blocks_unless_loss_is_allowed_and_then_it_is_said() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    fence(&mut knows, &["a", "b"]);
    let short = fail_over(&knows, &majority());
    assert_eq!(short.blocked, blocked(BlockedBy::DataMissing, &["a", "b"]));
    assert!(short.orders.is_empty() && short.effects.is_empty());
    let allowed = fail_over(&knows, &Wanted { allow_loss: true, ..majority() });
    let loss = Winner { member: "c".into(), place: place(5), without: vec!["a".into(), "b".into()] };
    assert_eq!(
        (orders(&allowed), allowed.effects),
        (vec!["promote c".to_owned()], vec![Effect::WarnOfLoss(loss)])
    );
    knows.directive = Some(Directive::Seed { member: "c".into(), accept_data_loss: false });
    let requested = fail_over(&knows, &majority());
    assert_eq!(orders(&requested), ["promote c"]);
    assert_eq!((requested.effects.len(), requested.roster), (1, None));
}

#[test]
fn no_loss_is_warned_of_before_the_command_that_causes_it() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    fence(&mut knows, &["a", "b"]);
    let mut wishes = Wanted { allow_loss: true, ..majority() };
    wishes.engine.promotes = false;
    let stops = fail_over(&knows, &wishes);
    assert_eq!((orders(&stops), stops.effects), (vec!["stop c".to_owned()], vec![]));
}

#[test]
fn a_disabled_member_that_alone_is_most_advanced_blocks() {
    let mut wishes = majority();
    wishes.members.get_mut("b").unwrap().disabled = true;
    let decision = fail_over(&trio(stopped(0, 4), secondary(5), secondary(4)), &wishes);
    assert_eq!(decision.blocked, blocked(BlockedBy::MemberDisabled, &["b"]));
    assert!(decision.orders.is_empty());
}

fn isolated(report: Report) -> Report {
    report.with_running(|running| running.activity = Activity::Isolated)
}

#[test]
fn where_all_that_run_are_isolated_the_most_advanced_is_bootstrapped() {
    let mut wishes = majority();
    wishes.engine.bootstraps = true;
    let all = trio(isolated(primary(4)), isolated(primary(5)), isolated(secondary(5)));
    assert_eq!(orders(&fail_over(&all, &wishes)), ["bootstrap b"]);
    let one_off = trio(isolated(primary(5)), isolated(primary(5)), stopped(0, 4));
    assert_eq!(orders(&fail_over(&one_off, &wishes)), ["bootstrap a"]);
    let ahead_off = trio(isolated(primary(4)), isolated(primary(4)), stopped(0, 5));
    assert_eq!(orders(&fail_over(&ahead_off, &wishes)), ["stop a", "stop b"], "c holds more: rule 4");
}

#[test]
fn where_the_engine_cannot_bootstrap_all_that_are_isolated_stop() {
    let all = trio(isolated(primary(4)), isolated(primary(5)), stopped(0, 4));
    let decision = fail_over(&all, &majority());
    assert_eq!((orders(&decision), decision.effects), (vec!["stop a".into(), "stop b".into()], vec![]));
}

#[test]
fn all_is_read_before_anything_isolated_is_stopped_or_bootstrapped() {
    for bootstraps in [false, true] {
        let mut wishes = majority();
        wishes.engine.bootstraps = bootstraps;
        let mut knows = trio(isolated(primary(4)), isolated(primary(5)), isolated(primary(5)));
        knows.lose_stream("c");
        let decision = fail_over(&knows, &wishes);
        assert_eq!(decision.blocked, blocked(BlockedBy::MemberMissing, &["c"]));
        assert!(decision.orders.is_empty());
    }
}

#[test]
fn an_isolated_primary_beside_others_stops_before_one_is_promoted() {
    let mut wishes = majority();
    wishes.engine.bootstraps = true;
    let mixed = trio(isolated(primary(4)), secondary(5), secondary(5));
    let decision = fail_over(&mixed, &wishes);
    assert_eq!(orders(&decision), ["stop a"]);
    let secondaries = trio(isolated(secondary(4)), secondary(5), secondary(5));
    assert_eq!(orders(&fail_over(&secondaries, &wishes)), ["promote b"], "it is no primary");
}

#[test]
fn the_target_of_a_switchover_is_waited_for_until_its_deadline() {
    let switching = |c: Report| {
        let mut knows = trio(secondary(4), secondary(5), c);
        let deadline = at(120);
        knows.directive = Some(Directive::Switchover { to: Some("c".into()), from: "a".into(), deadline });
        knows
    };
    let waits = decide(&switching(secondary(4)), &majority(), at(119));
    assert_eq!((&waits.waiting, waits.wake), (&vec!["c".to_owned()], Some(at(120))));
    assert!(idle(&waits));
    let late = decide(&switching(secondary(4)), &majority(), at(120));
    assert_eq!((orders(&late), late.waiting), (vec!["promote b".to_owned()], vec![]));
    let stopped = decide(&switching(stopped(0, 4)), &majority(), at(1));
    assert_eq!(orders(&stopped), ["promote b"], "it cannot catch up");
    assert_eq!(orders(&decide(&switching(secondary(5)), &majority(), at(1))), ["promote c"]);
    let mut anyone = switching(secondary(4));
    anyone.directive = Some(Directive::Switchover { to: None, from: "a".into(), deadline: at(120) });
    assert_eq!(orders(&decide(&anyone, &majority(), at(1))), ["promote b"]);
}

#[test]
fn who_handed_over_to_be_replaced_waits_a_moment_for_another_to_be_seen_level() {
    let wishes = |outdated: bool| {
        let mut wishes = majority();
        wishes.members.get_mut("a").unwrap().outdated = outdated;
        wishes
    };
    let at_second = |knows: &Observed, wishes: &Wanted, second: i64| {
        let decision = decide(knows, wishes, at(second));
        (orders(&decision), decision.wake)
    };
    let mut knows = trio(secondary(9), secondary(5), secondary(4));
    knows.members.get_mut("a").unwrap().last_sent = Some(at(0));
    assert_eq!(at_second(&knows, &wishes(true), 4), (vec![], Some(at(5))));
    assert_eq!(at_second(&knows, &wishes(true), 5), (vec!["promote a".to_owned()], None), "nobody came");
    assert_eq!(at_second(&knows, &wishes(false), 4).0, ["promote a"], "it need not be replaced");
    let behind = || secondary(5).with_running(|running| running.synced = false);
    let mut alone = trio(secondary(9), behind(), behind());
    alone.members.get_mut("a").unwrap().last_sent = Some(at(0));
    assert_eq!(at_second(&alone, &wishes(true), 4).0, ["promote a"], "nobody is about to be level");
}

#[test]
fn a_seed_that_a_person_chose_regardless_begins_a_roster_of_its_own() {
    let choose = |member: &str, c: Report| {
        let mut knows = trio(secondary(4), secondary(5), c);
        knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss: true });
        fail_over(&knows, &majority())
    };
    let runs = choose("a", stopped(0, 5));
    assert_eq!((orders(&runs), new_roster(&runs)), (vec!["promote a".into()], Some(vec!["a".into()])));
    let change = runs.roster.unwrap();
    assert_eq!((change.entries[0].id, change.next_id, change.before), (1, 4, None));
    assert!(matches!(runs.effects.as_slice(), [Effect::WarnOfLoss(loss)] if loss.without == ["b", "c"]));
    let stopped = choose("c", empty(0));
    assert_eq!((orders(&stopped), stopped.roster), (vec!["stop a".into(), "stop b".into()], None));
}

#[test]
fn a_roster_of_one_is_made_only_with_the_command_that_begins_its_term() {
    let mut knows = trio(secondary(4), secondary(5), stopped(0, 5));
    knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss: true });
    let mut wishes = majority();
    wishes.engine.promotes = false;
    let stops = fail_over(&knows, &wishes);
    assert_eq!((orders(&stops), stops.roster), (vec!["stop a".to_owned()], None), "it stops first");
    knows.note_sent("a", Stamp::new(EPOCH, 9), Instance(1), &Action::TakeRoster, at(1));
    let busy = fail_over(&knows, &majority());
    assert_eq!((orders(&busy), busy.roster), (vec![], None), "it owes an answer");
}

#[test]
fn a_choice_that_is_unfit_ends_the_request() {
    let mut knows = trio(secondary(4), secondary(5), empty(0));
    knows.directive = Some(Directive::Seed { member: "c".into(), accept_data_loss: false });
    let decision = fail_over(&knows, &majority());
    let why = "c holds no data that counts: it would take --accept-data-loss to start from it";
    assert_eq!((request_ended(&decision), decision.orders.len()), (Some(Err(why)), 0));
}

#[test]
fn nothing_is_given_up_while_nobody_serves() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    fence(&mut knows, &["a"]);
    knows.directive = Some(Directive::Forget { members: vec!["a".into()] });
    let refused = fail_over(&knows, &majority());
    let why = "no primary serves: choose who seeds first (kubectl muster recover orders --seed MEMBER)";
    assert_eq!((request_ended(&refused), refused.roster.clone()), (Some(Err(why)), None));
    assert_eq!(orders(&refused), ["promote b"], "and the election goes on");
    knows.directive = Some(Directive::Rejoin { member: "a".into() });
    let why = "no primary serves: there is nothing to copy from";
    assert_eq!(request_ended(&fail_over(&knows, &majority())), Some(Err(why)));
}

/// The roster grew from {a, b, c} by d; only these know it, and these do not report.
fn grown(knowing: &[&str], silent: &[&str]) -> Observed {
    let four = after(roster(&["a", "b", "c", "d"]), 2, &roster(ABC));
    let report = |name: &str| {
        let known = if knowing.contains(&name) { four.clone() } else { roster(ABC) };
        secondary(5).with(|report| report.roster = Some(known))
    };
    let mut knows = observed(&roster(ABC), ["a", "b", "c", "d"].map(|name| (name, report(name))).into());
    fence(&mut knows, silent);
    knows
}

#[test]
fn a_new_primary_counts_by_a_roster_only_once_enough_old_voters_know_it() {
    let wishes = wanted(&["a", "b", "c", "d"], Copies::Majority);
    assert_eq!(orders(&fail_over(&grown(&["b", "d"], &[]), &wishes)), ["promote a"], "a and b of three");
    let untold = fail_over(&grown(&["d"], &[]), &wishes);
    assert_eq!(orders(&untold), ["take roster a", "take roster b", "take roster c"]);
    assert!(untold.blocked.is_none());
    let mut busy = grown(&["d"], &[]);
    for name in ["a", "b", "c"] {
        busy.note_sent(name, Stamp::new(EPOCH, 9), Instance(1), &Action::TakeRoster, at(1));
    }
    let waits = fail_over(&busy, &Wanted { allow_loss: true, ..wishes });
    assert!(idle(&waits) && waits.roster.is_none(), "they are being told");
}

#[test]
fn where_those_who_should_know_the_roster_are_gone_someone_must_say_so() {
    let mut wishes = wanted(&["a", "b", "c", "d"], Copies::Fixed(3));
    let mut knows = grown(&["a", "b", "d"], &["c"]);
    let gone = fail_over(&knows, &wishes);
    assert_eq!(gone.blocked, blocked(BlockedBy::DataMissing, &["c"]));
    assert!(gone.orders.is_empty());
    wishes.allow_loss = true;
    let allowed = fail_over(&knows, &wishes);
    assert_eq!(orders(&allowed), ["promote a"]);
    assert_eq!(allowed.roster.map(|change| change.before), Some(None));
    let loss = Winner { member: "a".into(), place: place(5), without: vec!["c".into()] };
    assert_eq!(allowed.effects, [Effect::WarnOfLoss(loss)]);
    wishes.allow_loss = false;
    knows.directive = Some(Directive::Seed { member: "b".into(), accept_data_loss: false });
    assert_eq!(orders(&fail_over(&knows, &wishes)), ["promote b"]);
    knows.directive = None;
    now_says(&mut knows, "b", |report| report.with(|report| report.roster = Some(roster(ABC))));
    let told = fail_over(&knows, &wishes);
    assert_eq!(orders(&told), ["take roster b"]);
    assert_eq!(told.blocked, None, "first those who are there are told");
}

#[test]
fn without_a_roster_nobody_is_promoted() {
    let mut knows = trio(secondary(4), secondary(5), secondary(5));
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    assert!(idle(&fail_over(&knows, &majority())));
}
