//! `PodDisruptionBudget`.

use serde_json::{Value, json};

use super::fields::{
    check_choice, check_conditions, check_not_negative, check_selector, list, take_over, text,
};
use super::names::percent;
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path, go_json};

/// The counts in its status.
const COUNTS: [&str; 4] = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

/// What is particular to `PodDisruptionBudget`.
#[derive(Debug)]
pub(super) struct PodDisruptionBudget;

impl Particular for PodDisruptionBudget {
    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        match old {
            // Its counts are always told.
            None => object["status"] = COUNTS.iter().map(|count| ((*count).to_owned(), json!(0))).collect(),
            Some(old) if part == Part::Whole => take_over(object, old, "status"),
            Some(_) => {}
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if part == Part::Status {
            check_conditions(
                &Path::new("status.conditions"),
                list(object, "/status/conditions"),
                &mut errors,
            );
            for count in COUNTS {
                let value = object["status"].get(count).and_then(Value::as_i64).unwrap_or_default();
                check_not_negative(&Path::new("status").child(count), value, &mut errors);
            }
            return errors;
        }
        let (spec, path) = (object.get("spec").unwrap_or(&Value::Null), Path::new("spec"));
        let (least, most) = (spec.get("minAvailable"), spec.get("maxUnavailable"));
        if least.is_some() && most.is_some() {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            errors.push(FieldError::invalid_shown(&path, spec.clone(), shown(spec), detail));
        }
        for (field, value) in [("minAvailable", least), ("maxUnavailable", most)] {
            if let Some(value) = value {
                check_count_or_percent(&path.child(field), value, &mut errors);
            }
        }
        let was_wrong = old.and_then(|old| old.pointer("/spec/selector")).is_some_and(|selector| {
            let mut found = Vec::new();
            check_selector(&Path::root(), selector, true, &mut found);
            !found.is_empty()
        });
        if let Some(selector) = spec.get("selector") {
            check_selector(&path.child("selector"), selector, !was_wrong, &mut errors);
        }
        if spec.get("unhealthyPodEvictionPolicy").is_some() {
            let path = path.child("unhealthyPodEvictionPolicy");
            let policy = text(spec, "/unhealthyPodEvictionPolicy");
            check_choice(&path, policy, &["AlwaysAllow", "IfHealthyBudget"], &mut errors);
        }
        errors
    }
}

fn check_count_or_percent(path: &Path, value: &Value, errors: &mut Vec<FieldError>) {
    match value {
        Value::String(text) => {
            if let Some(detail) = percent(text) {
                errors.push(FieldError::invalid(path, text.as_str(), detail));
            } else if text.trim_end_matches('%').trim_start_matches('0').parse::<u64>().unwrap_or(0) > 100 {
                errors.push(FieldError::invalid(path, text.as_str(), "must not be greater than 100%"));
            }
        }
        other => check_not_negative(path, other.as_i64().unwrap_or_default(), errors),
    }
}

/// The spec in the words of the server's own type.
fn shown(spec: &Value) -> String {
    let value = |field: &str| spec.get(field).map_or_else(|| "null".to_owned(), go_json);
    format!(
        r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
        value("minAvailable"),
        value("selector"),
        value("maxUnavailable"),
        value("unhealthyPodEvictionPolicy")
    )
}
