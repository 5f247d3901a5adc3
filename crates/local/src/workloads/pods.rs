//! What controllers ask of a Pod, and a Pod made from a template.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Pod, PodCondition, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Whether it ended by itself, well or not.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    matches!(phase(pod), "Failed" | "Succeeded")
}

/// Whether it waits to be started.
pub(super) fn is_pending(pod: &Pod) -> bool {
    phase(pod) == "Pending"
}

/// Whether it is being deleted.
pub(crate) fn is_ending(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Whether it counts: it has not ended, and is not being deleted.
pub(super) fn is_active(pod: &Pod) -> bool {
    !has_ended(pod) && !is_ending(pod)
}

/// The condition that says that it is ready, if it is.
fn ready(pod: &Pod) -> Option<&PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether it is ready.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    ready(pod).is_some()
}

/// Whether it runs and is ready.
pub(super) fn runs_ready(pod: &Pod) -> bool {
    phase(pod) == "Running" && is_ready(pod)
}

/// How long it has yet to be ready before it counts as available; None while it is not ready.
pub(super) fn until_available(pod: &Pod, min_ready: i32, now: Timestamp) -> Option<SignedDuration> {
    let ready = ready(pod)?;
    if min_ready <= 0 {
        return Some(SignedDuration::ZERO);
    }
    let since = ready.last_transition_time.as_ref()?.0;
    let missing = SignedDuration::from_secs(i64::from(min_ready)) - now.duration_since(since);
    Some(missing.max(SignedDuration::ZERO))
}

/// Whether it has been ready for long enough.
pub(super) fn is_available(pod: &Pod, min_ready: i32, now: Timestamp) -> bool {
    until_available(pod, min_ready, now) == Some(SignedDuration::ZERO)
}

/// The next moment at which one of these becomes available by nothing but time.
pub(super) fn next_available<'a>(
    pods: impl Iterator<Item = &'a Pod>,
    min_ready: i32,
    now: Timestamp,
) -> Option<std::time::Duration> {
    let missing = pods.filter_map(|pod| until_available(pod, min_ready, now));
    missing.filter(SignedDuration::is_positive).min().map(SignedDuration::unsigned_abs)
}

/// The labels of a Pod.
pub(super) fn labels(pod: &Pod) -> &BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    pod.metadata.labels.as_ref().unwrap_or(&NONE)
}

/// A Pod as a template says, that belongs to its controller. It has no name yet.
pub(super) fn from_template(template: &PodTemplateSpec, namespace: &str, owner: OwnerReference) -> Pod {
    let given = template.metadata.clone().unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            namespace: Some(namespace.to_owned()),
            labels: given.labels,
            annotations: given.annotations,
            finalizers: given.finalizers,
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    }
}
