//! Where a Pod wants to run: node and Pod affinity, and spreading.

use std::collections::HashMap;

use serde_json::Value;

use super::super::fields::{given, list, number, text};
use super::super::{names, selector};
use crate::schema::{FieldError, Path};

/// Checks `affinity` and `topologySpreadConstraints`.
pub(super) fn check_placement(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(affinity) = given(spec, "affinity") {
        let path = path.child("affinity");
        if let Some(nodes) = given(affinity, "nodeAffinity") {
            check_nodes(nodes, &path.child("nodeAffinity"), errors);
        }
        for which in ["podAffinity", "podAntiAffinity"] {
            if let Some(pods) = given(affinity, which) {
                check_pods(pods, &path.child(which), errors);
            }
        }
    }
}

fn check_nodes(nodes: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (required, preferred) =
        ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution");
    if let Some(wish) = nodes.get(required) {
        check_node_selector(wish, &path.child(required), errors);
    }
    for (index, wish) in list(nodes, preferred).iter().enumerate() {
        let path = path.child(preferred).index(index);
        check_weight(wish, &path, errors);
        if let Some(term) = given(wish, "preference") {
            check_term(term, &path.child("preference"), errors);
        }
    }
}

fn check_weight(wish: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let weight = number(wish, "weight").unwrap_or(0);
    if !(1..=100).contains(&weight) {
        errors.push(FieldError::invalid(&path.child("weight"), weight, "must be in the range 1-100"));
    }
}

/// Checks a selector of nodes.
pub(in super::super) fn check_node_selector(selector: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("nodeSelectorTerms");
    let terms = list(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        errors.push(FieldError::required(&path, "must have at least one node selector term"));
    }
    for (index, term) in terms.iter().enumerate() {
        check_term(term, &path.index(index), errors);
    }
}

fn check_term(term: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, wish) in list(term, "matchExpressions").iter().enumerate() {
        check_node_expression(wish, &path.child("matchExpressions").index(index), errors);
    }
}

fn check_node_expression(wish: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let values = list(wish, "values");
    let path_of_values = path.child("values");
    match (text(wish, "operator"), values.len()) {
        ("In" | "NotIn", 0) => {
            let wrong = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&path_of_values, wrong));
        }
        ("Exists" | "DoesNotExist", 1..) => {
            let wrong = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&path_of_values, wrong));
        }
        ("Gt" | "Lt", count) if count != 1 => {
            let wrong = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(FieldError::required(&path_of_values, wrong));
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt", _) => {}
        (other, _) => {
            errors.push(FieldError::invalid(&path.child("operator"), other, "not a valid selector operator"));
        }
    }
    names::check(names::label_key, text(wish, "key"), &path.child("key"), errors);
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or("");
        names::check(names::label_value, value, &path_of_values.index(index), errors);
    }
}

fn check_pods(pods: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (required, preferred) =
        ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution");
    for (index, term) in list(pods, required).iter().enumerate() {
        check_pod_term(term, &path.child(required).index(index), errors);
    }
    for (index, wish) in list(pods, preferred).iter().enumerate() {
        let path = path.child(preferred).index(index);
        check_weight(wish, &path, errors);
        check_pod_term(
            given(wish, "podAffinityTerm").unwrap_or(&Value::Null),
            &path.child("podAffinityTerm"),
            errors,
        );
    }
}

fn check_pod_term(term: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for field in ["labelSelector", "namespaceSelector"] {
        if let Some(wish) = given(term, field) {
            selector::check(wish, &path.child(field), errors);
        }
    }
    for name in list(term, "namespaces") {
        names::check(names::dns_label, name.as_str().unwrap_or(""), &path.child("namespace"), errors);
    }
    let key = text(term, "topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(&path.child("topologyKey"), "can not be empty"));
    }
    names::check(names::label_key, key, &path.child("topologyKey"), errors);
}

/// Checks `topologySpreadConstraints`.
pub(super) fn check_spread(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let constraints = list(spec, "topologySpreadConstraints");
    let identity = |constraint: &Value| {
        format!("{{{}, {}}}", text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"))
    };
    // How many of each are still to come.
    let mut alike: HashMap<String, usize> = HashMap::new();
    for constraint in constraints {
        *alike.entry(identity(constraint)).or_default() += 1;
    }
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.child("topologySpreadConstraints").index(index);
        let skew = number(constraint, "maxSkew").unwrap_or(0);
        if skew <= 0 {
            errors.push(FieldError::invalid(&path.child("maxSkew"), skew, "must be greater than zero"));
        }
        if text(constraint, "topologyKey").is_empty() {
            errors.push(FieldError::required(&path.child("topologyKey"), "can not be empty"));
        }
        let (action, known) = (text(constraint, "whenUnsatisfiable"), ["DoNotSchedule", "ScheduleAnyway"]);
        if !known.contains(&action) {
            errors.push(names::not_one_of(&path.child("whenUnsatisfiable"), action, &known));
        }
        let own = identity(constraint);
        let later = alike.get_mut(&own).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if later > 0 {
            let path = path.child("{topologyKey, whenUnsatisfiable}");
            errors.push(FieldError::duplicate(&path, Some(own.into())));
        }
        if let Some(wish) = given(constraint, "labelSelector") {
            selector::check(wish, &path.child("labelSelector"), errors);
        }
    }
}
