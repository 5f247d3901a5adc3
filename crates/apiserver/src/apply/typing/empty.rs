//! A built-in object with nothing set: some of its parts are always there.

use serde_json::{Map, Value, json};

use super::schema::reference;

/// How deep parts that are always there may lie in each other.
const MAX_DEPTH: usize = 16;

/// The empty object of a kind, from the definitions that a server publishes in version 3 of its API description. There, what is always
/// there has the default `{}`, and what is printed without having a value is required.
pub fn empty_object(name: &str, definitions: &Map<String, Value>) -> Value {
    definitions.get(name).map_or_else(|| json!({}), |schema| empty(schema, definitions, 0))
}

fn empty(schema: &Value, definitions: &Map<String, Value>, depth: usize) -> Value {
    let schema = reference(schema).and_then(|name| definitions.get(name)).unwrap_or(schema);
    let mut object = Map::new();
    if depth > MAX_DEPTH {
        return Value::Object(object);
    }
    let required: Vec<_> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let default = property.get("default");
        if default == Some(&json!({})) {
            object.insert(name.clone(), empty(property, definitions, depth + 1));
        } else if required.iter().any(|one| *one == name) {
            object.insert(name.clone(), default.cloned().unwrap_or(Value::Null));
        }
    }
    Value::Object(object)
}
