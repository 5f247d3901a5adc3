//! The phase of a cluster: a total function of its conditions, never an input (R3.3).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use muster_api::names::{ConditionType, Phase, Reason};

use crate::conditions::{self, Truth};
use crate::pause;

/// What the phase depends on besides the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// `deletionTimestamp` is set.
    pub deleting: bool,
    /// The cluster was formed once: a claim carries the mark.
    pub formed: bool,
}

/// The phase, the first that matches. `generation` is the one that the status speaks about.
pub fn phase(life: Life, conditions: &[Condition], generation: i64) -> Phase {
    use ConditionType as T;
    let truth = |kind| conditions::truth_at(conditions, kind, generation);
    let is = |kind| truth(kind) == Truth::True;
    let no_seed =
        || conditions::get(conditions, T::Recovering).is_some_and(|c| c.reason == Reason::NoSeed.as_str());

    if life.deleting {
        Phase::Deleting
    } else if pause::control_paused(conditions) {
        Phase::Paused
    } else if truth(T::Recovering) == Truth::False && no_seed() {
        Phase::Failed
    } else if is(T::Recovering) {
        Phase::Recovering
    } else if !life.formed {
        if is(T::SpecValid) { Phase::Provisioning } else { Phase::Pending }
    } else if is(T::Available) {
        if is(T::Healthy) { Phase::Running } else { Phase::Degraded }
    } else if is(T::InfrastructureReady) && is(T::ControlPlaneReady) {
        Phase::Provisioned
    } else {
        Phase::Degraded
    }
}

#[cfg(test)]
mod tests;
