//! `SpecValid` and `InfrastructureReady`: True, False and Unknown, and why.

use super::*;
use crate::validation::Violation;

const KIND: ConditionType = ConditionType::InfrastructureReady;

#[track_caller]
fn says(change: impl FnOnce(&mut World), expected: &str, text: &str) {
    let mut world = World::running();
    change(&mut world);
    let status = world.status();
    assert_eq!(said(&status, KIND), expected);
    assert!(message(&status, KIND).contains(text), "{:?}", message(&status, KIND));
    assert_ne!(said(&status, ConditionType::Ready), "True/AsDesired");
}

#[test]
fn a_spec_is_valid_invalid_or_not_known_to_be_either() {
    let mut world = World::running();
    assert_eq!(said(&world.status(), ConditionType::SpecValid), "True/Valid");
    let violation = Violation { path: "spec.engine.version".into(), message: "there is no 11".into() };
    world.report = Some(validation::Report { violations: vec![violation], unreadable: Vec::new() });
    let status = world.status();
    assert_eq!(said(&status, ConditionType::SpecValid), "False/Invalid");
    assert_eq!(message(&status, ConditionType::SpecValid), "spec.engine.version: there is no 11");
    assert_eq!(status.failure_reason.as_deref(), Some("Invalid"));
    world.advice = None;
    assert_eq!(said(&world.status(), KIND), "Unknown/NotObserved");
    assert!(message(&world.status(), KIND).starts_with("the spec is not valid"));
    world.report = Some(validation::Report { unreadable: vec!["secret x".into()], ..Default::default() });
    assert_eq!(said(&world.status(), ConditionType::SpecValid), "Unknown/ReferenceUnreadable");
    world.report = None;
    assert_eq!(said(&world.status(), ConditionType::SpecValid), "Unknown/NotObserved");
}

#[test]
fn what_belongs_to_someone_else_is_certain_whatever_could_not_be_read() {
    let change = |world: &mut World| {
        world.name_taken.push("Service orders".into());
        world.unobserved.push("claims: timed out".into());
    };
    says(change, "False/NameTaken", "Service orders");
}

#[test]
fn held_changes_are_listed() {
    says(
        |world| world.held.push("restart of orders-a-0".into()),
        "False/ClusteringStopped",
        "restart of orders-a-0",
    );
}

#[test]
fn what_cannot_be_observed_is_unknown() {
    says(|world| world.unobserved.push("members: 503".into()), "Unknown/ObservationFailed", "503");
    says(|world| world.advice = None, "Unknown/NotObserved", "generation 4 were not sized");
    let stale = Gate::Stale { reason: "was read at generation 1".into() };
    says(|world| world.members[1].stored.storage = stale, "Unknown/NotObserved", "orders-a-1 was read");
    let hold = Hold::FreeUnknown(vec![A0.into()]);
    let unknown = advice(vec![hold, Hold::AtSize]);
    says(|world| world.advice = Some(unknown), "Unknown/FreeStorageUnknown", "orders-a-0 cannot report");
}

#[test]
fn what_was_not_applied_is_unknown_where_nothing_else_is_amiss() {
    let unapplied = || vec!["Service orders: 503".to_owned()];
    says(|world| world.unapplied = unapplied(), "Unknown/Reconciling", "not applied yet: Service orders");
    let mut parked = World::parked();
    parked.unapplied = unapplied();
    assert_eq!(said(&parked.status(), KIND), "Unknown/Reconciling");
    assert_ne!(said(&parked.status(), ConditionType::Ready), "True/Parked");
    // What is known to be amiss is said all the same: a call that fails now and then takes nothing of it back.
    let not_rolled = |world: &mut World| {
        world.unapplied = unapplied();
        world.members[2].spec_current = false;
    };
    says(not_rolled, "False/MemberNotReady", "does not have this spec yet");
}

#[test]
fn pools_that_are_not_at_size_are_named() {
    let create = scaling::Decision::Create { ordinals: vec![2, 3], free_before: None };
    let growing = decided(vec![create, scaling::Decision::Hold(Hold::AtSize)]);
    says(|world| world.advice = Some(growing), "False/PoolNotAtSize", "pool a needs 2 more");
    let remove = scaling::Decision::Remove { member: B0.into(), switchover_first: false };
    let shrinking = decided(vec![scaling::Decision::Hold(Hold::AtSize), remove.clone()]);
    says(|world| world.advice = Some(shrinking), "False/PoolNotAtSize", "orders-b-0 is to leave pool b");
    let gone = Advice { removed_pools: remove, ..advice(vec![Hold::AtSize, Hold::AtSize]) };
    says(|world| world.advice = Some(gone), "False/PoolNotAtSize", "its pool is gone");
    says(
        |world| world.members[2].stage = Stage::Leaving,
        "False/PoolNotAtSize",
        "orders-b-0 has not left yet",
    );
    let stuck = advice(vec![Hold::NobodyMayGo, Hold::AtSize]);
    says(|world| world.advice = Some(stuck), "False/PoolNotAtSize", "pool a: a member should go");
}

#[test]
fn where_a_threshold_ends_a_pool_is_at_size() {
    for hold in [Hold::AtMaximum { limit: 3 }, Hold::NoGain(A1.into()), Hold::WouldGrowAgain(A1.into())] {
        let mut world = World::running();
        world.advice = Some(advice(vec![hold, Hold::AtSize]));
        assert_eq!(said(&world.status(), KIND), "True/AsDesired");
    }
}

#[test]
fn members_and_drivers_that_are_not_ready_are_named() {
    let not_yet = |text: &str| Gate::NotYet { reason: text.into() };
    says(
        |world| world.members[1].stored.workload = not_yet("has 0 of 1 ready"),
        "False/MemberNotReady",
        "orders-a-1 has 0 of 1 ready",
    );
    says(
        |world| world.members[1].known.storage = Truth::Unknown,
        "False/MemberNotReady",
        "what is known now",
    );
    says(
        |world| world.members[2].spec_current = false,
        "False/MemberNotReady",
        "does not have this spec yet",
    );
    let drivers = vec![("csi".to_owned(), not_yet("has 1 of 3 ready"))];
    says(|world| world.drivers = drivers, "False/DriverNotReady", "csi has 1 of 3 ready");
    let drivers = vec![("csi".to_owned(), Gate::Stale { reason: "is old".into() })];
    says(|world| world.drivers = drivers, "Unknown/NotObserved", "csi is old");
}

#[test]
fn parking_is_not_parked() {
    let mut world = World::parked();
    world.members[0].at_zero = false;
    let status = world.status();
    assert_eq!(said(&status, KIND), "False/Stopping");
    assert_eq!(said(&status, ConditionType::Ready), "False/Stopping");
}

#[test]
fn after_a_restart_while_stopped_only_equal_children_speak_for_a_generation() {
    let mut world = World::running();
    world.stop_reconciliation();
    world.applied = None;
    world.children_equal = false;
    let status = world.status();
    assert_eq!(status.observed_generation, Some(0));
    assert_eq!(said(&status, ConditionType::SpecValid), "Unknown/NotObserved");
    assert_eq!(said(&status, KIND), "Unknown/NotObserved");
    assert_eq!(status.desired_replicas, None);
    let stored = ReplicatedClusterStatus { observed_generation: Some(2), ..Default::default() };
    let status = judge_cluster(&world.inputs()).over(Some(&stored), world.now);
    assert_eq!(status.observed_generation, Some(2));
    assert_eq!(said(&status, ConditionType::Ready), "Unknown/NotObserved");
    world.children_equal = true;
    let status = world.status();
    assert_eq!((status.observed_generation, said(&status, KIND).as_str()), (Some(4), "True/AsDesired"));
}
