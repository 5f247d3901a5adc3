//! What else of a Pod or Service a spec describes, checked as the API server would when it is made.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use muster_api::Quantity;
use muster_api::common::Resources;

use super::{Path, Violation, labels};

fn violation(path: &Path, message: &str) -> Violation {
    Violation { path: path.to_string(), message: message.to_owned() }
}

/// What the API server would refuse in a Pod with these tolerations.
pub fn tolerations(tolerations: &[Toleration], path: &Path) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = path.index(index);
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let (key, value) = (text(&toleration.key), text(&toleration.value));
        let exists = toleration.operator.as_deref() == Some("Exists");
        if let Some(wrong) = labels::key(&key).filter(|_| !key.is_empty()) {
            found.push(violation(&path.field("key"), wrong));
        }
        if key.is_empty() && !exists {
            found.push(violation(&path.field("operator"), "must be Exists where key is empty"));
        }
        if toleration.toleration_seconds.is_some() && toleration.effect.as_deref() != Some("NoExecute") {
            found
                .push(violation(&path.field("effect"), "must be NoExecute where tolerationSeconds is given"));
        }
        if exists && !value.is_empty() {
            found.push(violation(&path.field("value"), "must be empty where operator is Exists"));
        }
        if let Some(wrong) = labels::value(&value).filter(|_| !exists) {
            found.push(violation(&path.field("value"), wrong));
        }
    }
    found
}

/// Requests and limits that no container could have.
pub(super) fn resources(resources: &Resources, path: &Path) -> Vec<Violation> {
    let mut found = Vec::new();
    for (field, list) in [("requests", &resources.requests), ("limits", &resources.limits)] {
        let path = path.field(field);
        for (name, amount) in list {
            if let Some(wrong) = resource_name(name) {
                found.push(violation(&path.key(name), wrong));
            }
            if *amount < Quantity::default() {
                found.push(violation(&path.key(name), "must not be negative"));
            }
            if !is_native(name) && !is_whole(amount) {
                found.push(violation(&path.key(name), "must be a whole number"));
            }
        }
    }
    for (name, request) in &resources.requests {
        let path = path.field("requests").key(name);
        match resources.limits.get(name) {
            Some(limit) if request > limit => {
                found.push(violation(&path, "must not be more than the limit"));
            }
            Some(limit) if is_dedicated(name) && request != limit => {
                found.push(violation(&path, "must be the same as the limit: it cannot be shared"));
            }
            None if is_dedicated(name) => {
                found.push(violation(&path, "needs a limit: it cannot be shared"));
            }
            _ => {}
        }
    }
    found.extend(huge_pages(resources, path));
    found
}

fn is_whole(amount: &Quantity) -> bool {
    *amount == Quantity::from_bytes(amount.bytes())
}

/// Whether it is one of Kubernetes' own names.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// What a node gives to one container only.
fn is_dedicated(name: &str) -> bool {
    !is_native(name) || name.starts_with(HUGE_PAGES)
}

/// Huge pages come with something else, and whole pages only.
fn huge_pages(resources: &Resources, path: &Path) -> Vec<Violation> {
    let mut found = Vec::new();
    for (field, list) in [("requests", &resources.requests), ("limits", &resources.limits)] {
        let path = path.field(field);
        for (name, amount) in list {
            let Some(size) = name.strip_prefix(HUGE_PAGES) else { continue };
            let size = size.parse::<Quantity>().map_or(0, |size| size.bytes());
            if size <= 0 {
                found.push(violation(&path.key(name), "hugepages- needs the size of a page, such as 2Mi"));
            } else if amount.bytes() % size != 0 || !is_whole(amount) {
                found.push(violation(&path.key(name), "must be a whole number of pages"));
            }
        }
    }
    let all = || resources.requests.keys().chain(resources.limits.keys());
    let pages = all().any(|name| name.starts_with(HUGE_PAGES));
    if pages && !all().any(|name| matches!(name.as_str(), "cpu" | "memory")) {
        found.push(violation(path, "huge pages need cpu or memory beside them"));
    }
    found
}

/// What the names of huge pages start with, before the size of one.
const HUGE_PAGES: &str = "hugepages-";

/// A resource of Kubernetes' own, or one with a prefix.
fn resource_name(name: &str) -> Option<&'static str> {
    let own = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with(HUGE_PAGES);
    let quota = !is_native(name) && name.starts_with("requests.");
    if own || (name.contains('/') && !quota && labels::key(name).is_none()) {
        return None;
    }
    Some("must be cpu, memory, ephemeral-storage, hugepages-<size>, or a name with a prefix")
}

/// What the API server would refuse in a Service with these annotations. Keys compare without case there.
pub(super) fn annotations(annotations: &BTreeMap<String, String>, path: &Path) -> Vec<Violation> {
    let wrong = |key: &String| labels::key(&key.to_lowercase()).map(|wrong| violation(&path.key(key), wrong));
    annotations.keys().filter_map(wrong).collect()
}
