//! Tests of parking.

use super::super::super::command::Action;
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Application, Instance};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{EPOCH, at, empty, observed, roster, running_in, stopped};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Effect, Rule, decide};
use super::{ABC, Role, idle, majority, orders, primary, request_ended, secondary, trio};

fn parked() -> Wanted {
    Wanted { parked: true, ..majority() }
}

fn park(knows: &Observed) -> Decision {
    let decision = decide(knows, &parked(), at(1));
    assert_eq!((decision.rule, &decision.roster, decision.ask), (Rule::Park, &None, false));
    decision
}

#[test]
fn secondaries_stop_once_they_caught_up_and_the_primary_after_them() {
    let behind = secondary(3).with_running(|running| running.synced = false);
    let first = park(&trio(primary(5), secondary(5), behind));
    assert_eq!(orders(&first), ["stop b"]);
    assert_eq!((first.waiting, first.effects), (vec!["c".to_owned()], vec![]));
    let next = park(&trio(primary(5), stopped(0, 5), secondary(5)));
    assert_eq!(orders(&next), ["stop c"]);
    let last = park(&trio(primary(5), stopped(0, 5), stopped(0, 5)));
    assert_eq!((orders(&last), last.effects), (vec!["stop a".to_owned()], vec![]));
}

#[test]
fn where_nobody_serves_nobody_can_catch_up_and_all_stop() {
    let behind = || secondary(3).with_running(|running| running.synced = false);
    assert_eq!(orders(&park(&trio(behind(), stopped(0, 3), behind()))), ["stop a", "stop c"]);
    let starting = primary(5).with_running(|running| running.activity = Activity::Starting);
    assert_eq!(orders(&park(&trio(starting, stopped(0, 3), behind()))), ["stop c"]);
}

#[test]
fn several_primaries_stop_together() {
    assert_eq!(orders(&park(&trio(primary(5), primary(5), stopped(0, 5)))), ["stop a", "stop b"]);
    let split = trio(running_in(2, 3, Role::Primary, 5), primary(5), secondary(5));
    assert_eq!(orders(&park(&split)), ["stop c"], "a split is not mended first");
}

#[test]
fn a_request_ends_because_nothing_is_to_run() {
    let ask = |knows: Observed| {
        let directive = Some(Directive::Rejoin { member: "c".into() });
        let decision = park(&Observed { directive, ..knows });
        request_ended(&decision).map(|ended| ended.map_err(str::to_owned))
    };
    let why = "all pools are at 0, so nothing is to run: ask again once they are not";
    assert_eq!(ask(trio(stopped(0, 5), stopped(0, 5), stopped(0, 9))), Some(Err(why.to_owned())));
    assert_eq!(ask(trio(primary(5), secondary(5), stopped(0, 9))), Some(Err(why.to_owned())));
}

#[test]
fn parked_is_said_when_none_runs_as_far_as_anyone_says() {
    let all = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    assert_eq!(park(&all).effects, [Effect::Parked]);
    let unknown = stopped(0, 5).with(|report| report.application = Application::Unknown);
    assert!(idle(&park(&trio(stopped(0, 5), stopped(0, 5), unknown))), "one cannot tell");
    let mut lost = trio(stopped(0, 5), stopped(0, 5), secondary(5));
    lost.lose_stream("c");
    assert_eq!(park(&lost).effects, [Effect::Parked], "who is silent is stopped with its Pod");
    let mut unanswered = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    unanswered.note_sent("c", Stamp::new(EPOCH, 9), Instance(1), &Action::Lead, at(1));
    assert!(idle(&park(&unanswered)), "a start may still arrive");
    unanswered.lose_stream("c");
    assert_eq!(park(&unanswered).effects, [Effect::Parked], "it cannot be told anything any more");
    let unheard = observed(&roster(ABC), vec![("a", stopped(0, 5))]);
    assert_eq!(park(&unheard).effects, [Effect::Parked], "their Pods are gone already");
}

#[test]
fn a_cluster_that_never_was_is_parked_at_once() {
    assert_eq!(park(&Observed::new(EPOCH)).effects, [Effect::Parked]);
    let mut strangers = observed(&roster(ABC), vec![("a", empty(0))]);
    strangers.members.get_mut("a").unwrap().report.as_mut().unwrap().roster = None;
    assert_eq!(park(&strangers).effects, [Effect::Parked], "none of them is in a roster");
}

#[test]
fn whoever_asks_to_leave_or_to_rest_stops_all_the_same() {
    let mut wishes = parked();
    wishes.members.get_mut("b").unwrap().leaving = true;
    wishes.members.get_mut("c").unwrap().disabled = true;
    let decision = decide(&trio(primary(5), secondary(5), secondary(5)), &wishes, at(1));
    assert_eq!(orders(&decision), ["stop b", "stop c"], "and none is asked to leave");
}
