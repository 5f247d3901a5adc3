//! Pruning: fields that a schema does not know are taken away, and named.

use std::fmt::Write as _;

use serde_json::Value;

use super::metadata::{self, META_FIELDS};
use super::node::Node;

/// Takes away unknown fields of a whole object, and gives their paths in the order in which the server names them:
/// of its metadata, of itself, and of the metadata of objects inside.
pub(crate) fn prune_object(value: &mut Value, node: &Node) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(metadata) = value.get_mut("metadata") {
        metadata::prune(metadata, "metadata", &mut unknown);
    }
    let mut pruner = Pruner { path: String::new(), unknown: Vec::new() };
    pruner.value(value, Some(node), true);
    pruner.unknown.sort();
    unknown.append(&mut pruner.unknown);
    pruner.metadata(value, Some(node));
    pruner.unknown.sort();
    unknown.append(&mut pruner.unknown);
    unknown
}

/// Takes away unknown fields of a value inside an object.
pub(crate) fn prune_value(value: &mut Value, node: &Node) {
    Pruner { path: String::new(), unknown: Vec::new() }.value(value, Some(node), false);
}

struct Pruner {
    path: String,
    unknown: Vec<String>,
}

impl Pruner {
    /// Goes to a field and comes back.
    fn at_key(&mut self, key: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        visit(self);
        self.path.truncate(length);
    }

    fn at_index(&mut self, index: usize, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        _ = write!(self.path, "[{index}]");
        visit(self);
        self.path.truncate(length);
    }

    fn metadata(&mut self, value: &mut Value, node: Option<&Node>) {
        let Some(node) = node else { return };
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    self.at_key(name, |this| {
                        if name == "metadata" && node.embedded {
                            metadata::prune(field, &this.path, &mut this.unknown);
                        }
                        this.metadata(field, node.field(name));
                    });
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.at_index(index, |this| this.metadata(item, node.items.as_deref()));
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, value: &mut Value, node: Option<&Node>, is_object: bool) {
        if let Some(node) = node.filter(|node| node.preserves()) {
            return self.preserved(value, node, is_object);
        }
        match value {
            Value::Object(fields) => {
                let at_root = self.path.is_empty();
                let is_object = is_object || node.is_some_and(|node| node.embedded);
                fields.retain(|name, field| {
                    let is_meta = META_FIELDS.contains(&name.as_str());
                    if is_object && is_meta {
                        return true;
                    }
                    let property = node.and_then(|node| node.properties.get(name));
                    let additional = node.and_then(|node| node.additional.as_ref());
                    let known = property.is_some() || additional.is_some();
                    self.at_key(name, |this| {
                        if known {
                            let schema = property
                                .or_else(|| additional.and_then(|additional| additional.schema.as_deref()));
                            this.value(field, schema, false);
                        } else if !(is_meta && at_root) || node.is_none() {
                            this.unknown.push(this.path.clone());
                        }
                    });
                    known
                });
            }
            Value::Array(items) => {
                let schema = node.and_then(|node| node.items.as_deref());
                for (index, item) in items.iter_mut().enumerate() {
                    self.at_index(index, |this| this.value(item, schema, false));
                }
            }
            _ => {}
        }
    }

    /// Where unknown fields are kept; what is declared further inside is pruned as usual.
    fn preserved(&mut self, value: &mut Value, node: &Node, is_object: bool) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    if (is_object || node.embedded) && META_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    if node.properties.contains_key(name) || node.additional.is_some() {
                        self.at_key(name, |this| this.value(field, node.field(name), false));
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = node.items.as_deref() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.at_index(index, |this| this.preserved(item, schema, false));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::path::Path;
    use super::*;

    fn pruned(schema: &Value, mut value: Value) -> (Value, Vec<String>) {
        let unknown = prune_object(&mut value, &Node::read(schema, &Path::root()).unwrap());
        (value, unknown)
    }

    #[test]
    fn unknown_fields_go_and_are_named() {
        let schema = json!({"properties": {"spec": {"properties": {
            "a": {"type": "string"}, "l": {"items": {"properties": {"b": {}}}},
        }}}});
        let (value, unknown) = pruned(
            &schema,
            json!({"kind": "K", "metadata": {"name": "a"}, "top": 1, "spec": {"z": 1, "a": "", "l": [{"b": 1, "c": {}}]}}),
        );
        assert_eq!(
            value,
            json!({"kind": "K", "metadata": {"name": "a"}, "spec": {"a": "", "l": [{"b": 1}]}})
        );
        assert_eq!(unknown, ["spec.l[0].c", "spec.z", "top"]);
    }

    #[test]
    fn preserved_fields_stay_but_declared_ones_below_are_pruned() {
        let schema = json!({"properties": {"spec": {
            "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"properties": {"b": {}}}},
        }}});
        let (value, unknown) = pruned(&schema, json!({"spec": {"x": {"y": 1}, "a": {"b": 1, "c": 1}}}));
        assert_eq!(value, json!({"spec": {"x": {"y": 1}, "a": {"b": 1}}}));
        assert_eq!(unknown, ["spec.a.c"]);
    }

    #[test]
    fn embedded_objects_keep_what_makes_them_objects() {
        let schema = json!({"properties": {"o": {
            "x-kubernetes-embedded-resource": true, "properties": {"spec": {"properties": {}}},
        }}});
        let (value, unknown) = pruned(
            &schema,
            json!({"o": {"apiVersion": "v1", "kind": "P", "metadata": {"name": "a", "x": 1}, "y": 1}}),
        );
        assert_eq!(value, json!({"o": {"apiVersion": "v1", "kind": "P", "metadata": {"name": "a"}}}));
        assert_eq!(unknown, ["o.y", "o.metadata.x"]);
    }

    #[test]
    fn maps_keep_their_keys_and_lose_what_their_values_do_not_know() {
        let schema = json!({"properties": {
            "m": {"additionalProperties": {"properties": {"a": {}}}}, "t": {"additionalProperties": true},
        }});
        let (value, unknown) = pruned(&schema, json!({"m": {"k": {"a": 1, "b": 2}}, "t": {"x": {"y": 1}}}));
        assert_eq!(value, json!({"m": {"k": {"a": 1}}, "t": {"x": {}}}));
        assert_eq!(unknown, ["m.k.b", "t.x.y"]);
    }
}
