//! Tests of the phase: every line of the design's list, the order of its lines, and that it is total.

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::conditions::Finding;

const ALIVE: Life = Life { deleting: false, formed: true };
const UNFORMED: Life = Life { deleting: false, formed: false };

/// A list of conditions at generation 1.
fn given(list: &[(ConditionType, Truth)]) -> Vec<Condition> {
    let mut all = Vec::new();
    for (kind, truth) in list {
        let finding = Finding::new(*truth, Reason::Idle, "");
        conditions::set(&mut all, *kind, finding, 1, Timestamp::UNIX_EPOCH);
    }
    all
}

fn no_seed(truth: Truth) -> Vec<Condition> {
    let mut all = given(&[(ConditionType::Available, Truth::True)]);
    let finding = Finding::new(truth, Reason::NoSeed, "");
    conditions::set(&mut all, ConditionType::Recovering, finding, 1, Timestamp::UNIX_EPOCH);
    all
}

use ConditionType as T;
use Truth::{False, True, Unknown};

/// A name, a life, conditions at generation 1, and the phase they make.
type Row<'a> = (&'a str, Life, &'a [(T, Truth)], Phase);

#[test]
fn each_line_of_the_list() {
    let rows: &[Row<'_>] = &[
        ("nothing known", ALIVE, &[], Phase::Degraded),
        ("deleting", Life { deleting: true, formed: true }, &[(T::ClusteringActive, False)], Phase::Deleting),
        ("clustering stopped", ALIVE, &[(T::ClusteringActive, False), (T::Recovering, True)], Phase::Paused),
        ("reconciliation stopped", UNFORMED, &[(T::ReconciliationActive, False)], Phase::Paused),
        ("active unknown is not paused", ALIVE, &[(T::ClusteringActive, Unknown)], Phase::Degraded),
        ("recovering", UNFORMED, &[(T::Recovering, True), (T::SpecValid, False)], Phase::Recovering),
        ("recovering unknown", ALIVE, &[(T::Recovering, Unknown), (T::Available, True)], Phase::Degraded),
        (
            "never formed, spec false",
            UNFORMED,
            &[(T::SpecValid, False), (T::Available, True)],
            Phase::Pending,
        ),
        ("never formed, spec unknown", UNFORMED, &[(T::SpecValid, Unknown)], Phase::Pending),
        ("never formed, spec absent", UNFORMED, &[], Phase::Pending),
        (
            "never formed, spec valid",
            UNFORMED,
            &[(T::SpecValid, True), (T::Available, True)],
            Phase::Provisioning,
        ),
        ("serving and well", ALIVE, &[(T::Available, True), (T::Healthy, True)], Phase::Running),
        (
            "an invalid update disturbs nobody",
            ALIVE,
            &[(T::SpecValid, False), (T::Available, True), (T::Healthy, True)],
            Phase::Running,
        ),
        ("serving, not well", ALIVE, &[(T::Available, True), (T::Healthy, False)], Phase::Degraded),
        ("serving, health unknown", ALIVE, &[(T::Available, True), (T::Healthy, Unknown)], Phase::Degraded),
        (
            "parked",
            ALIVE,
            &[(T::Available, False), (T::InfrastructureReady, True), (T::ControlPlaneReady, True)],
            Phase::Provisioned,
        ),
        (
            "infrastructure alone",
            ALIVE,
            &[(T::InfrastructureReady, True), (T::ControlPlaneReady, False)],
            Phase::Degraded,
        ),
        (
            "control plane alone",
            ALIVE,
            &[(T::InfrastructureReady, Unknown), (T::ControlPlaneReady, True)],
            Phase::Degraded,
        ),
    ];
    for (name, life, list, expected) in rows {
        assert_eq!(phase(*life, &given(list), 1), *expected, "{name}");
    }
}

#[test]
fn failed_only_where_no_seed_ended_the_recovery() {
    assert_eq!(phase(ALIVE, &no_seed(False), 1), Phase::Failed);
    assert_eq!(phase(ALIVE, &no_seed(True), 1), Phase::Recovering);
    assert_eq!(phase(ALIVE, &no_seed(Unknown), 1), Phase::Degraded);
    assert_eq!(phase(ALIVE, &given(&[(T::Recovering, False), (T::Available, True)]), 1), Phase::Degraded);
}

#[test]
fn conditions_of_another_generation_say_nothing() {
    let well = given(&[(T::Available, True), (T::Healthy, True)]);
    assert_eq!(phase(ALIVE, &well, 1), Phase::Running);
    assert_eq!(phase(ALIVE, &well, 2), Phase::Degraded);
    assert_eq!(phase(ALIVE, &given(&[(T::ReconciliationActive, False)]), 2), Phase::Paused, "a stop holds");
}

fn truth() -> impl Strategy<Value = Truth> {
    prop::sample::select(vec![True, False, Unknown])
}

proptest! {
    #[test]
    fn total_deterministic_and_true_to_its_conditions(
        deleting: bool,
        formed: bool,
        truths in prop::collection::vec(prop::option::of((truth(), any::<bool>(), 0i64..3)), T::ALL.len()),
    ) {
        let mut list = Vec::new();
        for (kind, given) in T::ALL.iter().zip(truths) {
            if let Some((truth, no_seed, generation)) = given {
                let reason = if no_seed { Reason::NoSeed } else { Reason::Idle };
                conditions::set(&mut list, *kind, Finding::new(truth, reason, ""), generation, Timestamp::UNIX_EPOCH);
            }
        }
        let life = Life { deleting, formed };
        let first = phase(life, &list, 1);
        let mut reversed = list.clone();
        reversed.reverse();
        prop_assert_eq!(first, phase(life, &reversed, 1));
        let is = |kind| conditions::truth_at(&list, kind, 1) == True;
        match first {
            Phase::Running => prop_assert!(formed && is(T::Available) && is(T::Healthy)),
            Phase::Provisioned => prop_assert!(formed && is(T::InfrastructureReady) && is(T::ControlPlaneReady)),
            Phase::Paused => prop_assert!(pause::control_paused(&list)),
            Phase::Deleting => prop_assert!(deleting),
            Phase::Pending | Phase::Provisioning => prop_assert!(!formed),
            Phase::Failed | Phase::Recovering | Phase::Degraded => {}
        }
    }
}
