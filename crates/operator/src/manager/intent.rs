//! What the cluster's controller asks its manager to keep: the last spec that was valid and is to be applied.

use jiff::SignedDuration;
use muster_api::ReplicatedCluster;
use muster_api::cluster::ReplicatedClusterSpec;
use muster_api::engine::{AcknowledgedCopies, Actions, DefaultPrimaries, Election, Topology};
use muster_core::manager::roster::Copies;
use muster_core::manager::wanted::Engine;
use muster_core::scaling::Threshold;

/// What a manager is to keep, as far as it is in the spec of the cluster and of its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// How the engine replicates.
    pub engine: Engine,
    /// How many members serve writes; none: all of them.
    pub primaries: Option<usize>,
    /// `failover.allowLoss`.
    pub allow_loss: bool,
    /// All pools are at 0, or the cluster is being deleted: everything is to stop.
    pub parked: bool,
    /// Whether Pods that do not run what their workload says are to be replaced.
    pub replaces: bool,
}

impl Intent {
    /// What this spec asks for with this engine.
    pub fn of(cluster: &ReplicatedCluster, engine: &EngineSpec<'_>) -> Self {
        let topology = engine.topology;
        let copies = match topology.acknowledged_copies {
            AcknowledgedCopies::Count(count) => Copies::Fixed(usize::try_from(count).unwrap_or(1).max(1)),
            AcknowledgedCopies::Majority => Copies::Majority,
        };
        let primaries = match (cluster.spec.primaries, topology.default_primaries) {
            (Some(primaries), _) => Some(primaries),
            (None, DefaultPrimaries::One) => Some(1),
            (None, DefaultPrimaries::All) => topology.max_primaries,
        };
        Self {
            engine: Engine {
                copies,
                elects: topology.election == Election::Engine,
                promotes: engine.actions.promote.is_some(),
                demotes: engine.actions.demote.is_some(),
                bootstraps: engine.actions.bootstrap.is_some(),
                adds_devices: engine.actions.add_device.is_some(),
                stall_timeout: SignedDuration::from_secs(engine.stall_timeout_seconds.into()),
            },
            primaries: primaries
                .and_then(|primaries| usize::try_from(primaries).ok())
                .map(|count| count.max(1)),
            allow_loss: cluster.spec.failover.allow_loss,
            parked: asks_for_nobody(&cluster.spec),
            replaces: true,
        }
    }
}

/// What decisions need of an engine: of the ReplicationEngine itself, or of the configuration that its members run with.
#[derive(Clone, Copy, Debug)]
pub struct EngineSpec<'a> {
    /// How members stand to each other.
    pub topology: &'a Topology,
    /// What it can do.
    pub actions: &'a Actions,
    /// How long a running member may show no progress.
    pub stall_timeout_seconds: i32,
}

/// Whether every pool asks for no member at all.
pub fn asks_for_nobody(spec: &ReplicatedClusterSpec) -> bool {
    !spec.pools.is_empty() && spec.pools.iter().all(|pool| Threshold::from(&pool.threshold).is_zero())
}
