//! Validate: every check of a cluster's spec, with what it refers to.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_core::validation::references::{ClusterReferences, Lookup, SecretFacts};
use muster_core::validation::{Report, check_cluster};

use super::observe::Seen;
use crate::cache::Caches;
use crate::key::Name;

/// The annotation of the default storage class.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Checks the spec.
pub(super) fn validate(caches: &Caches, seen: &Seen) -> Report {
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
    let is_default = |class: &k8s_openapi::api::storage::v1::StorageClass| {
        class.annotations().get(DEFAULT_CLASS).is_some_and(|value| value == "true")
    };
    let default_class = caches.storage_classes.all().iter().any(|class| is_default(class));
    ClusterReferences {
        engine,
        namespace_labels: namespace_labels(caches, &seen.name.namespace),
        storage_classes: classes.map(class).collect(),
        default_storage_class: if default_class { Lookup::Found(()) } else { Lookup::NotFound },
        secrets: seen.secrets.iter().map(|(name, secret)| (name.clone(), facts(secret))).collect(),
    }
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
            let data = secret.data.clone().unwrap_or_default();
            let certificate = data.get("tls.crt").map(|bytes| bytes.0.as_slice());
            Lookup::Found(SecretFacts {
                holds_ca: certificate.is_some_and(crate::certificates::holds_ca),
                keys: data.into_keys().collect(),
            })
        }
        Lookup::NotFound => Lookup::NotFound,
        Lookup::Unreadable(why) => Lookup::Unreadable(why.clone()),
    }
}
