//! Whether a status is one that the API server takes: every bound, pattern and key of the installed schema.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use regex::Regex;
use serde::Serialize;
use serde_json::Value;

/// The schema of the status of each kind.
static SCHEMAS: LazyLock<BTreeMap<String, JSONSchemaProps>> = LazyLock::new(|| {
    let status = |crd: CustomResourceDefinition| {
        let schema = crd.spec.versions[0].schema.clone().unwrap().open_api_v3_schema.unwrap();
        (crd.spec.names.kind, schema.properties.unwrap()["status"].clone())
    };
    muster_api::crds().into_iter().map(status).collect()
});

/// The patterns in them, compiled once.
static PATTERNS: LazyLock<Mutex<BTreeMap<String, Regex>>> = LazyLock::new(Mutex::default);

/// What the schema of this kind refuses in a status.
pub(super) fn refused(kind: &str, status: &impl Serialize) -> Vec<String> {
    let mut found = Vec::new();
    check(&SCHEMAS[kind], &serde_json::to_value(status).unwrap(), "status", &mut found);
    found
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut patterns = PATTERNS.lock().unwrap();
    patterns.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap()).is_match(text)
}

fn check(schema: &JSONSchemaProps, value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for required in schema.required.iter().flatten().filter(|name| !fields.contains_key(*name)) {
                found.push(format!("{path}.{required} is required"));
            }
            for (name, field) in fields {
                let known = schema.properties.as_ref().and_then(|properties| properties.get(name));
                match (known, &schema.additional_properties) {
                    (Some(schema), _) => check(schema, field, &format!("{path}.{name}"), found),
                    (None, Some(JSONSchemaPropsOrBool::Schema(schema))) => {
                        check(schema, field, &format!("{path}.{name}"), found);
                    }
                    _ => found.push(format!("{path}.{name} is unknown")),
                }
            }
            let most = schema.max_properties.unwrap_or(i64::MAX);
            if i64::try_from(fields.len()).unwrap() > most {
                found.push(format!("{path} has more than {most} fields"));
            }
        }
        Value::Array(items) => list(schema, items, path, found),
        Value::String(text) => string(schema, text, path, found),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            if schema.minimum.is_some_and(|least| number < least)
                || schema.maximum.is_some_and(|most| number > most)
            {
                found.push(format!("{path} is out of bounds: {number}"));
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

fn list(schema: &JSONSchemaProps, items: &[Value], path: &str, found: &mut Vec<String>) {
    if schema.max_items.is_some_and(|most| items.len() > usize::try_from(most).unwrap()) {
        found.push(format!("{path} has {} items", items.len()));
    }
    if let Some(keys) = &schema.x_kubernetes_list_map_keys {
        let key = |item: &Value| keys.iter().map(|key| item[key].to_string()).collect::<Vec<_>>();
        let distinct: BTreeSet<_> = items.iter().map(key).collect();
        if distinct.len() != items.len() {
            found.push(format!("{path} has a key twice"));
        }
    }
    if let Some(JSONSchemaPropsOrArray::Schema(schema)) = &schema.items {
        for item in items {
            check(schema, item, &format!("{path}[]"), found);
        }
    }
}

fn string(schema: &JSONSchemaProps, text: &str, path: &str, found: &mut Vec<String>) {
    let length = i64::try_from(text.chars().count()).unwrap();
    if schema.max_length.is_some_and(|most| length > most)
        || schema.min_length.is_some_and(|least| length < least)
    {
        found.push(format!("{path} has {length} characters"));
    }
    if let Some(pattern) = &schema.pattern
        && !matches(pattern, text)
    {
        found.push(format!("{path} does not match {pattern}: {text:?}"));
    }
    if schema.enum_.as_ref().is_some_and(|allowed| allowed.iter().all(|one| one.0 != text)) {
        found.push(format!("{path} is not one of the allowed: {text:?}"));
    }
}
