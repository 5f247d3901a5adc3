//! The gates for workloads: StatefulSet, Deployment, DaemonSet, and the Pod behind an agent's report.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Pod;

use super::{Applied, Gate, observed};

/// The label by which a StatefulSet's Pod names the revision it was made from.
const REVISION_LABEL: &str = "controller-revision-hash";

/// The reason by which a Deployment says that it has waited long enough.
const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";

/// A StatefulSet: current, and as many Pods as its spec wants, all of the newest revision, all ready.
///
/// `currentRevision` is not asked: with `OnDelete` the real controller never moves it, while
/// `updatedReplicas` counts the Pods of `updateRevision` under both strategies.
pub fn stateful_set(set: &StatefulSet, applied: Option<&Applied>) -> Gate {
    let status = set.status.as_ref();
    let gate = observed(&set.metadata, status.and_then(|s| s.observed_generation), applied);
    if !gate.is_ready() {
        return gate;
    }
    let wanted = set.spec.as_ref().and_then(|s| s.replicas).unwrap_or(1);
    let updated = status.and_then(|s| s.updated_replicas).unwrap_or(0);
    let ready = status.and_then(|s| s.ready_replicas).unwrap_or(0);
    let exist = status.map_or(0, |s| s.replicas);
    counts(&[("replicas", exist), ("updated", updated), ("ready", ready)], wanted)
}

/// A Deployment: current, every replica updated and available, none of an older template left.
pub fn deployment(deployment: &Deployment, applied: Option<&Applied>) -> Gate {
    let status = deployment.status.as_ref();
    let gate = observed(&deployment.metadata, status.and_then(|s| s.observed_generation), applied);
    if !gate.is_ready() {
        return gate;
    }
    let given_up = status
        .and_then(|s| s.conditions.as_ref())
        .into_iter()
        .flatten()
        .find(|c| c.type_ == "Progressing" && c.reason.as_deref() == Some(DEADLINE_EXCEEDED));
    if let Some(condition) = given_up {
        let detail = condition.message.as_deref().unwrap_or("no detail given");
        return Gate::failed(format!("made no progress in time: {detail}"));
    }
    let wanted = deployment.spec.as_ref().and_then(|s| s.replicas).unwrap_or(1);
    let updated = status.and_then(|s| s.updated_replicas).unwrap_or(0);
    let available = status.and_then(|s| s.available_replicas).unwrap_or(0);
    let exist = status.and_then(|s| s.replicas).unwrap_or(0);
    counts(&[("replicas", exist), ("updated", updated), ("available", available)], wanted)
}

/// A DaemonSet: current, and on every node it belongs to a Pod of the newest template that is ready.
pub fn daemon_set(set: &DaemonSet, applied: Option<&Applied>) -> Gate {
    let Some(status) = set.status.as_ref() else {
        return observed(&set.metadata, None, applied);
    };
    let gate = observed(&set.metadata, status.observed_generation, applied);
    if !gate.is_ready() {
        return gate;
    }
    let updated = status.updated_number_scheduled.unwrap_or(0);
    counts(&[("updated", updated), ("ready", status.number_ready)], status.desired_number_scheduled)
}

/// The Pod of a StatefulSet, as far as an agent's report may speak for it: made from the newest revision, not
/// on its way out, and the very Pod whose agent reports.
pub fn pod(pod: &Pod, set: &StatefulSet, reporting_uid: Option<&str>) -> Gate {
    if pod.metadata.deletion_timestamp.is_some() {
        return Gate::not_yet("is being deleted");
    }
    let newest = set.status.as_ref().and_then(|s| s.update_revision.as_deref());
    let revision = pod.metadata.labels.as_ref().and_then(|l| l.get(REVISION_LABEL)).map(String::as_str);
    let (Some(newest), Some(revision)) = (newest, revision) else {
        return Gate::not_yet("has no known revision");
    };
    if newest != revision {
        return Gate::not_yet(format!("runs revision {revision}, not {newest}"));
    }
    match (reporting_uid, pod.metadata.uid.as_deref()) {
        (None, _) => Gate::not_yet("has no agent that reports"),
        (Some(reporting), Some(uid)) if reporting == uid => Gate::Ready,
        (Some(_), _) => Gate::not_yet("is not the Pod whose agent reports"),
    }
}

/// The first count that is not what is wanted, said as "has 1 of 3 ready".
fn counts(found: &[(&str, i32)], wanted: i32) -> Gate {
    match found.iter().find(|(_, count)| *count != wanted) {
        Some((what, count)) => Gate::not_yet(format!("has {count} of {wanted} {what}")),
        None => Gate::Ready,
    }
}
