//! Lists that are sets or maps: no item, or no combination of keys, may be there twice.

use serde_json::{Map, Value};

use super::field_error::FieldError;
use super::go;
use super::node::Node;
use super::path::Path;

/// Looks for duplicates in every list of an object.
pub(crate) fn validate(value: &Value, node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(additional) = node.additional_schema() {
                    validate(field, additional, &path.key(name), errors);
                }
                if let Some(property) = node.properties.get(name) {
                    validate(field, property, &path.child(name), errors);
                }
            }
        }
        Value::Array(items) => {
            match node.list_type.as_deref() {
                Some("set") => {
                    for index in duplicates(items) {
                        errors.push(FieldError::duplicate(&path.index(index), items.get(index).cloned()));
                    }
                }
                Some("map") => validate_keys(items, node, path, errors),
                _ => {}
            }
            let Some(schema) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                validate(item, schema, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn validate_keys(items: &[Value], node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    let not_object = items.iter().position(|item| !matches!(item, Value::Null | Value::Object(_)));
    if let Some(index) = not_object {
        let value = items.get(index).cloned().unwrap_or_default();
        let detail = "must be an object for an array of list-type map";
        return errors.push(FieldError::invalid(&path.index(index), value, detail));
    }
    let keys = |item: &Value| {
        let fields = item.as_object();
        let given = node.list_map_keys.iter().filter_map(|name| {
            fields.and_then(|fields| fields.get(name)).map(|value| (name.clone(), value.clone()))
        });
        Value::Object(given.collect::<Map<_, _>>())
    };
    let all: Vec<_> = items.iter().map(keys).collect();
    for index in duplicates(&all) {
        errors.push(FieldError::duplicate(&path.index(index), all.get(index).cloned()));
    }
}

/// Where a value is there for the second time; the third and later times do not count.
fn duplicates(items: &[Value]) -> Vec<usize> {
    let mut seen = std::collections::HashMap::new();
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let times = seen.entry(go::json(item)).or_insert(0_usize);
        *times += 1;
        if *times == 2 {
            found.push(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(schema: &Value, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        validate(value, &Node::read(schema, &Path::root()).unwrap(), &Path::root(), &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_set_has_no_duplicates() {
        let schema = json!({"properties": {"s": {"x-kubernetes-list-type": "set"}}});
        assert_eq!(
            errors(&schema, &json!({"s": ["a", "b", "a", "a", "b"]})),
            [r#"s[2]: Duplicate value: "a""#, r#"s[4]: Duplicate value: "b""#]
        );
    }

    #[test]
    fn a_map_has_no_two_items_with_the_same_keys() {
        let schema = json!({"properties": {"m": {
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
        }}});
        assert_eq!(
            errors(&schema, &json!({"m": [{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"b": 2, "a": 1, "c": 1}]})),
            [r#"m[2]: Duplicate value: {"a":1,"b":2}"#]
        );
    }
}
