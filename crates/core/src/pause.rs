//! Pause and resume: what the two annotations stop, and what status says meanwhile (R4).
//!
//! Paused stops writes, not honesty. What nobody looks at while clustering is stopped is `Unknown`; what is
//! not applied while reconciliation is stopped does not count as observed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use muster_api::names::{
    ANNOTATION_CLUSTERING_STOPPED, ANNOTATION_RECONCILIATION_STOPPED, ConditionType, Reason, STOPPED,
};

use crate::conditions::{self, Finding, Truth};

/// What a person asked to be stopped, by annotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// The manager shall stop.
    pub clustering: bool,
    /// The spec shall not be applied.
    pub reconciliation: bool,
}

impl Pause {
    /// Reads the annotations of a cluster; only the value `"true"` stops.
    pub fn from_annotations(annotations: Option<&BTreeMap<String, String>>) -> Self {
        let stops = |key: &str| annotations.and_then(|a| a.get(key)).is_some_and(|value| value == STOPPED);
        Self {
            clustering: stops(ANNOTATION_CLUSTERING_STOPPED),
            reconciliation: stops(ANNOTATION_RECONCILIATION_STOPPED),
        }
    }

    /// What may be done under this pause.
    pub fn permits(self) -> Permits {
        Permits {
            run_manager: !self.clustering,
            apply: !self.reconciliation,
            restart_or_remove: !self.clustering && !self.reconciliation,
        }
    }

    /// What becomes of a cluster that is deleted under this pause. Stopped clustering does not keep it: the
    /// Pods' grace period stops the applications.
    pub fn on_deletion(self) -> OnDeletion {
        if self.reconciliation { OnDeletion::Waits } else { OnDeletion::Goes }
    }
}

/// What may be done under a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permits {
    /// The manager may run, hold streams and send commands.
    pub run_manager: bool,
    /// Members, workloads and Services may be written.
    pub apply: bool,
    /// A running member may be restarted or removed: never without a manager that could start it again.
    pub restart_or_remove: bool,
}

/// What becomes of a cluster that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDeletion {
    /// Its finalizer runs.
    Goes,
    /// It waits until reconciliation is started again.
    Waits,
}

impl OnDeletion {
    /// What to say about it, if there is anything to say.
    pub fn message(self) -> Option<&'static str> {
        match self {
            Self::Goes => None,
            Self::Waits => Some("deletion waits until reconciliation is started again"),
        }
    }
}

/// A pause that took effect. When, and at which generation, is in the condition that says so: its
/// `lastTransitionTime` and `observedGeneration`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The step left unfinished, in words: "orders-a-0 fenced, none promoted: no primary".
    pub unfinished: Option<String>,
}

impl Stopped {
    fn message(&self, what: &str) -> String {
        match &self.unfinished {
            Some(step) => format!("{what} is stopped by annotation; unfinished: {step}"),
            None => format!("{what} is stopped by annotation"),
        }
    }
}

/// What the manager does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manager {
    /// It re-observes everything and does not act yet.
    Starting,
    /// It runs.
    Running,
    /// It was asked to stop and waits for the answers to what it sent.
    Stopping {
        /// Whom it waits for, in words.
        waiting_for: String,
    },
    /// It has stopped.
    Stopped(Stopped),
}

/// `ClusteringActive`. False only once the manager has really stopped, because someone asked for it.
pub fn clustering_active(pause: Pause, manager: &Manager) -> Finding {
    match (pause.clustering, manager) {
        (true, Manager::Stopped(stop)) => {
            Finding::is_false(Reason::ClusteringStopped, stop.message("clustering"))
        }
        (true, Manager::Stopping { waiting_for }) => Finding::is_true(
            Reason::Stopping,
            format!("clustering is being stopped: waiting for {waiting_for}"),
        ),
        (true, Manager::Starting | Manager::Running) => {
            Finding::is_true(Reason::Stopping, "clustering is being stopped")
        }
        (false, Manager::Running) => Finding::is_true(Reason::Active, "the manager is running"),
        (false, Manager::Starting | Manager::Stopping { .. } | Manager::Stopped(_)) => {
            Finding::is_true(Reason::Starting, "the manager observes everything anew before it acts")
        }
    }
}

/// Whether nobody is looking: the pause was asked for, and the manager has stopped.
pub fn clustering_is_stopped(pause: Pause, manager: &Manager) -> bool {
    pause.clustering && matches!(manager, Manager::Stopped(_))
}

/// `ReconciliationActive`. It is always said at the current generation, because it is true of that one.
pub fn reconciliation_active(pause: Pause, stopped: Option<&Stopped>) -> Finding {
    match (pause.reconciliation, stopped) {
        (true, Some(stop)) => {
            Finding::is_false(Reason::ReconciliationStopped, stop.message("reconciliation"))
        }
        (true, None) => Finding::is_true(Reason::Stopping, "reconciliation is being stopped"),
        (false, _) => Finding::is_true(Reason::Active, "the spec is being applied"),
    }
}

/// What a cluster's conditions say while nobody is looking: everything that comes from agents is `Unknown`.
const CLUSTER_UNSEEN: [ConditionType; 8] = [
    ConditionType::ControlPlaneReady,
    ConditionType::Available,
    ConditionType::Healthy,
    ConditionType::Recovering,
    ConditionType::ScalingUp,
    ConditionType::ScalingDown,
    ConditionType::RollingOut,
    ConditionType::Ready,
];

/// The same for a Member.
const MEMBER_UNSEEN: [ConditionType; 3] =
    [ConditionType::AgentConnected, ConditionType::Joined, ConditionType::Ready];

/// Makes a cluster's conditions say that nobody is looking.
pub fn unsee_cluster(conditions: &mut Vec<Condition>, generation: i64, now: Timestamp) {
    unsee(conditions, &CLUSTER_UNSEEN, generation, now);
}

/// Makes a Member's conditions say that nobody is looking.
pub fn unsee_member(conditions: &mut Vec<Condition>, generation: i64, now: Timestamp) {
    unsee(conditions, &MEMBER_UNSEEN, generation, now);
}

fn unsee(conditions: &mut Vec<Condition>, kinds: &[ConditionType], generation: i64, now: Timestamp) {
    for kind in kinds {
        let finding =
            Finding::unknown(Reason::ClusteringStopped, "clustering is stopped, so nobody is looking");
        conditions::set(conditions, *kind, finding, generation, now);
    }
}

/// `InfrastructureReady` while changes are held because no manager could start a member again; `None` when
/// none is held.
pub fn held(changes: &[String]) -> Option<Finding> {
    if changes.is_empty() {
        return None;
    }
    let text = format!("held while clustering is stopped: {}", conditions::listed(changes, "; "));
    Some(Finding::is_false(Reason::ClusteringStopped, text))
}

/// `status.controlPaused`: a …Active is False. A stop holds until it is taken back, so it counts at any
/// generation.
pub fn control_paused(conditions: &[Condition]) -> bool {
    [ConditionType::ClusteringActive, ConditionType::ReconciliationActive]
        .into_iter()
        .filter_map(|kind| conditions::get(conditions, kind))
        .any(|c| Truth::from_stored(&c.status) == Truth::False)
}

/// What is known when `status.observedGeneration` is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// `metadata.generation`.
    pub generation: i64,
    /// The last generation this process applied; `None` after a restart.
    pub applied: Option<i64>,
    /// The live children were compared with what this spec builds, and are equal.
    pub children_equal: bool,
    /// `status.observedGeneration` as stored; only asked where memory cannot know.
    pub stored: Option<i64>,
}

/// The generation that the status may claim: this one, unless reconciliation is stopped; then the last one
/// that was applied.
pub fn observed_generation(pause: Pause, progress: Progress) -> i64 {
    let Progress { generation, applied, children_equal, stored } = progress;
    if !pause.reconciliation {
        return generation;
    }
    match applied {
        Some(applied) => applied,
        None if children_equal => generation,
        None => stored.filter(|stored| (1..generation).contains(stored)).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
