//! What is reported of a StatefulSet, from its Pods.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec, StatefulSetStatus};
use k8s_openapi::api::core::v1::Pod;

use super::identity::revision;
use super::revisions::History;
use crate::workloads::pods::{is_available, is_ending, runs_ready};

/// The status as these Pods make it; `updating` of them were just deleted to be made anew.
pub(super) fn of(
    set: &StatefulSet,
    spec: &StatefulSetSpec,
    history: &History,
    pods: &[Pod],
    updating: i32,
    now: Timestamp,
) -> StatefulSetStatus {
    let min_ready = spec.min_ready_seconds.unwrap_or(0);
    let count = |is_so: &dyn Fn(&Pod) -> bool| -> i32 {
        i32::try_from(pods.iter().filter(|pod| is_so(pod)).count()).unwrap_or(i32::MAX)
    };
    let of_revision = |name: &str| count(&|pod| !is_ending(pod) && revision(pod) == name);
    let (current, update) = (history.current_name(), history.update_name());
    let mut status = StatefulSetStatus {
        observed_generation: set.metadata.generation,
        replicas: count(&|_| true),
        ready_replicas: Some(count(&runs_ready)),
        available_replicas: Some(count(&|pod| runs_ready(pod) && is_available(pod, min_ready, now))),
        current_replicas: Some(of_revision(current) - updating),
        updated_replicas: Some(of_revision(update)),
        current_revision: Some(current.to_owned()),
        update_revision: Some(update.to_owned()),
        collision_count: Some(history.collisions),
        conditions: set.status.as_ref().and_then(|status| status.conditions.clone()),
    };
    complete(spec, &mut status);
    status
}

/// When all Pods are of the newest revision, and ready, it becomes the current one.
fn complete(spec: &StatefulSetSpec, status: &mut StatefulSetStatus) {
    let strategy = spec.update_strategy.as_ref().and_then(|strategy| strategy.type_.as_deref());
    let wanted = spec.replicas.unwrap_or(1);
    let all = [status.updated_replicas, status.ready_replicas, Some(status.replicas)];
    if strategy != Some("OnDelete") && all.iter().all(|count| *count == Some(wanted)) {
        status.current_replicas = status.updated_replicas;
        status.current_revision.clone_from(&status.update_revision);
    }
}

/// Whether there is something to report: what is 0 may also be left out.
pub(super) fn differs(old: Option<&StatefulSetStatus>, new: &StatefulSetStatus) -> bool {
    let Some(old) = old else { return true };
    let counts = |status: &StatefulSetStatus| {
        let counts = [
            Some(status.replicas),
            status.ready_replicas,
            status.available_replicas,
            status.current_replicas,
            status.updated_replicas,
            status.collision_count,
        ];
        counts.map(|count| count.unwrap_or(0))
    };
    old.observed_generation.unwrap_or(0) < new.observed_generation.unwrap_or(0)
        || counts(old) != counts(new)
        || old.current_revision != new.current_revision
        || old.update_revision != new.update_revision
}
