//! Summarise several conditions into Ready. The summary never invents a True: an input that is absent, or
//! speaks about another generation, is `Unknown`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use muster_api::names::{ConditionType, Reason};

use super::{Finding, Truth, get, message, names, truth_at};

/// What a cluster's Ready depends on, in the order in which a False is told.
const CLUSTER_INPUTS: [ConditionType; 4] = [
    ConditionType::SpecValid,
    ConditionType::InfrastructureReady,
    ConditionType::ControlPlaneReady,
    ConditionType::Available,
];

/// What a Member's Ready depends on, in the order in which a False is told.
const MEMBER_INPUTS: [ConditionType; 5] = [
    ConditionType::SpecValid,
    ConditionType::StorageReady,
    ConditionType::WorkloadReady,
    ConditionType::AgentConnected,
    ConditionType::Joined,
];

/// Ready of a cluster at `generation`.
///
/// With clustering stopped it is `Unknown`, whatever else is known. A parked cluster is Ready although it
/// serves nobody, because that is what its spec asks for.
pub fn summarise_cluster(conditions: &[Condition], generation: i64) -> Finding {
    // A stop holds until it is taken back, so it counts at whatever generation it was written.
    let stopped = get(conditions, ConditionType::ClusteringActive)
        .is_some_and(|c| Truth::from_stored(&c.status) == Truth::False);
    if stopped {
        return Finding::unknown(Reason::ClusteringStopped, "clustering is stopped, so nobody is looking");
    }
    if is_parked(conditions, generation) {
        return Finding::is_true(
            Reason::Parked,
            "all pools are at 0, as asked: members are stopped, data is kept",
        );
    }
    summarise(conditions, &CLUSTER_INPUTS, generation)
}

/// Ready of a Member at `generation`.
pub fn summarise_member(conditions: &[Condition], generation: i64) -> Finding {
    summarise(conditions, &MEMBER_INPUTS, generation)
}

/// The first False in order; else Unknown if one is; else True.
fn summarise(conditions: &[Condition], inputs: &[ConditionType], generation: i64) -> Finding {
    let is = |kind: &ConditionType, truth| truth_at(conditions, *kind, generation) == truth;
    if let Some(kind) = inputs.iter().find(|kind| is(kind, Truth::False)) {
        let (why, text) =
            get(conditions, *kind).map_or(("", ""), |c| (c.reason.as_str(), c.message.as_str()));
        let text = message(format!("{kind}: {text}"));
        return Finding { truth: Truth::False, reason: super::reason(why), message: text };
    }
    let unknown: Vec<&str> =
        inputs.iter().filter(|kind| !is(kind, Truth::True)).map(|kind| kind.as_str()).collect();
    if unknown.is_empty() {
        return Finding::is_true(Reason::AsDesired, "this generation is live");
    }
    let reset = |name: &&str| {
        conditions.iter().any(|c| c.type_ == **name && c.reason == Reason::Reconciling.as_str())
    };
    let why = if unknown.iter().all(reset) { Reason::Reconciling } else { Reason::NotObserved };
    Finding::unknown(why, format!("not known yet: {}", names(&unknown)))
}

/// A parked cluster has a valid spec, says `Parked` where it is ready, and says `Parked` where it serves
/// nobody.
fn is_parked(conditions: &[Condition], generation: i64) -> bool {
    let parked = |kind, truth| {
        truth_at(conditions, kind, generation) == truth
            && get(conditions, kind).is_some_and(|c| c.reason == Reason::Parked.as_str())
    };
    truth_at(conditions, ConditionType::SpecValid, generation) == Truth::True
        && parked(ConditionType::InfrastructureReady, Truth::True)
        && parked(ConditionType::ControlPlaneReady, Truth::True)
        && parked(ConditionType::Available, Truth::False)
}
