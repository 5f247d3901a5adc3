//! What is to be said of one built-in resource, and what it usually is.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::kind::Particular;
use crate::kind::built_in::BuiltIn;
use crate::kind::metadata::{NameRule, Rules};
use crate::lifecycle::Traits;
use crate::registry::{Resource, ScalePaths, Selectable};

/// What can be done with most resources.
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// What can be done with namespaces.
pub(super) const ONE_BY_ONE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];

/// A field that objects are selected by: its name, where it is if elsewhere, and what it is when it is not there.
pub(super) type Field = (&'static str, &'static str, &'static str);

/// A field that is found where its name says.
pub(super) const fn at(path: &'static str) -> Field {
    (path, path, "")
}

/// One built-in resource.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // a table of what is so and what is not
pub(super) struct Entry {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) plural: &'static str,
    pub(super) kind: &'static str,
    pub(super) short: &'static [&'static str],
    pub(super) categories: &'static [&'static str],
    pub(super) namespaced: bool,
    pub(super) status: bool,
    /// Whether a new object comes with its status.
    pub(super) first_status: bool,
    /// Whether changes of what is wanted are counted.
    pub(super) generation: bool,
    /// Whether `scale` is `spec.replicas` and `status.replicas`.
    pub(super) scale: bool,
    /// Besides name and namespace; if there are any, these have to be named too.
    pub(super) selectable: &'static [Field],
    pub(super) verbs: &'static [&'static str],
    pub(super) name: NameRule,
    pub(super) standard_finalizers: bool,
    /// See [`Rules::checks`].
    pub(super) checks: (usize, usize),
    pub(super) unconditional_update: bool,
    pub(super) create_on_update: bool,
    pub(super) returns_deleted: bool,
    pub(super) reset_by_status: &'static [&'static [&'static str]],
}

/// A resource in namespaces, with nothing special.
pub(super) const fn namespaced(group: &'static str, plural: &'static str, kind: &'static str) -> Entry {
    Entry {
        group,
        version: "v1",
        plural,
        kind,
        short: &[],
        categories: &[],
        namespaced: true,
        status: false,
        first_status: false,
        generation: false,
        scale: false,
        selectable: &[],
        verbs: VERBS,
        name: NameRule::Subdomain,
        standard_finalizers: true,
        checks: (2, 2),
        unconditional_update: true,
        create_on_update: false,
        returns_deleted: false,
        reset_by_status: &[&["spec"]],
    }
}

/// A resource of the whole cluster, with nothing special.
pub(super) const fn cluster(group: &'static str, plural: &'static str, kind: &'static str) -> Entry {
    Entry { namespaced: false, ..namespaced(group, plural, kind) }
}

impl Entry {
    /// The name of its definition.
    pub(super) fn definition(&self) -> String {
        let package = match self.group {
            "" => "io.k8s.api.core",
            "apiextensions.k8s.io" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
            group => {
                let group = group.split('.').next().unwrap_or_default();
                return format!("io.k8s.api.{group}.{}.{}", self.version, self.kind);
            }
        };
        format!("{package}.{}.{}", self.version, self.kind)
    }

    /// `group/version`, or the version alone in the core group.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The resource as it is served.
    pub(super) fn resource(&self, particular: &'static dyn Particular) -> Resource {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Resource {
            id: super::id(self.group, self.plural),
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_lowercase(),
            kind_name: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            short_names: texts(self.short),
            categories: texts(self.categories),
            traits: Traits {
                namespaced: self.namespaced,
                status: self.status,
                generation: self.generation,
                status_writes_metadata: true,
                first_status: self.first_status,
            },
            selectable: self.selectable.iter().map(selectable).collect(),
            scale: self.scale.then(|| ScalePaths {
                spec: ".spec.replicas".to_owned(),
                status: ".status.replicas".to_owned(),
                selector: Some(".spec.selector".to_owned()),
            }),
            columns: Vec::new(),
            schema: Arc::new(Value::Null),
            kind: Arc::new(self.kind_of(particular)),
            stored: None,
            verbs: self.verbs,
            unconditional_update: self.unconditional_update,
            create_on_update: self.create_on_update,
            returns_deleted: self.returns_deleted,
            ending: false,
            since: 0,
        }
    }

    fn kind_of(&self, particular: &'static dyn Particular) -> BuiltIn {
        BuiltIn {
            definition: self.definition(),
            api_version: self.api_version(),
            rules: Rules {
                name: self.name,
                namespaced: self.namespaced,
                standard_finalizers: self.standard_finalizers,
                checks: self.checks,
            },
            has_status: self.status,
            reset_by_status: self.reset_by_status,
            particular,
            sharing: OnceLock::new(),
        }
    }
}

fn selectable(&(label, path, missing): &Field) -> Selectable {
    Selectable { label: label.to_owned(), path: path.to_owned(), missing: missing.to_owned() }
}
