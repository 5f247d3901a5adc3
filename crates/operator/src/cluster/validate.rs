//! Validate: every check of a cluster's spec, with what it refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_api::ReplicationEngine;
use muster_core::validation::references::{ClusterReferences, Lookup, SecretFacts};
use muster_core::validation::{Report, check_cluster};

use super::observe::{Secrets, Seen};
use crate::cache::Caches;
use crate::key::Name;
use crate::memory::Memory;

/// The annotation of the default storage class.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// All that a check depends on: as long as that is the same, so is what it finds.
#[derive(Clone)]
pub struct Checked {
    generation: i64,
    engine: Option<(Option<String>, Option<String>)>,
    classes: Vec<Option<String>>,
    has_default_class: bool,
    namespace: Option<String>,
    secrets: Arc<Secrets>,
}

impl Checked {
    fn of(caches: &Caches, seen: &Seen) -> Self {
        let version = |engine: &Arc<ReplicationEngine>| (engine.uid(), engine.resource_version());
        let class = |name: &String| caches.storage_classes.get(&Name::new("", name)).and_then(|it| it.uid());
        let classes = seen.cluster.spec.pools.iter().map(|pool| &pool.storage.storage_class_name);
        let namespace = caches.namespaces.get(&Name::new("", &seen.name.namespace));
        Self {
            generation: seen.generation(),
            engine: seen.engine.as_ref().map(version),
            classes: classes.map(|name| name.as_ref().and_then(class)).collect(),
            has_default_class: has_default_class(caches),
            namespace: namespace.and_then(|namespace| namespace.resource_version()),
            secrets: seen.secrets.clone(),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.generation == other.generation
            && self.engine == other.engine
            && self.classes == other.classes
            && self.has_default_class == other.has_default_class
            && self.namespace == other.namespace
            && Arc::ptr_eq(&self.secrets, &other.secrets)
    }
}

/// Checks the spec, unless that was done with all that it depends on.
pub(super) fn validate(caches: &Caches, seen: &Seen, memory: &mut Memory) -> Report {
    let checked = Checked::of(caches, seen);
    if let (Some(before), Some((_, report))) = (&memory.checked, &memory.report)
        && before.is(&checked)
    {
        return report.clone();
    }
    memory.checked = Some(checked);
    check_cluster(&seen.cluster, &references(caches, seen))
}

fn references(caches: &Caches, seen: &Seen) -> ClusterReferences {
    let engine = match &seen.engine {
        Some(engine) => Lookup::Found(engine.spec.clone()),
        None => Lookup::NotFound,
    };
    let classes = seen.cluster.spec.pools.iter().filter_map(|pool| pool.storage.storage_class_name.clone());
    let class = |name: String| {
        let found = caches.storage_classes.get(&Name::new("", &name)).map(|_| ());
        (name, found.map_or(Lookup::NotFound, Lookup::Found))
    };
    let default_class = has_default_class(caches);
    ClusterReferences {
        engine,
        namespace_labels: namespace_labels(caches, &seen.name.namespace),
        storage_classes: classes.map(class).collect(),
        default_storage_class: if default_class { Lookup::Found(()) } else { Lookup::NotFound },
        secrets: seen.secrets.iter().map(|(name, secret)| (name.clone(), facts(secret))).collect(),
    }
}

fn has_default_class(caches: &Caches) -> bool {
    let is_default = |class: &k8s_openapi::api::storage::v1::StorageClass| {
        class.annotations().get(DEFAULT_CLASS).is_some_and(|value| value == "true")
    };
    caches.storage_classes.all().iter().any(|class| is_default(class))
}

fn namespace_labels(caches: &Caches, namespace: &str) -> Lookup<BTreeMap<String, String>> {
    if !caches.namespaces.watched() {
        let why = "this operator is restricted to one namespace and may not read its labels";
        return Lookup::Unreadable(why.to_owned());
    }
    match caches.namespaces.get(&Name::new("", namespace)) {
        Some(namespace) => Lookup::Found(namespace.labels().clone()),
        None => Lookup::NotFound,
    }
}

/// What may be known of a Secret.
pub fn facts(secret: &Lookup<Secret>) -> Lookup<SecretFacts> {
    match secret {
        Lookup::Found(secret) => {
            let data = secret.data.iter().flatten().map(|(key, value)| (key, value.0.as_slice()));
            Lookup::Found(SecretFacts::of(data))
        }
        Lookup::NotFound => Lookup::NotFound,
        Lookup::Unreadable(why) => Lookup::Unreadable(why.clone()),
    }
}
