//! Defaults: what a schema fills in, and the nulls that it takes away first.

use serde_json::Value;

use super::node::Node;

/// Takes away nulls where the schema allows none and has no default: they are as good as absent.
pub(crate) fn drop_nulls(value: &mut Value, node: Option<&Node>) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, field| {
                let schema = node.and_then(|node| node.field(name));
                !(field.is_null()
                    && schema.is_some_and(|schema| !schema.nullable && schema.default.is_none()))
            });
            for (name, field) in fields.iter_mut() {
                drop_nulls(field, node.and_then(|node| node.field(name)));
            }
        }
        Value::Array(items) => {
            let schema = node.and_then(|node| node.items.as_deref());
            for item in items {
                drop_nulls(item, schema);
            }
        }
        _ => {}
    }
}

/// Fills in defaults, wherever the parent exists.
pub(crate) fn fill(value: &mut Value, node: &Node) {
    match value {
        Value::Object(fields) => {
            for (name, property) in &node.properties {
                let Some(default) = &property.default else { continue };
                let given = fields.get(name);
                if given.is_none_or(|given| given.is_null() && !property.nullable) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in fields.iter_mut() {
                if let Some(property) = node.properties.get(name) {
                    fill(field, property);
                } else if let Some(additional) = node.additional_schema() {
                    fill_null(field, additional);
                    fill(field, additional);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = node.items.as_deref() else { return };
            for item in items {
                fill_null(item, schema);
                fill(item, schema);
            }
        }
        _ => {}
    }
}

fn fill_null(value: &mut Value, node: &Node) {
    if let (true, false, Some(default)) = (value.is_null(), node.nullable, &node.default) {
        *value = default.clone();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::path::Path;
    use super::*;

    fn defaulted(schema: &Value, mut value: Value) -> Value {
        let node = Node::read(schema, &Path::root()).unwrap();
        drop_nulls(&mut value, Some(&node));
        fill(&mut value, &node);
        value
    }

    #[test]
    fn a_default_is_filled_in_only_where_its_parent_exists() {
        let schema = json!({"properties": {
            "a": {"properties": {"b": {"default": 1}}},
            "c": {"default": {}, "properties": {"d": {"default": [2]}}},
        }});
        assert_eq!(defaulted(&schema, json!({})), json!({"c": {"d": [2]}}));
        assert_eq!(
            defaulted(&schema, json!({"a": {}, "c": {"d": []}})),
            json!({"a": {"b": 1}, "c": {"d": []}})
        );
    }

    #[test]
    fn items_and_additional_properties_are_defaulted() {
        let inner = json!({"properties": {"b": {"default": 1}}});
        let schema = json!({"properties": {"l": {"items": inner}, "m": {"additionalProperties": inner}}});
        assert_eq!(
            defaulted(&schema, json!({"l": [{}, {"b": 2}], "m": {"x": {}}})),
            json!({"l": [{"b": 1}, {"b": 2}], "m": {"x": {"b": 1}}})
        );
    }

    #[test]
    fn a_null_is_kept_if_nullable_replaced_by_a_default_and_otherwise_dropped() {
        let schema = json!({"properties": {
            "kept": {"nullable": true, "default": 1}, "filled": {"default": 1}, "dropped": {"type": "string"},
            "list": {"items": {"type": "string"}},
        }});
        assert_eq!(
            defaulted(
                &schema,
                json!({"kept": null, "filled": null, "dropped": null, "list": [null], "other": null})
            ),
            json!({"kept": null, "filled": 1, "list": [null], "other": null})
        );
    }
}
