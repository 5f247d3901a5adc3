//! What containers ask for and may use at most.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::super::fields::{entries, given, list};
use super::super::names;
use super::super::quantity::{MILLI, Quantity, quantity};
use crate::schema::{FieldError, Path};

/// The resources that containers may ask for without a prefix; those of huge pages besides.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Everything that may be counted without a prefix.
const KNOWN: [&str; 7] =
    ["cpu", "memory", "ephemeral-storage", "pods", "services", "replicationcontrollers", "storage"];
const HUGE_PAGES: &str = "hugepages-";

/// Rounds the quantities of a map up to what the server counts in.
pub(in super::super) fn round_up(amounts: &mut Value) {
    for amount in amounts.as_object_mut().into_iter().flat_map(|amounts| amounts.values_mut()) {
        if let Some(read) = quantity(amount) {
            *amount = Value::String(read.rounded_up(MILLI).as_kubernetes_prints());
        }
    }
}

/// What several lists of amounts come to, for each resource.
pub(in super::super) fn totals<'a>(amounts: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Quantity> {
    let mut totals: BTreeMap<String, Quantity> = BTreeMap::new();
    for (name, amount) in amounts.filter_map(Value::as_object).flatten() {
        let Some(amount) = quantity(amount) else { continue };
        let total = totals.get(name).map(|total| total.plus(&amount));
        totals.insert(name.clone(), total.unwrap_or(amount));
    }
    totals
}

/// Checks the `resources` of a container.
pub(super) fn check_resources(
    container: &Value,
    path: &Path,
    claims: &HashSet<&str>,
    errors: &mut Vec<FieldError>,
) {
    let Some(resources) = given(container, "resources") else { return };
    let path = path.child("resources");
    let limits = given(resources, "limits").unwrap_or(&Value::Null);
    for (name, amount) in entries(resources, "limits") {
        check_amount(name, amount, &path.child("limits").key(name), errors);
    }
    for (name, amount) in entries(resources, "requests") {
        check_amount(name, amount, &path.child("requests").key(name), errors);
        check_below_limit(name, amount, limits, &path, errors);
    }
    let has =
        |which: &str, wanted: &dyn Fn(&str) -> bool| entries(resources, which).any(|(name, _)| wanted(name));
    let either = |wanted: &dyn Fn(&str) -> bool| has("limits", wanted) || has("requests", wanted);
    if either(&|name| name.starts_with(HUGE_PAGES)) && !either(&|name| name == "cpu" || name == "memory") {
        errors.push(FieldError::forbidden(&path, "HugePages require cpu or memory"));
    }
    for (index, claim) in list(resources, "claims").iter().enumerate() {
        let name = super::super::fields::text(claim, "name");
        if !claims.contains(name) {
            errors.push(FieldError::not_found(&path.child("claims").index(index), name));
        }
    }
}

fn check_amount(name: &str, amount: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_name(name, path, errors);
    let Some(amount) = quantity(amount) else { return };
    if amount.sign().is_lt() {
        errors.push(FieldError::invalid(path, amount.to_string(), names::NEGATIVE));
    }
    if must_be_whole(name) && !amount.is_whole() {
        errors.push(FieldError::invalid(path, amount.to_string(), "must be an integer"));
    }
}

fn check_name(name: &str, path: &Path, errors: &mut Vec<FieldError>) {
    let wrong = names::label_key(name);
    if !wrong.is_empty() {
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(path, name, wrong)));
    } else if !name.contains('/') && !KNOWN.contains(&name) && !name.starts_with(HUGE_PAGES) {
        let wrong = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path, name, wrong));
    }
    if !name.contains('/') && !OF_CONTAINERS.contains(&name) && !name.starts_with(HUGE_PAGES) {
        errors.push(FieldError::invalid(path, name, "must be a standard resource for containers"));
    }
}

fn check_below_limit(name: &str, amount: &Value, limits: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(asked) = quantity(amount) else { return };
    let limit = given(limits, name).and_then(quantity);
    let path_of_requests = path.child("requests");
    match limit {
        Some(limit) if asked != limit && !is_shareable(name) => {
            let detail = format!("must be equal to {name} limit of {limit}");
            errors.push(FieldError::invalid(&path_of_requests, asked.to_string(), detail));
        }
        Some(limit) if asked > limit => {
            let detail = format!("must be less than or equal to {name} limit of {limit}");
            errors.push(FieldError::invalid(&path_of_requests, asked.to_string(), detail));
        }
        None if !is_shareable(name) => {
            let detail = "Limit must be set for non overcommitable resources";
            errors.push(FieldError::required(&path.child("limits"), detail));
        }
        _ => {}
    }
}

/// Whether more may be promised of a resource than there is: of what a device gives, and of huge pages, not.
fn is_shareable(name: &str) -> bool {
    !is_device(name) && !name.starts_with(HUGE_PAGES)
}

fn must_be_whole(name: &str) -> bool {
    is_device(name) || ["pods", "services", "replicationcontrollers"].contains(&name)
}

/// Whether something outside Kubernetes gives this resource.
fn is_device(name: &str) -> bool {
    name.split_once('/').is_some_and(|(prefix, _)| !prefix.ends_with("kubernetes.io"))
}
