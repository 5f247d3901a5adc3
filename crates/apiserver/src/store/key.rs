//! The names under which objects are kept, in the order in which they are listed.

use std::sync::Arc;

/// Where an object is kept: its resource (`group/plural`), namespace ("" for cluster-scoped) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// `group/plural`; the core group is "".
    pub resource: Arc<str>,
    /// The namespace, or "" for an object of the whole cluster.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// The key of this object.
    pub fn new(resource: &Arc<str>, namespace: &str, name: &str) -> Self {
        Self { resource: resource.clone(), namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

/// A range of keys: the objects of one resource, in all namespaces or in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// `group/plural`.
    pub resource: Arc<str>,
    /// The namespace; none for all of them.
    pub namespace: Option<String>,
}

impl Scope {
    /// The key from which on this scope begins.
    pub(super) fn first(&self) -> Key {
        Key::new(&self.resource, self.namespace.as_deref().unwrap_or(""), "")
    }

    /// Whether this key is within.
    pub fn contains(&self, key: &Key) -> bool {
        key.resource == self.resource
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
    }
}
