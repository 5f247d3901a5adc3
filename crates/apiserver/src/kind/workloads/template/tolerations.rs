//! Tolerations of taints.

use serde_json::Value;

use super::super::fields::{number, text};
use super::super::names;
use crate::schema::{FieldError, Path};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Checks tolerations.
pub(in super::super) fn check_tolerations(tolerations: &[Value], path: &Path, errors: &mut Vec<FieldError>) {
    for (index, toleration) in tolerations.iter().enumerate() {
        check_toleration(toleration, &path.index(index), errors);
    }
}

fn check_toleration(toleration: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
    let (value, effect) = (text(toleration, "value"), text(toleration, "effect"));
    let path_of_operator = path.child("operator");
    if !key.is_empty() {
        names::check(names::label_key, key, &path.child("key"), errors);
    } else if operator != "Exists" {
        let wrong =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(FieldError::invalid(&path_of_operator, operator, wrong));
    }
    if number(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
        let wrong = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(FieldError::invalid(&path.child("effect"), effect, wrong));
    }
    match operator {
        "" | "Equal" => {
            let wrong = names::label_value(value);
            if !wrong.is_empty() {
                errors.push(FieldError::invalid(&path_of_operator, value, wrong.join(";")));
            }
        }
        "Exists" if !value.is_empty() => {
            let wrong = "value must be empty when `operator` is 'Exists'";
            errors.push(FieldError::invalid(&path_of_operator, value, wrong));
        }
        "Exists" => {}
        "Lt" | "Gt" => {
            let known = ["Equal", "Exists", "Lt", "Gt"];
            errors.push(names::not_one_of(&path_of_operator, operator, &known));
        }
        _ => errors.push(names::not_one_of(&path_of_operator, operator, &["Equal", "Exists"])),
    }
    if !effect.is_empty() {
        check_effect(effect, &path.child("effect"), errors);
    }
}

/// Checks the effect of a taint.
pub(in super::super) fn check_effect(effect: &str, path: &Path, errors: &mut Vec<FieldError>) {
    names::check_one_of(effect, &EFFECTS, path, errors);
}
