//! What is served: the built-in resources, and those that stored definitions make.

use std::sync::Arc;

use serde_json::Value;

use super::Server;
use super::objects;
use crate::kind::Untyped;
use crate::lifecycle::Traits;
use crate::registry::{ALL_VERBS, Definition, Resource};
use crate::store::Scope;

/// Under which definitions are kept.
pub(super) const RESOURCE: &str = "apiextensions.k8s.io/customresourcedefinitions";

impl Server {
    /// Serves what is always served.
    pub(super) fn serve_built_in(&self) {
        for (group, version, plural, kind, namespaced) in [
            ("", "v1", "namespaces", "Namespace", false),
            ("", "v1", "configmaps", "ConfigMap", true),
            ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false),
        ] {
            self.registry().replace(group, plural, vec![untyped(group, version, plural, kind, namespaced)]);
        }
    }

    /// Serves what the stored definitions make, after a restart.
    pub(super) fn serve_stored_definitions(&self) {
        let Some(resource) = self.registry().find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        else {
            return;
        };
        let scope = Scope { resource: Arc::from(RESOURCE), namespace: None };
        for (_, stored) in self.store().list(&scope).objects {
            self.serve_definition(&objects::load_stored(&resource, &stored));
        }
    }

    /// Serves what this definition makes, from now on.
    pub(super) fn serve_definition(&self, crd: &Value) {
        if let Ok(definition) = Definition::read(crd) {
            self.registry().replace(&definition.group, &definition.plural, definition.resources());
        }
    }

    /// Serves it no longer.
    pub(super) fn forget_definition(&self, crd: &Value) {
        if let Ok(definition) = Definition::read(crd) {
            self.registry().replace(&definition.group, &definition.plural, Vec::new());
        }
    }
}

fn untyped(group: &str, version: &str, plural: &str, kind: &str, namespaced: bool) -> Resource {
    Resource {
        id: Arc::from(format!("{group}/{plural}")),
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        kind_name: kind.to_owned(),
        list_kind: format!("{kind}List"),
        short_names: Vec::new(),
        categories: Vec::new(),
        traits: Traits { namespaced, status: true, generation: false, status_writes_metadata: true },
        selectable: Vec::new(),
        scale: None,
        columns: Vec::new(),
        schema: Arc::new(Value::Null),
        kind: Arc::new(Untyped::new(group, version)),
        stored: None,
        verbs: ALL_VERBS,
        unconditional_update: true,
        create_on_update: false,
        returns_deleted: false,
        since: 0,
    }
}
