//! Reading the fields of an object, and checks that several kinds share.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::names::condition_reason;
use crate::kind::metadata::{label_key, label_value};
use crate::schema::{FieldError, Path};

/// The text at a JSON pointer; "" when it is not there.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a JSON pointer; empty when it is not there.
pub(crate) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of the map at a JSON pointer.
pub(crate) fn entries<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = object.pointer(pointer).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// The texts of a list.
pub(crate) fn texts(items: &[Value]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(Value::as_str)
}

/// Whether a flag is set.
pub(crate) fn is_true(object: &Value, field: &str) -> bool {
    object.get(field) == Some(&Value::Bool(true))
}

/// A value with what says nothing taken for nothing: an empty list or map, or null.
pub(crate) fn something(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    })
}

/// The object at this field, made where it is not there.
pub(crate) fn object_at<'a>(object: &'a mut Value, field: &str) -> Option<&'a mut Map<String, Value>> {
    let fields = object.as_object_mut()?;
    let entry = fields.entry(field).or_insert(Value::Null);
    if entry.is_null() {
        *entry = Value::Object(Map::new());
    }
    entry.as_object_mut()
}

/// Sets a field that is not there, or says nothing.
pub(crate) fn fill(fields: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if matches!(fields.get(field), None | Some(Value::Null)) {
        fields.insert(field.to_owned(), value.into());
    }
}

/// As [`fill`], also in place of an empty text.
pub(crate) fn fill_text(fields: &mut Map<String, Value>, field: &str, value: &str) {
    if fields.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
        fields.insert(field.to_owned(), value.into());
    }
}

/// Makes a field of the object what it is in another.
pub(crate) fn take_over(object: &mut Value, from: &Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
        None => drop(fields.remove(field)),
    }
}

/// A problem for each thing that is wrong with the form of a text.
pub(crate) fn check_form(path: &Path, text: &str, found: Vec<String>, errors: &mut Vec<FieldError>) {
    errors.extend(found.into_iter().map(|detail| FieldError::invalid(path, text, detail)));
}

/// A text that must be one of these.
pub(crate) fn check_choice(path: &Path, text: &str, allowed: &[&str], errors: &mut Vec<FieldError>) {
    if !allowed.contains(&text) {
        let allowed: Vec<String> = allowed.iter().map(|text| (*text).to_owned()).collect();
        errors.push(FieldError::not_supported(path, text, &allowed));
    }
}

/// A field at the top of an object that does not change.
pub(crate) fn check_unchanged(object: &Value, old: &Value, field: &str, errors: &mut Vec<FieldError>) {
    let value = object.get(field);
    if something(value) != something(old.get(field)) {
        let nothing = if old.get(field).is_some_and(Value::is_string) { "".into() } else { Value::Null };
        let shown = value.cloned().unwrap_or(nothing);
        errors.push(FieldError::invalid(&Path::new(field), shown, "field is immutable"));
    }
}

/// A whole number that is not below nothing.
pub(crate) fn check_not_negative(path: &Path, value: i64, errors: &mut Vec<FieldError>) {
    if value < 0 {
        errors.push(FieldError::invalid(path, value, "must be greater than or equal to 0"));
    }
}

/// Labels: their keys and values.
pub(crate) fn check_labels<'a>(
    path: &Path,
    labels: impl Iterator<Item = (&'a str, &'a Value)>,
    errors: &mut Vec<FieldError>,
) {
    for (key, value) in labels {
        check_form(path, key, label_key(key), errors);
        let value = value.as_str().unwrap_or_default();
        check_form(path, value, label_value(value), errors);
    }
}

/// A label selector; `with_values`: also that values can be those of labels.
pub(crate) fn check_selector(path: &Path, selector: &Value, with_values: bool, errors: &mut Vec<FieldError>) {
    check_labels(&path.child("matchLabels"), entries(selector, "/matchLabels"), errors);
    for (index, wish) in list(selector, "/matchExpressions").iter().enumerate() {
        let path = path.child("matchExpressions").index(index);
        let (operator, values) = (text(wish, "/operator"), list(wish, "/values"));
        let at = path.child("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(&at, detail));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(&at, detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(&path.child("operator"), other, detail));
            }
        }
        let key = text(wish, "/key");
        check_form(&path.child("key"), key, label_key(key), errors);
        if with_values {
            for (index, value) in texts(values).enumerate() {
                check_form(&at.index(index), value, label_value(value), errors);
            }
        }
    }
}

/// Longest reason of a condition.
const MAX_REASON: usize = 1024;
/// Longest message of a condition.
const MAX_MESSAGE: usize = 32 * 1024;

/// The conditions of a status.
pub(crate) fn check_conditions(path: &Path, conditions: &[Value], errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = text(condition, "/type");
        if !seen.insert(kind) {
            errors.push(FieldError::duplicate(&path.child("type"), Some(kind.into())));
        }
        check_form(&path.child("type"), kind, label_key(kind), errors);
        check_choice(
            &path.child("status"),
            text(condition, "/status"),
            &["False", "True", "Unknown"],
            errors,
        );
        let generation = condition.get("observedGeneration").and_then(Value::as_i64).unwrap_or_default();
        if generation < 0 {
            let detail = "must be greater than or equal to zero";
            errors.push(FieldError::invalid(&path.child("observedGeneration"), generation, detail));
        }
        if text(condition, "/lastTransitionTime").is_empty() {
            errors.push(FieldError::required(&path.child("lastTransitionTime"), ""));
        }
        let (reason, at) = (text(condition, "/reason"), path.child("reason"));
        if reason.is_empty() {
            errors.push(FieldError::required(&at, ""));
        } else {
            check_form(&at, reason, condition_reason(reason).into_iter().collect(), errors);
            if reason.len() > MAX_REASON {
                errors.push(FieldError::too_long(&at, 1024));
            }
        }
        if text(condition, "/message").len() > MAX_MESSAGE {
            errors.push(FieldError::too_long(&path.child("message"), 32 * 1024));
        }
    }
}
