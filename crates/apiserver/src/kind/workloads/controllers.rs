//! What all that make Pods have in common: a selector, a template, a count of replicas, and a status that counts.

use serde_json::{Value, json};

use super::fields::{at, fill, given, inner, number, set, text};
use super::template::check_template;
use super::{names, selector};
use crate::schema::{FieldError, Path};

/// Said of a template that the selector does not match.
const NOT_MATCHED: &str = "`selector` does not match template `labels`";

/// The spec that controllers have.
pub(super) fn spec_path() -> Path {
    Path::new("spec")
}

/// Numbers that a status always has.
pub(super) fn default_counts(object: &mut Value, counts: &[&str]) {
    let status = inner(object, "status");
    for count in counts {
        fill(status, count, 0);
    }
}

/// A new object has an empty status; an update leaves it as it was.
pub(super) fn reset_status(object: &mut Value, old: Option<&Value>, empty: Value) {
    let status = old.map_or(empty, |old| at(old, "/status").clone());
    let status = if status.is_null() { json!({}) } else { status };
    set(object, "status", status);
}

/// Checks a selector that has to be there, ask for something, and match the template. Gives whether it can be used.
pub(super) fn check_selector(spec: &Value, kind: &str, path: &Path, errors: &mut Vec<FieldError>) -> bool {
    let path = path.child("selector");
    let Some(wish) = given(spec, "selector") else {
        errors.push(FieldError::required(&path, ""));
        return true;
    };
    selector::check(wish, &path, errors);
    if selector::is_empty(wish) {
        let wrong = format!("empty selector is invalid for {kind}");
        errors.push(FieldError::invalid(&path, wish.clone(), wrong));
    }
    selector::is_usable(wish)
}

/// Says that the template's labels are not those that the selector asks for.
pub(super) fn check_match(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let labels = at(spec, "/template/metadata/labels");
    let wish = at(spec, "/selector");
    let matches = wish.is_object() && (selector::is_empty(wish) || selector::matches(wish, labels));
    if !matches {
        let path = path.child("template").child("metadata").child("labels");
        errors.push(FieldError::invalid(&path, shown_map(labels), NOT_MATCHED));
    }
}

/// A map as messages show it: `null` when there is none.
pub(super) fn shown_map(map: &Value) -> Value {
    map.clone()
}

/// Checks the template of something whose Pods always run, with its selector. `kind` is the one in messages.
pub(super) fn check_lasting_template(spec: &Value, kind: &str, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("template");
    check_template(at(spec, "/template"), &path, errors);
    check_always_runs(spec, kind, &path, errors);
}

/// Says that Pods would end by themselves.
pub(super) fn check_always_runs(spec: &Value, kind: &str, template: &Path, errors: &mut Vec<FieldError>) {
    let pod = at(spec, "/template/spec");
    let path = template.child("spec");
    let policy = text(pod, "restartPolicy");
    if policy != "Always" {
        errors.push(names::not_one_of(&path.child("restartPolicy"), policy, &["Always"]));
    }
    if number(pod, "activeDeadlineSeconds").is_some() {
        let wrong = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(FieldError::forbidden(&path.child("activeDeadlineSeconds"), wrong));
    }
}

/// Checks that numbers are not below 0.
pub(super) fn check_counts(owner: &Value, fields: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    for field in fields {
        names::check_not_negative(number(owner, field), &path.child(field), errors);
    }
}

/// Says that a field was changed that cannot be.
pub(super) fn check_same(
    object: &Value,
    old: &Value,
    field: &str,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    let (new, old) = (given(object, field), given(old, field));
    if new != old {
        let shown = new.cloned().unwrap_or(Value::Null);
        errors.push(FieldError::invalid(&path.child(field), shown, names::IMMUTABLE));
    }
}

/// Checks a status whose counts are parts of `replicas`; `ready` is how its message names the ready ones.
pub(super) fn check_status(
    object: &Value,
    old: Option<&Value>,
    counts: &[&str],
    ready: &str,
) -> Vec<FieldError> {
    let (status, path) = (at(object, "/status"), Path::new("status"));
    let mut errors = Vec::new();
    check_counts(status, counts, &path, &mut errors);
    let count = |field: &str| number(status, field).unwrap_or(0);
    for part in counts.iter().filter(|count| PARTS.contains(count)) {
        if count(part) > count("replicas") {
            let wrong = "cannot be greater than status.replicas";
            errors.push(FieldError::invalid(&path.child(part), count(part), wrong));
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let wrong = format!("cannot be greater than {ready}");
        errors.push(FieldError::invalid(&path.child("availableReplicas"), count("availableReplicas"), wrong));
    }
    check_collisions(status, old.map_or(&Value::Null, |old| at(old, "/status")), &mut errors);
    errors
}

/// The counts of replicas that are a part of all.
const PARTS: [&str; 5] =
    ["fullyLabeledReplicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];

/// Says that `collisionCount` went back.
pub(super) fn check_collisions(status: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let (new, old) = (number(status, "collisionCount"), number(old, "collisionCount"));
    if old.is_some_and(|old| new.is_none_or(|new| new < old)) {
        let path = Path::new("status").child("collisionCount");
        errors.push(FieldError::invalid(&path, new.unwrap_or(0), "cannot be decremented"));
    }
}
