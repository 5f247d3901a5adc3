//! `Recovering`, `ScalingUp`, `ScalingDown` and `RollingOut`: True, False and Unknown.

use super::*;

#[track_caller]
fn after(kind: ConditionType, change: impl FnOnce(&mut World), expected: &str, text: &str) {
    let mut world = World::running();
    change(&mut world);
    let status = world.status();
    assert_eq!(said(&status, kind), expected);
    assert!(message(&status, kind).contains(text), "{:?}", message(&status, kind));
}

fn with(hold: Hold) -> impl FnOnce(&mut World) {
    |world| world.advice = Some(advice(vec![hold, Hold::AtSize]))
}

#[test]
fn recovering() {
    use ConditionType::Recovering as Kind;
    after(Kind, |_| {}, "False/Idle", "not being restored");
    after(Kind, |world| world.says(A0, stopped(9)), "True/FailingOver", "none serves as primary");
    after(Kind, |world| world.lose(A0), "True/Blocked", "MemberMissing (orders-a-0): kubectl muster fence");
    let all_stop = |world: &mut World| [A0, A1, B0].iter().for_each(|name| world.says(name, stopped(9)));
    after(Kind, all_stop, "True/Outage", "no member runs");
    after(Kind, World::stop_clustering, "Unknown/ClusteringStopped", "nobody is looking");
}

#[test]
fn a_promoted_member_that_does_not_serve_yet_is_still_recovering() {
    let mut world = World::running();
    world.says(A0, stopped(9));
    world.says(A1, busy(Activity::Starting, runs(Role::Primary, 9)));
    let status = world.status();
    assert_eq!(said(&status, ConditionType::Recovering), "True/FailingOver");
    assert_eq!(status.recovery.unwrap().state, "FailingOver");
    let seed = change_held(busy(Activity::Starting, runs(Role::Primary, 0)), |held| held.complete = false);
    let mut world = World::of(observed(Some(&roster(&[A0])), vec![(A0, seed), (A1, empty()), (B0, empty())]));
    world.decide();
    assert_eq!(
        said(&world.status(), ConditionType::Recovering),
        "False/Idle",
        "the first seed recovers nothing"
    );
}

#[test]
fn scaling_up() {
    use ConditionType::ScalingUp as Kind;
    let create = || {
        let create = scaling::Decision::Create { ordinals: vec![2], free_before: None };
        Some(decided(vec![create, scaling::Decision::Hold(Hold::AtSize)]))
    };
    after(Kind, |_| {}, "False/Idle", "no member");
    after(Kind, |world| world.advice = create(), "True/InProgress", "pool a gets 1 more");
    after(
        Kind,
        |world| world.members[1].stage = Stage::Creating,
        "True/InProgress",
        "waiting for orders-a-1",
    );
    let stopped = |world: &mut World| {
        world.advice = create();
        world.stop_reconciliation();
    };
    after(Kind, stopped, "True/Blocked", "reconciliation is stopped");
    after(Kind, with(Hold::NoGain(A1.into())), "False/NoGain", "pool a: orders-a-1");
    after(Kind, with(Hold::AtMaximum { limit: 3 }), "False/AtMaximum", "3 members");
    after(Kind, with(Hold::FreeUnknown(vec![A0.into()])), "False/FreeStorageUnknown", A0);
    after(Kind, World::stop_clustering, "Unknown/ClusteringStopped", "nobody");
}

#[test]
fn scaling_down() {
    use ConditionType::ScalingDown as Kind;
    let leave = |world: &mut World| {
        world.members[2].stage = Stage::Leaving;
        world.wanted.members.get_mut(B0).unwrap().leaving = true;
        world.decide();
    };
    after(Kind, |_| {}, "False/Idle", "no member");
    after(Kind, leave, "True/InProgress", "orders-b-0 is leaving");
    let dead = |world: &mut World| {
        leave(world);
        world.lose(B0);
    };
    after(Kind, dead, "True/Blocked", "kubectl muster forget orders orders-b-0");
    let failed = |world: &mut World| {
        leave(world);
        world.members[2].leave_failed = Some("no space elsewhere".into());
    };
    after(Kind, failed, "False/LeaveFailed", "no space elsewhere");
    let tried = |world: &mut World| {
        leave(world);
        world.observed.members.get_mut(B0).unwrap().leave_failed = Some(at(1));
    };
    after(Kind, tried, "False/LeaveFailed", "asked again");
    let remove = scaling::Decision::Remove { member: A0.into(), switchover_first: true };
    let advice = Some(decided(vec![remove, scaling::Decision::Hold(Hold::AtSize)]));
    after(Kind, |world| world.advice = advice, "True/InProgress", "after another took over");
    after(Kind, with(Hold::NobodyMayGo), "True/Blocked", "pool a");
    after(Kind, with(Hold::WouldGrowAgain(A1.into())), "False/AtSize", "grow again");
    after(Kind, World::stop_clustering, "Unknown/ClusteringStopped", "nobody");
}

#[test]
fn the_last_holder_of_data_stays() {
    let mut world = World::of(observed(Some(&roster(&[A0])), vec![(A0, runs(Role::Primary, 9))]));
    world.members.truncate(1);
    world.members[0].stage = Stage::Leaving;
    world.wanted.members.get_mut(A0).unwrap().leaving = true;
    world.decide();
    let status = world.status();
    assert_eq!(said(&status, ConditionType::ScalingDown), "True/Blocked");
    assert!(message(&status, ConditionType::ScalingDown).contains("last that holds the data"));
}

#[test]
fn rolling_out() {
    use ConditionType::RollingOut as Kind;
    let outdated = |world: &mut World| world.members[1].spec_current = false;
    after(Kind, |_| {}, "False/Idle", "newest spec");
    after(Kind, outdated, "True/InProgress", "still to come: orders-a-1");
    let current = |world: &mut World| world.rollout = Rollout { current: Some(B0), blocked: None };
    after(Kind, current, "True/InProgress", "orders-b-0 is changed");
    let waits = |world: &mut World| {
        outdated(world);
        world.rollout = Rollout { current: None, blocked: Some("no other member could take over") };
    };
    after(Kind, waits, "True/Blocked", "no other member");
    let disabled = |world: &mut World| {
        outdated(world);
        world.members[1].state = DesiredState::Disabled;
    };
    after(Kind, disabled, "True/Blocked", "disabled members are not changed");
    let paused = |world: &mut World| {
        outdated(world);
        world.stop_reconciliation();
    };
    after(Kind, paused, "True/Blocked", "reconciliation is stopped");
    after(Kind, World::stop_clustering, "Unknown/ClusteringStopped", "nobody");
}

#[test]
fn versions_differ_while_one_is_behind() {
    let mut world = World::running();
    world.members[1].version = Some("10.6".into());
    let status = world.status();
    assert_eq!((status.current_version, status.target_version.as_deref()), (None, Some("10.11")));
}
