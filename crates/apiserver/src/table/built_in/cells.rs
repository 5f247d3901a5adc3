//! What cells of several kinds have in common.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::table::age::since;

/// What a cell says where there is nothing.
pub(super) const NONE: &str = "<none>";
/// What a cell says where a choice was not made.
pub(super) const UNSET: &str = "<unset>";

/// A text; "" where there is none.
pub(super) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// A text, or what is said where there is none.
pub(super) fn text_or<'a>(object: &'a Value, path: &str, otherwise: &'a str) -> &'a str {
    Some(text(object, path)).filter(|text| !text.is_empty()).unwrap_or(otherwise)
}

/// A number; 0 where there is none.
pub(super) fn number(object: &Value, path: &str) -> i64 {
    object.pointer(path).and_then(Value::as_i64).unwrap_or(0)
}

/// A list; empty where there is none.
pub(super) fn list<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    object.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn name(object: &Value) -> Value {
    text(object, "/metadata/name").into()
}

pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    since(text(object, "/metadata/creationTimestamp"), now).into()
}

pub(super) fn is_ending(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// Whether there is a condition of this type that is true.
pub(super) fn has_condition(object: &Value, kind: &str) -> bool {
    let mut conditions = list(object, "/status/conditions").iter();
    conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// Names and images of the containers below this path.
pub(super) fn containers(object: &Value, path: &str) -> [Value; 2] {
    let all = list(object, path);
    ["/name", "/image"]
        .map(|field| all.iter().map(|container| text(container, field)).collect::<Vec<_>>().join(",").into())
}

/// Labels in their order.
pub(super) fn labels(object: &Value, path: &str) -> String {
    let labels = object.pointer(path).and_then(Value::as_object);
    let mut pairs: Vec<String> = labels
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    if pairs.is_empty() { NONE.to_owned() } else { pairs.join(",") }
}

/// A label selector in its text form; "" where it is not there, or selects everything.
pub(super) fn selector(object: &Value, path: &str) -> String {
    let Some(selector) = object.pointer(path) else { return String::new() };
    let matches = selector.get("matchLabels").and_then(Value::as_object);
    let equal = matches
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), format!("{name}={}", value.as_str().unwrap_or_default())));
    let expressions = list(selector, "/matchExpressions").iter().map(|expression| {
        let key = text(expression, "/key");
        // Ordered and without repetition, as a set is written.
        let values: BTreeSet<&str> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
        let values = values.into_iter().collect::<Vec<_>>().join(",");
        let written = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        (key.to_owned(), written)
    });
    let mut all: Vec<(String, String)> = equal.chain(expressions).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, written)| written).collect::<Vec<_>>().join(",")
}

/// The same, with a word for nothing.
pub(super) fn selector_or_none(object: &Value, path: &str) -> String {
    Some(selector(object, path)).filter(|text| !text.is_empty()).unwrap_or_else(|| NONE.to_owned())
}
