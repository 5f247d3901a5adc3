//! What is not served yet: cases about it wait.

use crate::case::Step;

/// Resources, by their short names, as targets begin with them.
const RESOURCES: &[&str] = &[];

/// Topics in which our server is known to differ still: told, but not demanded.
const TOPICS: &[&str] = &[
    "apply",
    "bodies",
    "crds",
    "create",
    "delete",
    "delete_collection",
    "events",
    "health",
    "kinds_data",
    "patch_json",
    "patch_merge",
    "patch_strategic",
    "paths",
    "pods",
    "reviews",
    "schema",
    "services",
    "storage",
    "subresources",
    "tables",
    "update",
    "watch",
    "workloads",
];

/// Whether a topic is not demanded yet.
pub(crate) fn is_topic(topic: &str) -> bool {
    TOPICS.contains(&topic)
}

/// Whether a step needs what is not there yet.
pub(crate) fn waits(step: &Step) -> bool {
    let Some(target) = step.target() else { return false };
    let word = target.trim_start_matches('*').split(['/', '?']).next().unwrap_or_default();
    let in_path = |resource: &&str| target.starts_with('/') && target.contains(&format!("/{resource}"));
    RESOURCES.contains(&word) || RESOURCES.iter().any(in_path)
}
