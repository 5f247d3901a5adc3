//! Which part of the old object belongs to a part of the new one, and whether it is unchanged.
//!
//! An update may keep what is invalid as long as it does not touch it. Fields belong together by name, items of lists
//! of type `map` by their keys; items of other lists do not belong together.

use serde_json::Value;

use super::go::deep_equal;
use super::node::Node;

/// A value and what it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correlated<'a> {
    pub(crate) new: &'a Value,
    pub(crate) old: &'a Value,
    pub(crate) node: &'a Node,
}

impl Correlated<'_> {
    /// A field and what it was, if both objects have it and the schema knows it.
    pub(crate) fn key(&self, name: &str) -> Option<Self> {
        Some(Self {
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
            node: self.node.field(name)?,
        })
    }

    /// An item and what it was.
    pub(crate) fn index(&self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = find_by_keys(self.node, self.old.as_array()?, new)?;
        Some(Self { new, old, node: self.node.items.as_deref()? })
    }

    /// Whether nothing changed; the order of a list of type `map` does not count.
    pub(crate) fn is_unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) if new.len() != old.len() => false,
            (Value::Array(new), Value::Array(_)) if is_keyed(self.node) => {
                (0..new.len()).all(|index| self.index(index).is_some_and(|item| item.is_unchanged()))
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| self.key(name).is_some_and(|field| field.is_unchanged()))
            }
            (new, old) => deep_equal(new, old),
        }
    }
}

fn is_keyed(node: &Node) -> bool {
    node.kind == "array" && node.list_type.as_deref() == Some("map") && !node.list_map_keys.is_empty()
}

/// The first item with the same keys, in a list of type `map`.
pub(crate) fn find_by_keys<'a>(node: &Node, items: &'a [Value], wanted: &Value) -> Option<&'a Value> {
    if !is_keyed(node) {
        return None;
    }
    let keys = keys_of(node, wanted)?;
    items.iter().find(|item| {
        keys_of(node, item).is_some_and(|others| keys.iter().zip(others).all(|(a, b)| deep_equal(a, b)))
    })
}

/// The values of the keys; nothing if one is missing or no scalar.
fn keys_of<'a>(node: &Node, item: &'a Value) -> Option<Vec<&'a Value>> {
    let fields = item.as_object()?;
    let scalar = |name: &String| {
        fields.get(name).filter(|key| matches!(key, Value::Bool(_) | Value::Number(_) | Value::String(_)))
    };
    node.list_map_keys.iter().map(scalar).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::path::Path;
    use super::*;

    fn schema() -> Node {
        let schema = json!({"type": "object", "properties": {"l": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
            "items": {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}},
        }}});
        Node::read(&schema, &Path::root()).unwrap()
    }

    #[test]
    fn items_belong_together_by_their_keys() {
        let node = schema();
        let old = json!({"l": [{"a": 1, "b": "x", "c": 1}, {"a": 2, "b": "x", "c": 2}]});
        let new = json!({"l": [{"a": 2, "b": "x", "c": 2}, {"a": 1, "b": "x", "c": 1}]});
        let root = Correlated { new: &new, old: &old, node: &node };
        assert_eq!(root.key("l").unwrap().index(0).unwrap().old["c"], 2);
        assert!(root.is_unchanged(), "the order of a keyed list does not count");
    }

    #[test]
    fn an_item_without_a_key_belongs_to_nothing() {
        let node = schema();
        let (old, new) = (json!({"l": [{"a": 1}]}), json!({"l": [{"a": 1}]}));
        let root = Correlated { new: &new, old: &old, node: &node };
        assert!(root.key("l").unwrap().index(0).is_none());
        assert!(!root.is_unchanged());
    }
}
