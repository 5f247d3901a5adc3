//! The owners of an object: which of them are there.

use serde_json::Value;

use crate::lifecycle::metadata;
use crate::server::Server;
use crate::store::Key;

/// The finalizer of an owner that waits for what it owns.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an owner that lets go of what it owns.
pub(super) const ORPHAN: &str = "orphan";

/// A reference to an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) blocks: bool,
}

/// What became of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is there.
    Solid,
    /// It waits until what it owns is gone.
    Waits,
    /// It is not there.
    Absent,
    /// It cannot be known: no such kind, or it lives in namespaces and what it owns does not.
    Unknown,
}

/// The owners that an object names.
pub(super) fn of(object: &Value) -> Vec<Owner> {
    let list = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let text = |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
    let read = |owner: &Value| Owner {
        uid: text(owner, "uid"),
        api_version: text(owner, "apiVersion"),
        kind: text(owner, "kind"),
        name: text(owner, "name"),
        blocks: owner["blockOwnerDeletion"] == true,
    };
    list.into_iter().flatten().map(read).collect()
}

impl Owner {
    /// Where it would be, for something in this namespace; none where that cannot be known.
    pub(super) fn key(&self, server: &Server, namespace: &str) -> Option<Key> {
        let resource = server.resource_by_kind(&self.api_version, &self.kind)?;
        let namespaced = resource.traits.namespaced;
        if namespaced && namespace.is_empty() {
            return None;
        }
        Some(Key::new(&resource.id, if namespaced { namespace } else { "" }, &self.name))
    }

    /// What became of it. Another object of its name is not it.
    pub(super) fn find(&self, server: &Server, namespace: &str) -> Found {
        let Some(key) = self.key(server, namespace) else { return Found::Unknown };
        match server.own_get(&key) {
            Some(owner) if metadata::text(&owner, "uid") == self.uid => {
                if waits(&owner) {
                    Found::Waits
                } else {
                    Found::Solid
                }
            }
            _ => Found::Absent,
        }
    }
}

/// Whether an object is ending, and waits until what it owns is gone.
pub(super) fn waits(object: &Value) -> bool {
    metadata::is_ending(object) && metadata::finalizers(object).contains(&FOREGROUND)
}

/// Takes a finalizer away.
pub(super) fn release(object: &mut Value, finalizer: &str) {
    let left: Vec<Value> = metadata::finalizers(object)
        .into_iter()
        .filter(|known| *known != finalizer)
        .map(Value::from)
        .collect();
    metadata::set(object, "finalizers", (!left.is_empty()).then_some(Value::Array(left)));
}

/// Takes away the references to these owners.
pub(super) fn let_go(object: &mut Value, uids: &[&str]) {
    let list = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let left: Vec<Value> = list
        .into_iter()
        .flatten()
        .filter(|owner| !owner["uid"].as_str().is_some_and(|uid| uids.contains(&uid)))
        .cloned()
        .collect();
    metadata::set(object, "ownerReferences", (!left.is_empty()).then_some(Value::Array(left)));
}
