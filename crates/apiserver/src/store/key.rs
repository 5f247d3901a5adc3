//! The names under which objects are kept, in the order in which they are listed.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

/// Where an object is kept: its resource (`group/plural`), namespace ("" for cluster-scoped) and name.
///
/// The order is that of etcd, where namespace and name are one text with a slash between: `a-b` comes before `a`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

    /// The bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        self.resource.len() + self.namespace.len() + self.name.len()
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        // Keys of one resource mostly share its name.
        let same = Arc::ptr_eq(&self.resource, &other.resource);
        let resources = if same { Ordering::Equal } else { self.resource.cmp(&other.resource) };
        resources
            .then_with(|| compare_namespaces(&self.namespace, &other.namespace))
            .then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of two namespaces as if a slash followed each; none comes first.
fn compare_namespaces(one: &str, other: &str) -> Ordering {
    if one == other {
        return Ordering::Equal;
    }
    match (one.is_empty(), other.is_empty()) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => one.bytes().chain([b'/']).cmp(other.bytes().chain([b'/'])),
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
    fn first(&self) -> Key {
        Key::new(&self.resource, self.namespace.as_deref().unwrap_or(""), "")
    }

    /// The part of all objects, in the order of their keys, that this scope is.
    pub(super) fn of<'a, V>(
        &'a self,
        objects: &'a std::collections::BTreeMap<Arc<Key>, V>,
    ) -> impl Iterator<Item = (&'a Arc<Key>, &'a V)> {
        let from = (Bound::Included(&self.first()), Bound::Unbounded);
        objects.range::<Key, _>(from).take_while(|(key, _)| self.contains(key))
    }

    /// Whether this key is within.
    pub fn contains(&self, key: &Key) -> bool {
        key.resource == self.resource
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_one_text() {
        let resource: Arc<str> = Arc::from("/things");
        let mut keys: Vec<Key> = [("a", "x"), ("a-b", "y"), ("", "z"), ("a", "b"), ("ab", "c"), ("a.b", "d")]
            .map(|(namespace, name)| Key::new(&resource, namespace, name))
            .to_vec();
        keys.sort();
        let places: Vec<String> = keys.iter().map(|key| format!("{}/{}", key.namespace, key.name)).collect();
        assert_eq!(places, ["/z", "a-b/y", "a.b/d", "a/b", "a/x", "ab/c"]);
    }
}
