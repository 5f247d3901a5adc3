//! A resource as discovery tells of it.

use super::hash;
use crate::registry::Resource;

/// One version of a resource, with what clients can do with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Its API group; the core group is "".
    pub group: String,
    /// The version.
    pub version: String,
    /// The name in paths.
    pub plural: String,
    /// The name of one.
    pub singular: String,
    /// `kind` of one.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it.
    pub verbs: Vec<String>,
    /// Short names for `kubectl`.
    pub short_names: Vec<String>,
    /// Groups of resources for `kubectl`.
    pub categories: Vec<String>,
    /// `storageVersionHash`; "" where nothing is stored.
    pub storage_hash: String,
    /// Whether a `CustomResourceDefinition` made it. The real server then names group and version of the kind too.
    pub defined: bool,
    /// Its parts that have a path of their own.
    pub parts: Vec<Part>,
}

/// A part of an object that has a path of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// For example `status`.
    pub name: String,
    /// The group of `kind`; "" when it is the one of the resource.
    pub group: String,
    /// The version of `kind`; "" when it is the one of the resource.
    pub version: String,
    /// What is read and written there.
    pub kind: String,
    /// What can be done with it.
    pub verbs: Vec<String>,
}

impl Part {
    fn status(kind: &str) -> Self {
        Self { name: "status".into(), kind: kind.into(), verbs: reads_and_writes(), ..Self::default() }
    }

    fn scale() -> Self {
        Self {
            name: "scale".into(),
            group: "autoscaling".into(),
            version: "v1".into(),
            kind: "Scale".into(),
            verbs: reads_and_writes(),
        }
    }
}

fn reads_and_writes() -> Vec<String> {
    ["get", "patch", "update"].map(str::to_owned).into()
}

impl Served {
    /// A resource that only takes requests and keeps nothing, as reviews are.
    pub fn review(group: &str, kind: &str, namespaced: bool) -> Self {
        let singular = kind.to_lowercase();
        Self {
            group: group.into(),
            version: "v1".into(),
            plural: format!("{singular}s"),
            singular,
            kind: kind.into(),
            namespaced,
            verbs: vec!["create".into()],
            ..Self::default()
        }
    }
}

impl From<&Resource> for Served {
    fn from(resource: &Resource) -> Self {
        let kind = resource.kind_name.as_str();
        let status = resource.traits.status.then(|| Part::status(kind));
        let scale = resource.scale.as_ref().map(|_| Part::scale());
        let finalize = (&*resource.id == "/namespaces").then(|| Part {
            name: "finalize".into(),
            kind: kind.into(),
            verbs: vec!["update".into()],
            ..Part::default()
        });
        let defined = resource.stored.is_some();
        let binding = (&*resource.id == "/pods").then(|| Part {
            name: "binding".into(),
            kind: "Binding".into(),
            verbs: vec!["create".into()],
            ..Part::default()
        });
        let log = (&*resource.id == "/pods").then(|| Part {
            name: "log".into(),
            kind: kind.into(),
            verbs: vec!["get".into()],
            ..Part::default()
        });
        let mut parts: Vec<Part> =
            finalize.into_iter().chain(binding).chain(log).chain(status).chain(scale).collect();
        if !defined {
            parts.sort_by(|one, other| one.name.cmp(&other.name));
        }
        // Events of both groups are kept in the core group.
        let kept_in = resource.id.split('/').next().unwrap_or_default();
        let kept_as = resource.stored.as_ref().unwrap_or(&resource.version);
        Self {
            group: resource.group.clone(),
            version: resource.version.clone(),
            plural: resource.plural.clone(),
            singular: resource.singular.clone(),
            kind: kind.into(),
            namespaced: resource.traits.namespaced,
            verbs: resource.verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            short_names: resource.short_names.clone(),
            categories: resource.categories.clone(),
            storage_hash: hash::storage_version(kept_in, kept_as, kind),
            defined,
            parts,
        }
    }
}
