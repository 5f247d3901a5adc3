//! The condition types of every kind.

use super::string_enum::string_enum;

string_enum! {
    /// The type of a condition. Which kinds carry it: [`CLUSTER_CONDITIONS`], [`MEMBER_CONDITIONS`].
    pub enum ConditionType as "condition type" {
        /// Every check of the spec passed; False lists every violation with its field path.
        SpecValid = "SpecValid",
        /// Pools are at size; storage, workloads and drivers are ready at this generation.
        InfrastructureReady = "InfrastructureReady",
        /// The wanted primaries run and every enabled member joined them in one view.
        ControlPlaneReady = "ControlPlaneReady",
        /// Clients can be served now.
        Available = "Available",
        /// Every member is in its role and synced; none failed or is errant.
        Healthy = "Healthy",
        /// The manager is running.
        ClusteringActive = "ClusteringActive",
        /// The spec is being applied.
        ReconciliationActive = "ReconciliationActive",
        /// Replication is being restored after an outage, or waits for someone (`Blocked`).
        Recovering = "Recovering",
        /// Members are being added.
        ScalingUp = "ScalingUp",
        /// Members are being removed.
        ScalingDown = "ScalingDown",
        /// A change is being rolled through the members, one by one.
        RollingOut = "RollingOut",
        /// Everything this object asks for is live at its `observedGeneration`.
        Ready = "Ready",
        /// Member: its volumes are bound, or its devices are part of the storage pool.
        StorageReady = "StorageReady",
        /// Member: its workload runs what this spec asks for.
        WorkloadReady = "WorkloadReady",
        /// Member: its agent reports.
        AgentConnected = "AgentConnected",
        /// Member: it replicates with the others.
        Joined = "Joined",
    }
}

/// What a `ReplicatedCluster` carries, in the order in which it is shown.
pub const CLUSTER_CONDITIONS: &[ConditionType] = &[
    ConditionType::Ready,
    ConditionType::SpecValid,
    ConditionType::InfrastructureReady,
    ConditionType::ControlPlaneReady,
    ConditionType::Available,
    ConditionType::Healthy,
    ConditionType::ClusteringActive,
    ConditionType::ReconciliationActive,
    ConditionType::Recovering,
    ConditionType::ScalingUp,
    ConditionType::ScalingDown,
    ConditionType::RollingOut,
];

/// What a `Member` carries, in the order in which it is shown.
pub const MEMBER_CONDITIONS: &[ConditionType] = &[
    ConditionType::Ready,
    ConditionType::SpecValid,
    ConditionType::StorageReady,
    ConditionType::WorkloadReady,
    ConditionType::AgentConnected,
    ConditionType::Joined,
];
