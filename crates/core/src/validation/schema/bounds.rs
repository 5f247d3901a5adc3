//! What a schema asks of one value by itself: its type, its bounds, its pattern.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use regex::Regex;
use serde_json::Value;

/// Patterns of our own schemas, compiled once; there are as many as the schemas have.
static PATTERNS: LazyLock<Mutex<BTreeMap<String, Option<Regex>>>> = LazyLock::new(Mutex::default);

/// Whether a number is an integer, also where it is written as 1.0.
pub(super) fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// What is wrong with the type of a value.
pub(super) fn wrong_type(wanted: &str, value: &Value) -> Option<String> {
    let right = match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => is_integer(value),
        "number" => value.is_number(),
        _ => true,
    };
    let article = if wanted.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    (!right).then(|| format!("must be {article} {wanted}"))
}

/// Everything wrong with a value of the right type.
pub(super) fn violations(schema: &JSONSchemaProps, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(allowed) = &schema.enum_
        && !allowed.iter().any(|one| one.0 == *value)
    {
        let words: Vec<String> =
            allowed.iter().map(|one| one.0.as_str().map_or_else(|| one.0.to_string(), Into::into)).collect();
        found.push(format!("must be one of {}", words.join(", ")));
    }
    match value {
        Value::String(text) => string(schema, text, &mut found),
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                if let Some(least) = schema.minimum.filter(|least| number < *least) {
                    found.push(format!("must be at least {least}"));
                }
                if let Some(most) = schema.maximum.filter(|most| number > *most) {
                    found.push(format!("must be at most {most}"));
                }
            }
        }
        Value::Array(items) => sized(items.len(), schema.min_items, schema.max_items, "items", &mut found),
        Value::Object(fields) => {
            sized(fields.len(), schema.min_properties, schema.max_properties, "entries", &mut found);
        }
        Value::Null | Value::Bool(_) => {}
    }
    found
}

fn string(schema: &JSONSchemaProps, text: &str, found: &mut Vec<String>) {
    sized(text.chars().count(), schema.min_length, schema.max_length, "characters", found);
    if let Some(pattern) = &schema.pattern
        && !matches(pattern, text)
    {
        found.push(format!("must match {pattern}"));
    }
}

fn sized(length: usize, least: Option<i64>, most: Option<i64>, what: &str, found: &mut Vec<String>) {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    if let Some(least) = least.filter(|least| length < *least) {
        found.push(format!("must have at least {least} {what}"));
    }
    if let Some(most) = most.filter(|most| length > *most) {
        found.push(format!("must have at most {most} {what}"));
    }
}

/// Whether a text matches; a pattern that is none matches nothing, as the API server would not have accepted
/// the CRD.
fn matches(pattern: &str, text: &str) -> bool {
    let mut patterns = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    let compiled = patterns.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok());
    compiled.as_ref().is_some_and(|regex| regex.is_match(text))
}
