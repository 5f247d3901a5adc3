//! Label selectors: what is wrong with them, and what they match.

use serde_json::Value;

use super::fields::{entries, list, text};
use super::names;
use crate::schema::{FieldError, Path};

/// Says what is wrong with labels, all at the one path of their map.
pub(super) fn check_labels(owner: &Value, field: &str, path: &Path, errors: &mut Vec<FieldError>) {
    for (key, value) in entries(owner, field) {
        names::check(names::label_key, key, path, errors);
        names::check(names::label_value, value.as_str().unwrap_or(""), path, errors);
    }
}

/// Says what is wrong with a selector.
pub(super) fn check(selector: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_labels(selector, "matchLabels", &path.child("matchLabels"), errors);
    for (index, wish) in list(selector, "matchExpressions").iter().enumerate() {
        check_expression(wish, &path.child("matchExpressions").index(index), errors);
    }
}

/// Says what is wrong with one expression.
fn check_expression(wish: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let values = list(wish, "values");
    match text(wish, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&path.child("values"), detail));
        }
        "In" | "NotIn" => {}
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(&path.child("values"), detail));
            }
        }
        other => {
            errors.push(FieldError::invalid(&path.child("operator"), other, "not a valid selector operator"));
        }
    }
    names::check(names::label_key, text(wish, "key"), &path.child("key"), errors);
    for (index, value) in values.iter().enumerate() {
        let path = path.child("values").index(index);
        names::check(names::label_value, value.as_str().unwrap_or(""), &path, errors);
    }
}

/// Whether a selector can be used at all.
pub(super) fn is_usable(selector: &Value) -> bool {
    let mut errors = Vec::new();
    check(selector, &Path::root(), &mut errors);
    errors.is_empty()
}

/// Whether a selector asks for nothing.
pub(super) fn is_empty(selector: &Value) -> bool {
    entries(selector, "matchLabels").next().is_none() && list(selector, "matchExpressions").is_empty()
}

/// Whether the labels are those a selector asks for.
pub(super) fn matches(selector: &Value, labels: &Value) -> bool {
    entries(selector, "matchLabels").all(|(key, value)| labels.get(key) == Some(value))
        && list(selector, "matchExpressions").iter().all(|wish| {
            let label = labels.get(text(wish, "key"));
            let is_listed = label.is_some_and(|label| list(wish, "values").contains(label));
            match text(wish, "operator") {
                "In" => is_listed,
                "NotIn" => !is_listed,
                "Exists" => label.is_some(),
                "DoesNotExist" => label.is_none(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_that_is_asked_must_hold() {
        let labels = json!({"app": "db", "tier": "back"});
        let wishes = |operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]});
        assert!(matches(&json!({"matchLabels": {"app": "db"}}), &labels));
        assert!(!matches(&json!({"matchLabels": {"app": "db", "x": "y"}}), &labels));
        assert!(matches(&wishes("In", &["back", "front"]), &labels));
        assert!(!matches(&wishes("NotIn", &["back"]), &labels));
        assert!(matches(&wishes("Exists", &[]), &labels));
        assert!(!matches(&wishes("DoesNotExist", &[]), &labels));
        assert!(matches(&json!({}), &labels));
    }
}
