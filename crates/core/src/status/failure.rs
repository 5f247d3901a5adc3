//! `reason`, and `failureReason` with `failureMessage`: why, in one word, and what Muster will not fix by itself.

use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::names::{ConditionType, Phase, Reason};
use muster_api::{Condition, limits};

use super::text;
use crate::conditions::{self, Truth};

/// Why the phase is what it is, in one word.
pub(super) fn reason(phase: Phase, deletion_waits: bool, status: &ReplicatedClusterStatus) -> Option<String> {
    use ConditionType as T;
    let of = |kind| conditions::get(&status.conditions, kind).map(|c| c.reason.clone());
    let is = |kind, truth: Truth| has(status, kind, truth).is_some();
    match phase {
        Phase::Deleting if deletion_waits => Some(Reason::ReconciliationStopped.into()),
        Phase::Deleting => Some(Reason::Deleting.into()),
        Phase::Paused if is(T::ClusteringActive, Truth::False) => of(T::ClusteringActive),
        Phase::Paused => of(T::ReconciliationActive),
        Phase::Failed => of(T::Recovering),
        Phase::Recovering => {
            let blocked = status.recovery.as_ref().and_then(|recovery| recovery.blocked_by.clone());
            blocked.or_else(|| of(T::Recovering))
        }
        Phase::Pending => of(T::SpecValid),
        Phase::Degraded if is(T::Available, Truth::True) => of(T::Healthy),
        Phase::Degraded | Phase::Provisioned => of(T::Available),
        Phase::Provisioning | Phase::Running => of(T::Ready),
    }
    .map(|word| conditions::reason(&word))
}

/// What Muster will not fix by itself: the reason and what to do about it.
pub(super) fn failure(status: &ReplicatedClusterStatus) -> Option<(String, String)> {
    use ConditionType as T;
    let reasoned = |kind, truth, why: Reason| has(status, kind, truth).filter(|c| c.reason == why.as_str());
    let found = reasoned(T::SpecValid, Truth::False, Reason::Invalid)
        .or_else(|| reasoned(T::InfrastructureReady, Truth::False, Reason::NameTaken))
        .or_else(|| reasoned(T::InfrastructureReady, Truth::False, Reason::ApplyRefused))
        .or_else(|| reasoned(T::Recovering, Truth::False, Reason::NoSeed))
        .or_else(|| reasoned(T::Recovering, Truth::True, Reason::Blocked))
        .or_else(|| reasoned(T::Healthy, Truth::False, Reason::MemberErrant))
        .or_else(|| reasoned(T::ScalingDown, Truth::False, Reason::LeaveFailed))
        .or_else(|| reasoned(T::ScalingDown, Truth::True, Reason::Blocked))?;
    let blocked_by = status.recovery.as_ref().and_then(|recovery| recovery.blocked_by.clone());
    let word = match (found.type_ == T::Recovering.as_str(), blocked_by) {
        (true, Some(by)) => by,
        _ => found.reason.clone(),
    };
    Some((text::cut(&word, limits::WORD_MAX), conditions::message(found.message.clone())))
}

fn has(status: &ReplicatedClusterStatus, kind: ConditionType, truth: Truth) -> Option<&Condition> {
    conditions::get(&status.conditions, kind).filter(|c| c.status == truth.as_str())
}
