//! Members whose Pods are outdated.

use muster_api::names::Role;

use super::super::super::report::Activity;
use super::super::super::requests::Directive;
use super::super::super::roster::Copies;
use super::super::super::testing::{at, roster, running, stopped, wanted};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Effect, decide};
use super::{majority, orders, primary, secondary, trio};

fn outdated(members: &[&str]) -> Wanted {
    let mut wanted = majority();
    for member in members {
        wanted.members.get_mut(*member).unwrap().outdated = true;
    }
    wanted
}

fn replaced(decision: &Decision) -> Vec<String> {
    let name = |effect: &Effect| match effect {
        Effect::Replace(name) => Some(name.clone()),
        _ => None,
    };
    decision.effects.iter().filter_map(name).collect()
}

#[test]
fn secondaries_stop_one_at_a_time_and_the_highest_goes_first() {
    let knows = trio(primary(5), secondary(5), secondary(5));
    let decision = decide(&knows, &outdated(&["a", "b", "c"]), at(0));
    assert_eq!(orders(&decision), ["stop c"]);
    assert!(replaced(&decision).is_empty(), "nothing goes while its application runs");
}

#[test]
fn a_stopped_one_is_replaced_and_is_not_started_before() {
    let knows = trio(primary(5), secondary(5), stopped(0, 5));
    let decision = decide(&knows, &outdated(&["b", "c"]), at(0));
    assert_eq!(replaced(&decision), ["c"]);
    assert!(orders(&decision).is_empty(), "b waits for c");
}

#[test]
fn nobody_stops_while_another_is_away_or_has_not_caught_up() {
    let mut away = trio(primary(5), secondary(5), secondary(5));
    away.lose_stream("c");
    assert!(orders(&decide(&away, &outdated(&["b"]), at(0))).is_empty());
    let lagging = trio(primary(5), secondary(5), secondary(3).with_running(|c| c.synced = false));
    assert!(orders(&decide(&lagging, &outdated(&["b"]), at(0))).is_empty());
    assert_eq!(orders(&decide(&lagging, &outdated(&["b", "c"]), at(0))), ["stop c"], "who lags may go");
}

#[test]
fn nobody_stops_while_another_primary_serves_nobody() {
    let mut wishes = outdated(&["b"]);
    wishes.primaries = 3;
    let serves = || primary(5).with_running(|running| running.view = Some("v".into()));
    assert_eq!(orders(&decide(&trio(serves(), serves(), serves()), &wishes, at(0))), ["stop b"]);
    for activity in [Activity::Isolated, Activity::Failed] {
        let lost = primary(5).with_running(|running| running.activity = activity);
        assert!(orders(&decide(&trio(serves(), serves(), lost), &wishes, at(0))).is_empty(), "{activity:?}");
    }
}

#[test]
fn the_primary_hands_over_first_and_is_not_elected_again() {
    let knows = trio(primary(5), secondary(5), secondary(5));
    let wanted = outdated(&["a"]);
    assert_eq!(orders(&decide(&knows, &wanted, at(0))), ["demote a"]);
    let demoted = trio(secondary(5), secondary(5), secondary(5));
    assert_eq!(orders(&decide(&demoted, &wanted, at(0))), ["promote b"]);
}

#[test]
fn a_switchover_without_a_target_goes_to_someone_else() {
    let mut demoted = trio(secondary(5), secondary(5), secondary(5));
    demoted.direct(Directive::Switchover { to: None, from: "a".into(), deadline: at(60) }, at(600));
    assert_eq!(orders(&decide(&demoted, &majority(), at(0))), ["promote b"]);
}

#[test]
fn a_primary_alone_stops() {
    let knows = super::observed(
        &roster(&["a"]),
        vec![("a", running(0, Role::Primary, 5).with(|r| r.recorded = vec![1]))],
    );
    let mut wanted = wanted(&["a"], Copies::Majority);
    wanted.members.get_mut("a").unwrap().outdated = true;
    assert_eq!(orders(&decide(&knows, &wanted, at(0))), ["stop a"]);
}

#[test]
fn a_disabled_member_is_left_as_it_is() {
    let knows = trio(primary(5), secondary(5), secondary(5));
    let mut wanted = outdated(&["c"]);
    wanted.members.get_mut("c").unwrap().disabled = true;
    assert!(orders(&decide(&knows, &wanted, at(0))).is_empty());
}

#[test]
fn where_nothing_serves_recovery_comes_first_and_the_new_helps_only_where_it_is_stuck() {
    let down = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    let decision = decide(&down, &outdated(&["a", "b", "c"]), at(0));
    assert_eq!(orders(&decision), ["seed a"]);
    assert!(replaced(&decision).is_empty());
    let mut stuck = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    stuck.lose_stream("c");
    stuck.members.get_mut("c").unwrap().fence = None;
    let decision = decide(&stuck, &outdated(&["a", "b"]), at(0));
    assert!(decision.blocked.is_some(), "{decision:?}");
    assert_eq!(replaced(&decision), ["a", "b"]);
}

#[test]
fn nobody_hands_over_to_a_member_whose_disk_was_exchanged() {
    let other_disk = secondary(5).with(|b| b.volume = "new".into());
    let knows = super::observed(&roster(&["a", "b"]), vec![("a", primary(5)), ("b", other_disk)]);
    let mut wanted = wanted(&["a", "b"], Copies::Fixed(1));
    wanted.members.get_mut("a").unwrap().outdated = true;
    assert!(orders(&decide(&knows, &wanted, at(0))).iter().all(|order| order != "demote a"));
}
