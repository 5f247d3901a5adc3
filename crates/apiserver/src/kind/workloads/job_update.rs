//! What of a Job may change.

use serde_json::Value;

use super::controllers::check_same;
use super::fields::{at, each, given, inner, is_true, list, number, set, text, unset};
use super::names;
use crate::schema::{FieldError, Path};

/// Says what was changed that cannot be; `spec` is the new one.
pub(super) fn check_changes(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let old_spec = at(old, "/spec");
    check_completions(spec, old_spec, path, errors);
    check_same(spec, old_spec, "selector", path, errors);
    check_template(spec, old, &path.child("template"), errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        check_same(spec, old_spec, field, path, errors);
    }
}

/// The completions of an indexed Job may change together with what runs at once.
fn check_completions(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if text(spec, "completionMode") != "Indexed" {
        check_same(spec, old, "completions", path, errors);
        return;
    }
    let (new, old) = (given(spec, "completions"), given(old, "completions"));
    if let Some(new) = new.filter(|new| Some(*new) != old && Some(*new) != given(spec, "parallelism")) {
        let wrong = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid(&path.child("completions"), new.clone(), wrong));
    }
}

/// The template stays as it is; while the Job is suspended, where its Pods run and what they ask for may change.
fn check_template(spec: &Value, old: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (template, mut stored) = (at(spec, "/template"), at(old, "/spec/template").clone());
    let mut sent = template.clone();
    let mut path = path.clone();
    if is_at_rest(old) {
        loosen(&mut sent);
        loosen(&mut stored);
        path = path.child("spec");
    }
    if sent != stored {
        errors.push(FieldError::invalid(&path, template.clone(), names::IMMUTABLE));
    }
}

/// Whether a Job is suspended and nothing of it runs.
fn is_at_rest(job: &Value) -> bool {
    let status = at(job, "/status");
    let is_suspended =
        |condition: &Value| text(condition, "type") == "Suspended" && text(condition, "status") == "True";
    is_true(at(job, "/spec"), "suspend")
        && (given(status, "startTime").is_none() || list(status, "conditions").iter().any(is_suspended))
        && number(status, "active").unwrap_or(0) == 0
}

/// Takes away what may change before a Job has begun.
fn loosen(template: &mut Value) {
    let metadata = inner(template, "metadata");
    unset(metadata, "labels");
    unset(metadata, "annotations");
    let spec = inner(template, "spec");
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        unset(spec, field);
    }
    let mut affinity = at(spec, "/affinity").clone();
    unset(&mut affinity, "nodeAffinity");
    if affinity.as_object().is_some_and(|affinity| !affinity.is_empty()) {
        set(spec, "affinity", affinity);
    } else {
        unset(spec, "affinity");
    }
    for containers in ["containers", "initContainers"] {
        each(spec, containers, |container| unset(container, "resources"));
    }
}
