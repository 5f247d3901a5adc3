//! The reset for a new generation.

use super::*;

fn measured(truth: Truth) -> ClusterMeasurements {
    let finding = |text: &str| Finding::new(truth, Reason::Active, text);
    ClusterMeasurements {
        available: finding("Available"),
        healthy: finding("Healthy"),
        clustering_active: finding("ClusteringActive"),
        reconciliation_active: finding("ReconciliationActive"),
        recovering: finding("Recovering"),
        scaling_up: finding("ScalingUp"),
        scaling_down: finding("ScalingDown"),
        rolling_out: finding("RollingOut"),
    }
}

#[test]
fn verdicts_become_unknown_and_measurements_are_restated() {
    for truth in [Truth::True, Truth::False, Truth::Unknown] {
        let mut list: Vec<Condition> =
            CLUSTER_CONDITIONS.iter().map(|kind| condition(*kind, Truth::True, 1)).collect();
        reset_cluster(&mut list, measured(truth), 2, at(50));
        assert_eq!(list.len(), CLUSTER_CONDITIONS.len());
        for c in &list {
            assert_eq!(c.observed_generation, Some(2), "{}", c.type_);
            if ["SpecValid", "InfrastructureReady", "ControlPlaneReady", "Ready"].contains(&c.type_.as_str())
            {
                assert_eq!((c.status.as_str(), c.reason.as_str()), ("Unknown", "Reconciling"));
                assert_eq!(c.message, "generation 2 is being applied");
                assert_eq!(c.last_transition_time, Time(at(50)));
            } else {
                assert_eq!((c.status.as_str(), c.message.as_str()), (truth.as_str(), c.type_.as_str()));
            }
        }
        assert_eq!(summarise_cluster(&list, 2).truth, Truth::Unknown);
    }
}

#[test]
fn every_condition_of_a_fresh_cluster_is_there() {
    let mut list = Vec::new();
    reset_cluster(&mut list, measured(Truth::True), 1, at(0));
    for kind in CLUSTER_CONDITIONS {
        assert!(get(&list, *kind).is_some(), "{kind}");
    }
}

#[test]
fn a_member_is_reset_alike() {
    let mut list: Vec<Condition> =
        MEMBER_CONDITIONS.iter().map(|kind| condition(*kind, Truth::True, 1)).collect();
    let now_is = MemberMeasurements {
        agent_connected: Finding::is_true(Reason::Connected, ""),
        joined: Finding::is_false(Reason::NotJoined, ""),
    };
    reset_member(&mut list, now_is, 2, at(0));
    let truth = |kind| truth_at(&list, kind, 2);
    for kind in [T::SpecValid, T::StorageReady, T::WorkloadReady, T::Ready] {
        assert_eq!(truth(kind), Truth::Unknown);
    }
    assert_eq!((truth(T::AgentConnected), truth(T::Joined)), (Truth::True, Truth::False));
    assert_eq!(list.len(), MEMBER_CONDITIONS.len());
}
