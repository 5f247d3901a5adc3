//! What of a Pod may change once it is there.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::fields::{at, each, inner, list, number, set, text, unset};
use super::names;
use super::template::check_tolerations;
use crate::lifecycle::metadata;
use crate::schema::{FieldError, Path};

const OTHER_CHANGES: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
     `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
     `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

/// Says what was changed that cannot be.
pub(super) fn check_changes(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for containers in ["containers", "initContainers"] {
        let (new, old) = (list(spec, containers), list(old, containers));
        if new.len() != old.len() {
            let wrong = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(&path.child(containers), wrong));
            return;
        }
        for (index, container) in new.iter().enumerate() {
            if text(container, "image").is_empty() {
                let path = path.child(containers).index(index).child("image");
                errors.push(FieldError::required(&path, ""));
            }
        }
    }
    if !check_deadline(spec, old, &path.child("activeDeadlineSeconds"), errors) {
        return;
    }
    check_added_tolerations(spec, old, &path.child("tolerations"), errors);
    check_gates(spec, old, &path.child("schedulingGates"), errors);
    if comparable(spec, old) != comparable(old, old) {
        errors.push(FieldError::forbidden(path, OTHER_CHANGES));
    }
}

/// A deadline may be set and brought nearer. False: nothing else is looked at.
fn check_deadline(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) -> bool {
    let field = "activeDeadlineSeconds";
    let wrong = match (number(spec, field), number(old, field)) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            let wrong = names::in_range(new, 0, i64::from(i32::MAX));
            errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(path, new, wrong)));
            return false;
        }
        (Some(new), Some(old)) if new > old => {
            let wrong = "must be less than or equal to previous value";
            errors.push(FieldError::invalid(path, new, wrong));
            return false;
        }
        (None, Some(_)) => "must not update from a positive integer to nil value",
        _ => return true,
    };
    errors.push(FieldError::invalid(path, Value::Null, wrong));
    true
}

fn check_added_tolerations(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let without_seconds = |toleration: &Value| {
        let mut rest = toleration.clone();
        unset(&mut rest, "tolerationSeconds");
        rest
    };
    let new: HashSet<Value> = list(spec, "tolerations").iter().map(without_seconds).collect();
    if !list(old, "tolerations").iter().all(|old| new.contains(&without_seconds(old))) {
        let wrong = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden(path, wrong));
        return;
    }
    check_tolerations(list(spec, "tolerations"), path, errors);
}

fn check_gates(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let known: HashSet<&str> = list(old, "schedulingGates").iter().map(|gate| text(gate, "name")).collect();
    for (index, gate) in list(spec, "schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        if !known.contains(name) {
            let wrong = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.push(FieldError::forbidden(&path.index(index).child("name"), wrong));
        }
    }
}

/// The spec without what may differ from `old`.
fn comparable(spec: &Value, old: &Value) -> Value {
    let mut rest = spec.clone();
    for containers in ["containers", "initContainers"] {
        each(&mut rest, containers, |container| unset(container, "image"));
    }
    for field in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        unset(&mut rest, field);
    }
    let field = "terminationGracePeriodSeconds";
    let was_negative = number(old, field).is_some_and(|grace| grace < 0);
    if was_negative && number(&rest, field) == Some(1) {
        set(&mut rest, field, number(old, field));
    }
    if !list(old, "schedulingGates").is_empty() {
        unset(&mut rest, "nodeSelector");
        let mut affinity = at(&rest, "/affinity").clone();
        unset(&mut affinity, "nodeAffinity");
        set(&mut rest, "affinity", if affinity == json!({}) { Value::Null } else { affinity });
    }
    rest
}

/// A write to the status leaves the rest, and what the server said at creation.
pub(super) fn keep_from_status_writes(object: &mut Value, old: &Value) {
    metadata::keep(object, old, &["ownerReferences"]);
    let quality = at(old, "/status/qosClass").clone();
    let generation = at(old, "/status/observedGeneration").clone();
    let status = inner(object, "status");
    if text(status, "qosClass").is_empty() && !quality.is_null() {
        set(status, "qosClass", quality);
    }
    if number(status, "observedGeneration").unwrap_or(0) == 0 && !generation.is_null() {
        set(status, "observedGeneration", generation);
    }
}

/// Says what is wrong with a status.
pub(super) fn check_status(object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = Path::new("status").child("qosClass");
    let (quality, old_quality) = (at(object, "/status/qosClass"), at(old, "/status/qosClass"));
    if quality != old_quality {
        errors.push(FieldError::invalid(&path, quality.clone(), names::IMMUTABLE));
    }
    errors
}
