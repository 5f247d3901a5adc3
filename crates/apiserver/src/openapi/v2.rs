//! The description in version 2, which some clients still ask for: the same as in version 3, in other words.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{bearer_token, info, paths, schemas};
use crate::kind::built_in::PLACE;
use crate::registry::Resource;

/// Where definitions are found in version 2.
const PLACE_2: &str = "#/definitions/";

/// What version 2 has no words for.
const UNKNOWN: [&str; 5] = ["oneOf", "anyOf", "not", "nullable", "default"];

/// `/openapi/v2`.
pub fn v2(resources: &[Arc<Resource>]) -> Value {
    let all: Vec<&Resource> = resources.iter().map(|one| &**one).collect();
    let definitions: Map<String, Value> =
        schemas::of(&all).into_iter().map(|(name, schema)| (name, definition(schema))).collect();
    let paths: Map<String, Value> = all
        .iter()
        .flat_map(|resource| paths::of(resource))
        .map(|(path, item)| (path, path_item(item)))
        .collect();
    json!({
        "swagger": "2.0",
        "info": info(),
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": bearer_token(),
        "security": [{"BearerToken": []}],
    })
}

fn definition(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
    if let Some(Value::Array(parts)) = fields.remove("allOf")
        && let [part] = parts.as_slice()
        && let Some(target) = part.get("$ref")
    {
        fields.insert("$ref".to_owned(), target.clone());
    }
    if fields.contains_key("oneOf") && !fields.contains_key("type") {
        fields.insert("type".to_owned(), "string".into());
    }
    fields.retain(|name, _| !UNKNOWN.contains(&name.as_str()));
    if let Some(Value::String(target)) = fields.get_mut("$ref") {
        *target = target.replace(PLACE, PLACE_2);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            *inner = definition(inner.take());
        }
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        for property in properties.values_mut() {
            *property = definition(property.take());
        }
    }
    Value::Object(fields)
}

fn path_item(item: Value) -> Value {
    let Value::Object(fields) = item else { return item };
    let said = fields.into_iter().map(|(name, value)| match name.as_str() {
        "parameters" => (name, parameters(value)),
        _ => (name, operation(value)),
    });
    Value::Object(said.collect())
}

fn parameters(all: Value) -> Value {
    let Value::Array(all) = all else { return all };
    let flat = |one: Value| match one {
        Value::Object(mut fields) => {
            if let Some(Value::Object(schema)) = fields.remove("schema") {
                fields.extend(schema);
            }
            Value::Object(fields)
        }
        other => other,
    };
    all.into_iter().map(flat).collect()
}

fn operation(said: Value) -> Value {
    let Value::Object(mut fields) = said else { return said };
    let mut all = match parameters(fields.remove("parameters").unwrap_or_default()) {
        Value::Array(all) => all,
        _ => Vec::new(),
    };
    if let Some(body) = fields.remove("requestBody") {
        let (forms, schema) = contents(&body);
        all.insert(0, json!({"name": "body", "in": "body", "required": body["required"], "schema": schema}));
        fields.insert("consumes".to_owned(), forms);
    }
    fields.insert("parameters".to_owned(), Value::Array(all));
    let mut produces = json!([]);
    if let Some(Value::Object(responses)) = fields.get_mut("responses") {
        for response in responses.values_mut() {
            let (forms, schema) = contents(response);
            let Some(fields) = response.as_object_mut() else { continue };
            if fields.remove("content").is_some() {
                fields.insert("schema".to_owned(), schema);
                produces = forms;
            }
        }
    }
    fields.insert("produces".to_owned(), produces);
    fields.insert("schemes".to_owned(), json!(["https"]));
    Value::Object(fields)
}

/// The forms of a content, and its schema, which is the same in all.
fn contents(of: &Value) -> (Value, Value) {
    let content = of.get("content").and_then(Value::as_object);
    let forms: Vec<&String> = content.into_iter().flat_map(Map::keys).collect();
    let schema = content.and_then(|content| content.values().next()).map(|one| one["schema"].clone());
    (json!(forms), definition(schema.unwrap_or_default()))
}
