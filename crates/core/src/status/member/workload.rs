//! `WorkloadReady`: the workload runs what this spec asks for.

use muster_api::names::Reason;

use super::MemberInputs;
use crate::conditions::Finding;
use crate::generation::Gate;
use crate::pause;

pub(super) fn workload(inputs: &MemberInputs<'_>) -> Finding {
    let seen = &inputs.workload;
    if inputs.external {
        return Finding::is_true(Reason::External, "it runs on a host of its own");
    }
    if let Some(taken) = seen.name_taken {
        let text = format!("{taken} belongs to someone else and is not adopted; rename or remove it");
        return Finding::is_false(Reason::NameTaken, text);
    }
    if let Some(why) = seen.refused {
        return Finding::is_false(Reason::ApplyRefused, why);
    }
    let held: Vec<String> = seen.held.map(str::to_owned).into_iter().collect();
    if let Some(held) = pause::held(&held) {
        return held;
    }
    if let Some(why) = seen.unobserved {
        return Finding::unknown(Reason::ObservationFailed, why);
    }
    match seen.set {
        None => Finding::is_false(Reason::WorkloadNotReady, "its StatefulSet does not exist yet"),
        Some(Gate::Ready) if seen.at_zero => {
            Finding::is_true(Reason::Parked, "its cluster is parked: its StatefulSet is at 0")
        }
        Some(Gate::Ready) => Finding::is_true(Reason::AsDesired, "it runs what this spec asks for"),
        Some(Gate::Stale { reason }) => {
            Finding::unknown(Reason::NotObserved, format!("its StatefulSet {reason}"))
        }
        Some(Gate::NotYet { reason } | Gate::Failed { reason }) => {
            Finding::is_false(Reason::WorkloadNotReady, format!("its StatefulSet {reason}"))
        }
    }
}
