//! The resources that are served: their names, where they are found, and what they can do.

mod crd;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

pub use self::crd::{Definition, DefinitionError};
use crate::kind::Kind;
use crate::lifecycle::Traits;
use crate::store::Revision;

/// What can be done with every resource that a definition makes.
pub const ALL_VERBS: &[&str] =
    &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// One version of a resource, as it is served.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and none excludes another")]
pub struct Resource {
    /// Under which its objects are kept: `group/plural`.
    pub id: Arc<str>,
    /// Its API group; the core group is "".
    pub group: String,
    /// The version.
    pub version: String,
    /// The name in paths.
    pub plural: String,
    /// The name of one.
    pub singular: String,
    /// `kind` of one.
    pub kind_name: String,
    /// `kind` of a list.
    pub list_kind: String,
    /// Short names for `kubectl`.
    pub short_names: Vec<String>,
    /// Groups of resources for `kubectl`.
    pub categories: Vec<String>,
    /// What its lifecycle depends on.
    pub traits: Traits,
    /// The fields that it can be selected by; if none are named, name and namespace.
    pub selectable: Vec<Selectable>,
    /// Where `scale` reads and writes.
    pub scale: Option<ScalePaths>,
    /// The columns of a table.
    pub columns: Vec<Column>,
    /// `openAPIV3Schema`.
    pub schema: Arc<Value>,
    /// What its objects are.
    pub kind: Arc<dyn Kind>,
    /// The version in which its objects are stored, where a definition says which; none: it is built in.
    pub stored: Option<String>,
    /// What can be done with it, as discovery says.
    pub verbs: &'static [&'static str],
    /// Whether it can be replaced without saying which version is replaced.
    pub unconditional_update: bool,
    /// Whether replacing what is not there creates it.
    pub create_on_update: bool,
    /// Whether a deletion answers with the object that was deleted.
    pub returns_deleted: bool,
    /// Whether its definition is being deleted.
    pub ending: bool,
    /// Since when it has its present form: what was stored before may have to be read anew.
    pub since: Revision,
}

/// Where the `scale` of an object reads and writes, as JSON paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// The count that is wanted.
    pub spec: String,
    /// The count there is.
    pub status: String,
    /// The label selector in its text form.
    pub selector: Option<String>,
}

/// A field that objects are selected by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selectable {
    /// What selectors call it.
    pub label: String,
    /// Where it is: the first of these places, with `|` between them, where there is something.
    pub path: String,
    /// What it is when it is not there.
    pub missing: String,
}

impl Selectable {
    /// A field that is found where its name says.
    pub fn at(path: &str) -> Self {
        Self { label: path.to_owned(), path: path.to_owned(), missing: String::new() }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its title.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// The format of that.
    pub format: String,
    /// In words.
    pub description: String,
    /// Above 0: only in wide tables.
    pub priority: i64,
    /// Where its value is.
    pub path: String,
}

impl Resource {
    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

impl Resource {
    /// Whether the items of its lists have `apiVersion` and `kind`.
    pub fn lists_typed_items(&self) -> bool {
        self.kind.is_custom()
    }
}

/// Group, version and plural.
type Address = (String, String, String);

/// The resources that are served now. Changes are seen at once by every handle.
#[derive(Clone, Debug, Default)]
pub struct Registry(Arc<RwLock<Served>>);

#[derive(Clone, Debug, Default)]
struct Served {
    resources: BTreeMap<Address, Arc<Resource>>,
    changes: u64,
}

impl Registry {
    /// Another registry with the same resources: from here on each goes its own way.
    pub(crate) fn copy(&self) -> Self {
        let served = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        Self(Arc::new(RwLock::new(served)))
    }

    /// Serves these versions of a resource, and no others of it.
    pub fn replace(&self, group: &str, plural: &str, versions: Vec<Resource>) {
        let mut served = self.0.write().unwrap_or_else(PoisonError::into_inner);
        served.changes += 1;
        served.resources.retain(|(known, _, name), _| known != group || name != plural);
        for resource in versions {
            let key = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
            served.resources.insert(key, Arc::new(resource));
        }
    }

    /// How often what is served has changed: what is derived from it can be kept as long as this is the same.
    pub fn changes(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).changes
    }

    /// Serves this version of a resource too.
    pub fn add(&self, resource: Resource) {
        let key = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        let mut served = self.0.write().unwrap_or_else(PoisonError::into_inner);
        served.changes += 1;
        served.resources.insert(key, Arc::new(resource));
    }

    /// The resource at this path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.0.read().unwrap_or_else(PoisonError::into_inner).resources.get(&key).cloned()
    }

    /// Everything that is served, by group, version and plural.
    pub fn all(&self) -> Vec<Arc<Resource>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).resources.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widget(version: &str) -> Resource {
        let crd = json!({
            "metadata": {"name": "widgets.example.org"},
            "spec": {
                "group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        Definition::read(&crd).unwrap().resources().remove(0)
    }

    #[test]
    fn a_resource_is_found_where_it_is_served() {
        let registry = Registry::default();
        registry.replace("example.org", "widgets", vec![widget("v1")]);
        let found = registry.clone().find("example.org", "v1", "widgets").unwrap();
        assert_eq!((found.kind_name.as_str(), found.api_version()), ("Widget", "example.org/v1".to_owned()));
        assert!(registry.find("example.org", "v2", "widgets").is_none());
        registry.replace("example.org", "widgets", vec![widget("v2")]);
        assert!(registry.find("example.org", "v1", "widgets").is_none(), "only what is served now");
        registry.replace("example.org", "gadgets", vec![]);
        assert_eq!(registry.all().len(), 1);
    }
}
