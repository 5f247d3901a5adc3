//! The annotations by which `ReplicaSets` remember which revision they are, and for how many Pods they were sized.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::ResourceExt;

use super::spec::Wish;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAX: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations of a Deployment that are not those of its `ReplicaSets`.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAX,
    "deprecated.deployment.rollback.to",
];
/// How long the list of former revisions may become, as on a real cluster.
const HISTORY_BYTES: usize = 2000;

/// The revision that a `ReplicaSet` is.
pub(super) fn of(set: &ReplicaSet) -> i64 {
    set.annotations().get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The number of Pods that a `ReplicaSet` was last sized for.
pub(super) fn desired(set: &ReplicaSet) -> Option<i32> {
    set.annotations().get(DESIRED).and_then(|text| text.parse().ok())
}

/// The largest number of Pods that there could be when a `ReplicaSet` was last sized.
pub(super) fn largest(set: &ReplicaSet) -> Option<i32> {
    set.annotations().get(MAX).and_then(|text| text.parse().ok())
}

/// Notes what a `ReplicaSet` is sized for; whether that is new.
pub(super) fn note_size(set: &mut ReplicaSet, wish: Wish<'_>) -> bool {
    let largest = wish.replicas().saturating_add(wish.max_surge());
    let annotations = set.annotations_mut();
    let desired = put(annotations, DESIRED, wish.replicas().to_string());
    put(annotations, MAX, largest.to_string()) || desired
}

/// Makes a `ReplicaSet` the one of this revision, with the Deployment's annotations; whether anything is new.
pub(super) fn note_revision(deployment: &Deployment, set: &mut ReplicaSet, revision: i64) -> bool {
    let mut changed = false;
    let annotations = set.annotations_mut();
    for (name, value) in deployment.annotations() {
        if !NOT_COPIED.contains(&name.as_str()) {
            changed |= put(annotations, name, value.clone());
        }
    }
    let before = annotations.get(REVISION).cloned();
    let number = before.as_deref().unwrap_or("0").parse::<i64>();
    if number.is_ok_and(|number| number < revision) {
        annotations.insert(REVISION.to_owned(), revision.to_string());
        if let Some(before) = before {
            remember(annotations, &before);
        }
        changed = true;
    }
    changed
}

fn remember(annotations: &mut BTreeMap<String, String>, revision: &str) {
    let known = annotations.get(HISTORY).cloned().unwrap_or_default();
    let mut known: Vec<&str> = known.split(',').filter(|one| !one.is_empty()).collect();
    known.push(revision);
    while known.join(",").len() > HISTORY_BYTES {
        known.remove(0);
    }
    annotations.insert(HISTORY.to_owned(), known.join(","));
}

fn put(annotations: &mut BTreeMap<String, String>, name: &str, value: String) -> bool {
    if annotations.get(name) == Some(&value) {
        return false;
    }
    annotations.insert(name.to_owned(), value);
    true
}
