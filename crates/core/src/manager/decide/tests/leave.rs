//! Tests of planned departures and switchovers while a primary serves.

use super::super::super::observed::Observed;
use super::super::super::report::{Application, Held, Report};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{
    EPOCH, ask_again, at, empty, now_says, observed, roster, stopped, wanted,
};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Effect, Rule, decide};
use super::{
    ABC, Copies, after, idle, majority, new_roster, orders, primary, request_ended, secondary, trio,
};

fn tend(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::Join);
    decision
}

fn leaving(names: &[&str]) -> Wanted {
    let mut wishes = majority();
    for name in names {
        wishes.members.get_mut(*name).unwrap().leaving = true;
    }
    wishes
}

fn evacuated(report: Report) -> Report {
    report.with(|report| report.evacuated = true)
}

fn leaves(c: Report) -> Decision {
    tend(&trio(primary(5), secondary(5), c), &leaving(&["c"]))
}

#[test]
fn a_member_is_led_through_the_gate() {
    assert_eq!(orders(&leaves(secondary(5))), ["leave c"]);
    assert_eq!(orders(&leaves(evacuated(secondary(5)))), ["stop c"]);
    assert_eq!(orders(&leaves(evacuated(stopped(0, 5)))), ["mark left c"]);
    let marked = leaves(evacuated(stopped(0, 5)).with_held(|held| held.left = true));
    assert_eq!((orders(&marked), new_roster(&marked)), (vec![], Some(vec!["a".into(), "b".into()])));
    assert_eq!(marked.roster.and_then(|change| change.before).map(|before| before.len()), Some(3));
}

#[test]
fn copies_are_asked_for_before_the_mark() {
    let mut knows = trio(primary(5), secondary(5), evacuated(secondary(5)));
    now_says(&mut knows, "c", |report| report.with(|report| report.application = Application::Stopped));
    let asks = tend(&knows, &leaving(&["c"]));
    assert!(idle(&asks) && asks.ask);
    ask_again(&mut knows, at(0));
    let told = tend(&knows, &leaving(&["c"]));
    assert_eq!((orders(&told), told.ask), (vec!["mark left c".to_owned()], false));
}

#[test]
fn who_left_goes_only_when_the_roster_without_it_is_settled_and_known_to_all() {
    let gone = || evacuated(stopped(0, 5)).with_held(|held: &mut Held| held.left = true);
    let without = after(roster(&["a", "b"]), 2, &roster(ABC));
    let counts = |report: Report| report.with_running(|running| running.roster = Some(without.version));
    let between = observed(&without, vec![("a", counts(primary(5))), ("b", secondary(5)), ("c", gone())]);
    let waits = tend(&between, &leaving(&["c"]));
    assert!(orders(&waits).is_empty() && waits.effects.is_empty());
    assert_eq!(waits.roster.map(|change| (change.before, change.entries.len())), Some((None, 2)));
    let mut settled = without.clone();
    settled.before = None;
    let known = observed(&settled, vec![("a", counts(primary(5))), ("b", secondary(5)), ("c", gone())]);
    assert_eq!(tend(&known, &leaving(&["c"])).effects, [Effect::Release("c".into())]);
    let stale = secondary(5).with(|report| report.roster = Some(roster(ABC)));
    let untold = observed(&settled, vec![("a", counts(primary(5))), ("b", stale), ("c", gone())]);
    let tells = tend(&untold, &leaving(&["c"]));
    assert_eq!((orders(&tells), tells.effects), (vec!["take roster b".to_owned()], vec![]));
}

#[test]
fn a_roster_shrinks_only_once_everyone_knows_the_present_one() {
    let gone = evacuated(stopped(0, 5)).with_held(|held| held.left = true);
    let mut newer = roster(ABC);
    newer.version = Stamp::new(EPOCH, 2);
    let counts = primary(5).with_running(|running| running.roster = Some(newer.version));
    let stale = secondary(5).with(|report| report.roster = Some(roster(ABC)));
    let knows = observed(&newer, vec![("a", counts), ("b", stale), ("c", gone)]);
    let tells = tend(&knows, &leaving(&["c"]));
    assert_eq!((orders(&tells), tells.roster), (vec!["take roster b".to_owned()], None));
}

#[test]
fn nobody_leaves_while_the_roster_is_in_between() {
    let newer = after(roster(ABC), 2, &roster(&["a", "b"]));
    let counts = |report: Report| report.with_running(|running| running.roster = Some(newer.version));
    let stale = secondary(4).with(|report| report.roster = Some(roster(&["a", "b"])));
    let knows = observed(&newer, vec![("a", counts(primary(5))), ("b", stale), ("c", secondary(5))]);
    assert_eq!(orders(&tend(&knows, &leaving(&["c"]))), ["take roster b"]);
}

#[test]
fn one_leaves_at_a_time_who_has_begun_then_the_last() {
    let both = leaving(&["b", "c"]);
    assert_eq!(orders(&tend(&trio(primary(5), secondary(5), secondary(5)), &both)), ["leave c"]);
    let begun = trio(primary(5), evacuated(secondary(5)), secondary(5));
    assert_eq!(orders(&tend(&begun, &both)), ["stop b"]);
    let mut unheard = trio(primary(5), secondary(5), secondary(5));
    unheard.lose_stream("c");
    assert_eq!(orders(&tend(&unheard, &both)), ["leave b"], "a dead member keeps nobody");
}

#[test]
fn who_is_not_configured_any_more_leaves_too() {
    let mut wishes = majority();
    wishes.members.remove("b");
    assert_eq!(orders(&tend(&trio(primary(5), secondary(5), secondary(5)), &wishes)), ["leave b"]);
}

#[test]
fn a_leave_that_failed_is_said_and_asked_again_after_a_minute() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.members.get_mut("c").unwrap().leave_failed = Some(at(100));
    let failed = Effect::LeaveFailed("c".into());
    let waits = decide(&knows, &leaving(&["c"]), at(159));
    assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(160))));
    assert_eq!(waits.effects, std::slice::from_ref(&failed));
    let again = decide(&knows, &leaving(&["c"]), at(160));
    assert_eq!((orders(&again), again.effects), (vec!["leave c".to_owned()], vec![failed]));
}

#[test]
fn one_that_is_to_go_and_has_not_been_evacuated_runs_until_it_has() {
    assert_eq!(orders(&leaves(stopped(0, 5))), ["leave c"]);
    let mut knows = trio(primary(5), secondary(5), stopped(0, 5));
    knows.members.get_mut("c").unwrap().leave_failed = Some(at(1));
    let decision = tend(&knows, &leaving(&["c"]));
    assert_eq!(orders(&decision), ["join c as Secondary"], "the engine may need it running to leave");
}

#[test]
fn who_never_took_part_is_released_at_once_heard_or_not() {
    let mut wishes = wanted(&["a", "b", "c", "x", "y"], Copies::Majority);
    for name in ["x", "y"] {
        wishes.members.get_mut(name).unwrap().leaving = true;
    }
    let with = |x: Report| {
        let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("x", x)];
        tend(&observed(&roster(ABC), reports), &wishes)
    };
    let unheard = Effect::Release("y".into());
    assert_eq!(with(empty(0)).effects, [Effect::Release("x".into()), unheard.clone()]);
    let runs = with(secondary(5));
    assert!(!runs.orders.is_empty() && orders(&runs).iter().all(|order| order == "stop x"));
    assert_eq!(runs.effects, std::slice::from_ref(&unheard));
    let holds = with(stopped(0, 5));
    assert_eq!(
        (orders(&holds), holds.effects),
        (vec!["mark left x".to_owned()], vec![unheard]),
        "it could be elected"
    );
    wishes.members.remove("y");
    wishes.primaries = 2;
    let view = |report: Report| report.with_running(|running| running.view = Some("v".into()));
    let reports =
        vec![("a", view(primary(6))), ("b", secondary(5)), ("c", secondary(5)), ("x", view(primary(5)))];
    let serves = tend(&observed(&roster(ABC), reports), &wishes);
    assert_eq!((orders(&serves), serves.effects), (vec!["stop x".to_owned()], vec![]));
}

#[test]
fn a_leaving_primary_is_switched_over_first() {
    let all_there = || trio(evacuated(primary(5)), secondary(5), secondary(5));
    assert_eq!(orders(&tend(&all_there(), &leaving(&["a"]))), ["demote a"]);
    let mut wishes = leaving(&["a"]);
    wishes.engine.demotes = false;
    assert_eq!(orders(&tend(&all_there(), &wishes)), ["stop a"], "where the engine cannot demote");
    let behind = || trio(primary(5), secondary(4), secondary(4));
    assert!(idle(&tend(&behind(), &leaving(&["a"]))), "nobody has caught up");
    assert!(idle(&tend(&trio(primary(5), stopped(0, 9), stopped(0, 9)), &leaving(&["a"]))));
    let one_ready = trio(primary(5), secondary(4), secondary(5));
    assert_eq!(orders(&tend(&one_ready, &leaving(&["a"]))), ["demote a"]);
    assert_eq!(orders(&tend(&one_ready, &leaving(&["a", "c"]))), ["leave c"], "c leaves first");
    let mut disabled = leaving(&["a"]);
    disabled.members.get_mut("c").unwrap().disabled = true;
    assert!(idle(&tend(&one_ready, &disabled)), "a disabled member is not promoted");
}

fn switching(to: Option<&str>, knows: Observed) -> Observed {
    let directive = Directive::Switchover { to: to.map(str::to_owned), from: "a".into(), deadline: at(120) };
    Observed { directive: Some(directive), ..knows }
}

fn whole() -> Observed {
    trio(primary(5), secondary(5), secondary(5))
}

#[test]
fn a_switchover_demotes_once_its_target_has_caught_up() {
    for to in [None, Some("b"), Some("c")] {
        let decision = tend(&switching(to, whole()), &majority());
        assert_eq!((orders(&decision), decision.wake), (vec!["demote a".to_owned()], Some(at(120))));
    }
    let behind = trio(primary(5), secondary(5), secondary(4));
    assert_eq!(orders(&tend(&switching(Some("b"), behind.clone()), &majority())), ["demote a"]);
    let waits = tend(&switching(Some("c"), behind), &majority());
    assert_eq!((idle(&waits), waits.wake), (true, Some(at(120))));
    let unsynced = secondary(5).with_running(|running| running.synced = false);
    assert!(idle(&tend(&switching(Some("c"), trio(primary(5), secondary(5), unsynced)), &majority())));
}

#[test]
fn a_switchover_is_only_to_a_voter_that_may_be_promoted() {
    let mut newcomer = roster(ABC);
    newcomer.entries[2].voter = false;
    let knows = observed(&newcomer, vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))]);
    let decision = tend(&switching(Some("c"), knows), &majority());
    assert!(orders(&decision).is_empty(), "c does not vote yet");
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().disabled = true;
    assert!(idle(&tend(&switching(Some("c"), whole()), &wishes)), "a disabled one is not promoted");
}

#[test]
fn a_switchover_starts_only_if_a_failover_would_pass_afterwards() {
    let four = roster(&["a", "b", "c", "d"]);
    let wishes = wanted(&["a", "b", "c", "d"], Copies::Majority);
    let reports = || vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5))];
    let unaccounted = tend(&switching(Some("b"), observed(&four, reports())), &wishes);
    assert!(orders(&unaccounted).is_empty(), "d may run");
    let mut lost = switching(Some("b"), whole());
    super::super::super::testing::fence(&mut lost, &["c"]);
    assert_eq!(orders(&tend(&lost, &majority())), ["demote a"], "two of three can be read");
    let copies = wanted(ABC, Copies::Fixed(1));
    assert!(orders(&tend(&lost, &copies)).is_empty(), "all three would have to be read");
    let mut stale = switching(Some("b"), whole());
    stale.round += 1;
    let asks = tend(&stale, &majority());
    assert!(orders(&asks).is_empty() && asks.ask, "what is known is from before a change");
}

#[test]
fn a_switchover_ends_when_it_is_done_or_its_time_is_up() {
    let promoted = |to: Option<&str>| {
        let mut knows = switching(to, whole());
        if let Some(Directive::Switchover { from, .. }) = &mut knows.directive {
            *from = "c".into();
        }
        request_ended(&tend(&knows, &majority())).map(|ended| ended.map_err(str::to_owned))
    };
    assert_eq!(promoted(None), Some(Ok(())));
    assert_eq!(promoted(Some("a")), Some(Ok(())));
    assert_eq!(promoted(Some("b")), Some(Err("a was promoted instead: it held more".into())));
    let behind = switching(Some("b"), trio(primary(5), secondary(4), secondary(5)));
    assert_eq!(request_ended(&decide(&behind, &majority(), at(119))), None);
    let late = decide(&behind, &majority(), at(120));
    assert_eq!(request_ended(&late), Some(Err("b had not caught up in time, a stays")));
    assert!(orders(&decide(&switching(Some("b"), whole()), &majority(), at(120))).is_empty());
}

#[test]
fn a_switchover_is_refused_at_once_where_its_target_takes_writes_already() {
    let mut wishes = majority();
    wishes.primaries = 3;
    let in_one_view = || primary(5).with_running(|running| running.view = Some("v".into()));
    let all = || trio(in_one_view(), in_one_view(), in_one_view());
    let refused = |to: Option<&str>| {
        request_ended(&tend(&switching(to, all()), &wishes)).map(|it| it.map_err(str::to_owned))
    };
    assert_eq!(refused(Some("b")), Some(Err("b is a primary already".into())));
    assert_eq!(refused(Some("a")), Some(Err("a is a primary already".into())));
    assert_eq!(refused(None), Some(Err("every member is a primary already".into())));
    wishes.primaries = 2;
    let two = trio(in_one_view(), in_one_view(), secondary(5));
    assert_eq!(request_ended(&tend(&switching(None, two), &wishes)), None, "c could take over");
}

#[test]
fn nobody_leaves_during_a_switchover() {
    let decision =
        tend(&switching(Some("b"), trio(primary(5), secondary(4), secondary(5))), &leaving(&["c"]));
    assert!(idle(&decision));
}

#[test]
fn of_two_that_were_evacuated_the_one_whose_turn_is_later_runs_again() {
    let behind = || evacuated(stopped(0, 3));
    let decision = tend(&trio(primary(5), behind(), behind()), &leaving(&["b", "c"]));
    assert_eq!(orders(&decision), ["join b as Secondary"], "its copies are needed before c can go");
}
