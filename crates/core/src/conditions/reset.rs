//! Reset the conditions for a new generation (R1.1), in the one write that also bumps `observedGeneration`,
//! before any child is touched.
//!
//! Verdicts on a spec become `Unknown/Reconciling`. Measurements are not verdicts: they are measured again
//! and restated at the new generation. Each has a field here, so that none can be forgotten and keep an old
//! value.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use muster_api::names::{ConditionType, Reason};

use super::{Finding, set};

/// The measurements of a cluster, taken just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMeasurements {
    /// Clients can be served.
    pub available: Finding,
    /// Every member in its role and synced.
    pub healthy: Finding,
    /// The manager is running.
    pub clustering_active: Finding,
    /// The spec is being applied.
    pub reconciliation_active: Finding,
    /// Replication is being restored.
    pub recovering: Finding,
    /// Members are being added.
    pub scaling_up: Finding,
    /// Members are being removed.
    pub scaling_down: Finding,
    /// A change is being rolled out.
    pub rolling_out: Finding,
}

/// The measurements of a Member, taken just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMeasurements {
    /// Its agent reports.
    pub agent_connected: Finding,
    /// It replicates with the others.
    pub joined: Finding,
}

/// Resets a cluster's conditions for `generation`.
pub fn reset_cluster(
    conditions: &mut Vec<Condition>,
    now_is: ClusterMeasurements,
    generation: i64,
    now: Timestamp,
) {
    use ConditionType as T;
    let verdicts = [T::SpecValid, T::InfrastructureReady, T::ControlPlaneReady, T::Ready];
    let measurements = [
        (T::Available, now_is.available),
        (T::Healthy, now_is.healthy),
        (T::ClusteringActive, now_is.clustering_active),
        (T::ReconciliationActive, now_is.reconciliation_active),
        (T::Recovering, now_is.recovering),
        (T::ScalingUp, now_is.scaling_up),
        (T::ScalingDown, now_is.scaling_down),
        (T::RollingOut, now_is.rolling_out),
    ];
    reset(conditions, verdicts, measurements, generation, now);
}

/// Resets a Member's conditions for `generation`.
pub fn reset_member(
    conditions: &mut Vec<Condition>,
    now_is: MemberMeasurements,
    generation: i64,
    now: Timestamp,
) {
    use ConditionType as T;
    let verdicts = [T::SpecValid, T::StorageReady, T::WorkloadReady, T::Ready];
    let measurements = [(T::AgentConnected, now_is.agent_connected), (T::Joined, now_is.joined)];
    reset(conditions, verdicts, measurements, generation, now);
}

fn reset(
    conditions: &mut Vec<Condition>,
    verdicts: impl IntoIterator<Item = ConditionType>,
    measurements: impl IntoIterator<Item = (ConditionType, Finding)>,
    generation: i64,
    now: Timestamp,
) {
    for kind in verdicts {
        let text = format!("generation {generation} is being applied");
        set(conditions, kind, Finding::unknown(Reason::Reconciling, text), generation, now);
    }
    for (kind, finding) in measurements {
        set(conditions, kind, finding, generation, now);
    }
}
