//! Which fields are merged and which are whole values, by the real server's own description of its kinds.

use std::collections::BTreeSet;

use serde_json::Value;

/// The kinds of Kubernetes that are built.
const KINDS: [&str; 8] = [
    "io.k8s.api.apps.v1.DaemonSet",
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.apps.v1.StatefulSet",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
];

/// The names of fields, by what they are.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    pub(crate) whole_objects: BTreeSet<String>,
    pub(crate) merged_objects: BTreeSet<String>,
    pub(crate) merged_lists: BTreeSet<String>,
    pub(crate) whole_lists: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Shapes {
    /// Of every field that can be reached from the kinds, status apart.
    pub(crate) fn of(openapi: &Value) -> Self {
        let mut shapes = Self::default();
        for kind in KINDS {
            shapes.definition(&openapi["definitions"], kind);
        }
        shapes
    }

    fn definition(&mut self, all: &Value, name: &str) {
        if name.ends_with(".FieldsV1") || !self.seen.insert(name.to_owned()) {
            return;
        }
        let definition = &all[name];
        assert!(definition.is_object(), "{name}");
        for (field, schema) in definition["properties"].as_object().into_iter().flatten() {
            if field != "status" && field != "managedFields" {
                self.field(all, field, schema);
            }
        }
    }

    fn field(&mut self, all: &Value, name: &str, schema: &Value) {
        let reference =
            schema["$ref"].as_str().map(|path| path.trim_start_matches("#/definitions/").to_owned());
        let target = reference.as_ref().map_or(schema, |reference| &all[reference]);
        let whole = [schema, target].iter().any(|schema| schema["x-kubernetes-map-type"] == "atomic");
        match target["type"].as_str() {
            Some("object") if whole => drop(self.whole_objects.insert(name.to_owned())),
            Some("object") => {
                self.merged_objects.insert(name.to_owned());
                if let Some(reference) = &reference {
                    self.definition(all, reference);
                }
            }
            Some("array") => {
                let merged =
                    ["map", "set"].contains(&schema["x-kubernetes-list-type"].as_str().unwrap_or(""));
                let lists = if merged { &mut self.merged_lists } else { &mut self.whole_lists };
                lists.insert(name.to_owned());
                if let Some(path) = schema["items"]["$ref"].as_str().filter(|_| merged) {
                    self.definition(all, path.trim_start_matches("#/definitions/"));
                }
            }
            _ => {}
        }
    }
}
