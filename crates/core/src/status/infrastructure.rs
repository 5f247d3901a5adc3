//! `InfrastructureReady`: pools at size; every Member's storage and workload ready at its generation; drivers rolled
//! out.

use muster_api::names::Reason;

use super::inputs::{ClusterInputs, Sizing};
use crate::conditions::{self, Finding};
use crate::generation::{self, Gate};
use crate::pause::{self, OnDeletion};
use crate::scaling::{Decision, Hold, Stage};

/// What is certain comes first, then what cannot be observed, then what is on its way. What was not applied comes last: it
/// only keeps everything else from being enough.
pub(super) fn infrastructure(inputs: &ClusterInputs<'_>) -> Finding {
    certain(inputs)
        .or_else(|| unobserved(inputs))
        .or_else(|| pools(inputs))
        .or_else(|| members(inputs))
        .or_else(|| drivers(inputs))
        .or_else(|| unapplied(inputs))
        .unwrap_or_else(|| in_place(inputs))
}

fn certain(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    if inputs.object.deleting && inputs.pause().on_deletion() == OnDeletion::Goes {
        return Some(Finding::is_false(Reason::Deleting, "the cluster is being deleted"));
    }
    if !inputs.name_taken.is_empty() {
        let text = format!(
            "these objects belong to someone else and are not adopted; rename or remove them: {}",
            conditions::names(inputs.name_taken)
        );
        return Some(Finding::is_false(Reason::NameTaken, text));
    }
    if !inputs.refused.is_empty() {
        return Some(Finding::is_false(Reason::ApplyRefused, conditions::listed(inputs.refused, "; ")));
    }
    pause::held(inputs.clustering.held)
}

fn unobserved(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    if !inputs.unobserved.is_empty() {
        let text = format!("could not be observed: {}", conditions::listed(inputs.unobserved, "; "));
        return Some(Finding::unknown(Reason::ObservationFailed, text));
    }
    if inputs.sizing().is_none() {
        let text = match inputs.basis() {
            Some(_) if is_invalid(inputs) => "the spec is not valid, so its pools are not sized".to_owned(),
            Some(generation) => format!("the pools of generation {generation} were not sized yet"),
            None => "reconciliation is stopped, and it is not known which spec the members run".to_owned(),
        };
        return Some(Finding::unknown(Reason::NotObserved, text));
    }
    match member_gate(inputs) {
        Gate::Stale { reason } => Some(Finding::unknown(Reason::NotObserved, reason)),
        _ => None,
    }
}

fn is_invalid(inputs: &ClusterInputs<'_>) -> bool {
    let report = inputs.spec.as_ref().and_then(|spec| spec.at(inputs.basis()));
    report.is_some_and(|report| !report.violations.is_empty())
}

/// The pools that are not at size, and why.
fn pools(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    let sizing = inputs.sizing()?;
    let unknown: Vec<String> =
        held_pools(sizing, |hold| matches!(hold, Hold::FreeUnknown(_) | Hold::AwaitingReports(_)));
    let off = off_size(inputs, sizing);
    if !off.is_empty() {
        return Some(Finding::is_false(Reason::PoolNotAtSize, conditions::listed(&off, "; ")));
    }
    (!unknown.is_empty())
        .then(|| Finding::unknown(Reason::FreeStorageUnknown, conditions::listed(&unknown, "; ")))
}

fn off_size(inputs: &ClusterInputs<'_>, sizing: &Sizing<'_>) -> Vec<String> {
    let mut off = Vec::new();
    for (pool, advice) in sizing.pools.iter().zip(&sizing.advice.pools) {
        match &advice.decision {
            Decision::Create { ordinals, .. } => {
                off.push(format!("pool {} needs {} more", pool.name, ordinals.len()));
            }
            Decision::Remove { member, .. } => off.push(format!("{member} is to leave pool {}", pool.name)),
            Decision::Hold(_) => {}
        }
    }
    // What a threshold admits as its end (at the maximum, no gain, would grow again) is at size.
    off.extend(held_pools(sizing, |hold| {
        matches!(hold, Hold::Joining(_) | Hold::Leaving(_) | Hold::ClusterFull | Hold::NobodyMayGo)
    }));
    if let Decision::Remove { member, .. } = &sizing.advice.removed_pools {
        off.push(format!("{member} is to leave: its pool is gone from the spec"));
    }
    if matches!(sizing.advice.removed_pools, Decision::Hold(Hold::Leaving(_) | Hold::NobodyMayGo)) {
        off.push("members of pools that are gone from the spec are still there".to_owned());
    }
    let leaving = inputs.members.iter().filter(|member| member.stage == Stage::Leaving);
    off.extend(leaving.map(|member| format!("{} has not left yet", member.name)));
    off
}

fn held_pools(sizing: &Sizing<'_>, which: impl Fn(&Hold) -> bool) -> Vec<String> {
    let pools = sizing.pools.iter().zip(&sizing.advice.pools);
    pools
        .filter_map(|(pool, advice)| match &advice.decision {
            Decision::Hold(hold) if which(hold) => Some(format!("pool {}: {}", pool.name, hold.message())),
            _ => None,
        })
        .collect()
}

/// Storage and workload of every Member, those on their way out apart.
fn member_gate(inputs: &ClusterInputs<'_>) -> Gate {
    let members = inputs.members.iter().filter(|member| member.stage != Stage::Leaving);
    let gates = members.filter_map(|member| {
        let name = member.name.as_str();
        let rolled = if member.spec_current {
            Gate::Ready
        } else {
            Gate::NotYet { reason: "does not have this spec yet".to_owned() }
        };
        // One clause for each Member is enough: storage comes first, because a workload needs it.
        let first = [member.storage(), member.workload(), rolled];
        first.into_iter().find(|gate| !gate.is_ready()).map(|gate| (name, gate))
    });
    generation::worst(gates)
}

fn members(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    match member_gate(inputs) {
        Gate::Ready => None,
        Gate::Stale { reason } => Some(Finding::unknown(Reason::NotObserved, reason)),
        Gate::NotYet { reason } | Gate::Failed { reason } => {
            Some(Finding::is_false(Reason::MemberNotReady, reason))
        }
    }
}

fn drivers(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    let gates = inputs.drivers.iter().map(|(name, gate)| (name.as_str(), gate.clone()));
    match generation::worst(gates) {
        Gate::Ready => None,
        Gate::Stale { reason } => Some(Finding::unknown(Reason::NotObserved, reason)),
        Gate::NotYet { reason } | Gate::Failed { reason } => {
            Some(Finding::is_false(Reason::DriverNotReady, reason))
        }
    }
}

/// Nothing that is observed of a child counts before this spec has reached it. The words are those of a new generation: it
/// is still being applied.
fn unapplied(inputs: &ClusterInputs<'_>) -> Option<Finding> {
    if inputs.unapplied.is_empty() {
        return None;
    }
    let text = format!("not applied yet: {}", conditions::listed(inputs.unapplied, "; "));
    Some(Finding::unknown(Reason::Reconciling, text))
}

fn in_place(inputs: &ClusterInputs<'_>) -> Finding {
    if !inputs.parked() {
        return Finding::is_true(Reason::AsDesired, "pools, storage, workloads and drivers are as desired");
    }
    let running: Vec<&str> =
        inputs.members.iter().filter(|member| !member.at_zero).map(|member| member.name.as_str()).collect();
    if running.is_empty() {
        return Finding::is_true(Reason::Parked, "all pools are at 0: workloads are at 0, volumes are kept");
    }
    let text = format!("parking: {} still run", conditions::names(&running));
    Finding::is_false(Reason::Stopping, text)
}
