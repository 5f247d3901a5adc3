//! What is reported of a Deployment, from its `ReplicaSets`.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus, ReplicaSet, ReplicaSetStatus};
use kube::ResourceExt;

use super::conditions::{self, AVAILABLE, COMPLETE, FAILURE, PROGRESSING, TIMED_OUT, condition};
use super::sizes::Sets;
use super::spec::Wish;

fn sum<'a>(sets: impl Iterator<Item = &'a ReplicaSet>, of: fn(&ReplicaSetStatus) -> Option<i32>) -> i32 {
    sets.filter_map(|set| set.status.as_ref().and_then(of)).sum()
}

/// The counts, and whether it is available. `known` is the status so far, with its conditions.
pub(super) fn counted(
    deployment: &Deployment,
    wish: Wish<'_>,
    sets: &Sets,
    known: &DeploymentStatus,
    now: Timestamp,
) -> DeploymentStatus {
    let available = sets.available();
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: Some(sum(sets.all(), |status| Some(status.replicas))),
        updated_replicas: Some(sum(sets.new.iter(), |status| Some(status.replicas))),
        ready_replicas: Some(sum(sets.all(), |status| status.ready_replicas)),
        available_replicas: Some(available),
        unavailable_replicas: Some((sets.total() - available).max(0)),
        terminating_replicas: Some(sum(sets.all(), |status| status.terminating_replicas)),
        collision_count: known.collision_count,
        conditions: known.conditions.clone(),
    };
    let (is, reason, message) = if available >= wish.replicas() - wish.max_unavailable() {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    conditions::set(&mut status, condition(AVAILABLE, is, reason, message.to_owned(), now));
    status
}

/// Whether every Pod is of the newest template, available, and none is too many.
pub(super) fn is_complete(deployment: &Deployment, wish: Wish<'_>, status: &DeploymentStatus) -> bool {
    let counts = [status.updated_replicas, status.replicas, status.available_replicas];
    counts.iter().all(|count| count.unwrap_or(0) == wish.replicas())
        && status.observed_generation >= deployment.metadata.generation
}

fn is_progress(old: &DeploymentStatus, new: &DeploymentStatus) -> bool {
    let count = |count: Option<i32>| count.unwrap_or(0);
    let outdated = |status: &DeploymentStatus| count(status.replicas) - count(status.updated_replicas);
    count(new.updated_replicas) > count(old.updated_replicas)
        || outdated(new) < outdated(old)
        || count(new.ready_replicas) > count(old.ready_replicas)
        || count(new.available_replicas) > count(old.available_replicas)
}

/// The counts, and how its rollout goes.
pub(super) fn rolling(
    deployment: &Deployment,
    wish: Wish<'_>,
    sets: &Sets,
    known: &DeploymentStatus,
    now: Timestamp,
) -> DeploymentStatus {
    let mut status = counted(deployment, wish, sets, known, now);
    match wish.deadline() {
        None => conditions::remove(&mut status, PROGRESSING),
        Some(deadline) => progress(deployment, wish, sets, known, &mut status, deadline, now),
    }
    let with_failure = sets.new.iter().chain(&sets.old).find_map(|set| {
        let conditions = set.status.as_ref()?.conditions.as_ref()?;
        conditions.iter().find(|condition| condition.type_ == FAILURE)
    });
    match with_failure {
        None => conditions::remove(&mut status, FAILURE),
        Some(failed) => {
            let (reason, message) = (failed.reason.as_deref(), failed.message.clone());
            let failed = condition(
                FAILURE,
                &failed.status,
                reason.unwrap_or_default(),
                message.unwrap_or_default(),
                now,
            );
            conditions::set(&mut status, failed);
        }
    }
    status
}

fn progress(
    deployment: &Deployment,
    wish: Wish<'_>,
    sets: &Sets,
    known: &DeploymentStatus,
    status: &mut DeploymentStatus,
    deadline: i32,
    now: Timestamp,
) {
    let is_new = conditions::reason(known, PROGRESSING) != Some(COMPLETE);
    if status.replicas == status.updated_replicas && !is_new {
        return;
    }
    let who = sets.new.as_ref().map_or_else(
        || format!("Deployment {:?}", deployment.name_any()),
        |set| format!("ReplicaSet {:?}", set.name_any()),
    );
    if is_complete(deployment, wish, status) {
        let message = format!("{who} has successfully progressed.");
        conditions::set(status, condition(PROGRESSING, "True", COMPLETE, message, now));
    } else if is_progress(known, status) {
        let message = format!("{who} is progressing.");
        conditions::renew(status, condition(PROGRESSING, "True", "ReplicaSetUpdated", message, now));
    } else if conditions::until_deadline(status, deadline, now).is_some_and(|left| left.is_negative()) {
        let message = format!("{who} has timed out progressing.");
        conditions::set(status, condition(PROGRESSING, "False", TIMED_OUT, message, now));
    }
}

/// Whether there is something to report: what is 0 may also be left out.
pub(super) fn differs(old: Option<&DeploymentStatus>, new: &DeploymentStatus) -> bool {
    let Some(old) = old else { return true };
    let counts = |status: &DeploymentStatus| {
        let counts = [
            status.replicas,
            status.updated_replicas,
            status.ready_replicas,
            status.available_replicas,
            status.unavailable_replicas,
            status.collision_count,
        ];
        counts.map(|count| count.unwrap_or(0))
    };
    old.observed_generation != new.observed_generation
        || counts(old) != counts(new)
        || old.terminating_replicas != new.terminating_replicas
        || old.conditions != new.conditions
}
