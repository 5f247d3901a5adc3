//! What a field manager owns, as `metadata.managedFields` says it: a tree of `f:<field>`, `k:<keys of a list's item>` and
//! `v:<value in a set>`, in which `{}` is a value owned as a whole and `.` the element itself.

use serde_json::{Map, Value};

/// The tree of one manager, or of a part of an object.
pub(super) type Tree = Map<String, Value>;

/// The fields that a manager applied with this version of the API; `None` if it has applied nothing, or another version.
pub(super) fn fields<'a>(live: &'a Value, manager: &str, version: &str) -> Option<&'a Tree> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let ours = |entry: &&Value| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry.get("subresource").is_none_or(|part| *part == "")
    };
    let mut ours = entries.iter().filter(ours);
    let entry = ours.next().filter(|entry| entry["apiVersion"] == version)?;
    if ours.next().is_some() {
        return None; // an apply makes one entry of them
    }
    entry["fieldsV1"].as_object()
}

/// Whether an item of a list is owned as a whole. One that is merged has itself (`.`) in its tree.
pub(super) fn is_whole_item(tree: &Tree) -> bool {
    tree.is_empty()
}

/// The subtree of a field.
pub(super) fn field<'a>(tree: &'a Tree, name: &str) -> Option<&'a Tree> {
    tree.get(&format!("f:{name}"))?.as_object()
}

/// The names of the fields in a tree.
pub(super) fn field_names(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.keys().filter_map(|key| key.strip_prefix("f:"))
}

/// The items of a list that is merged by key: the fields that make the key, and the subtree.
pub(super) fn items<'a>(tree: &'a Tree) -> Vec<(Tree, &'a Tree)> {
    let parsed = |(key, subtree): (&String, &'a Value)| {
        let keys = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        Some((keys, subtree.as_object()?))
    };
    tree.iter().filter_map(parsed).collect()
}

/// The values of a list that is a set.
pub(super) fn set(tree: &Tree) -> Vec<Value> {
    tree.keys().filter_map(|key| serde_json::from_str(key.strip_prefix("v:")?).ok()).collect()
}
