//! What is served: the built-in resources, and those that stored definitions make, with what the controllers of
//! definitions do inside the server: they give out names, begin to serve, and clean up.

use std::sync::Arc;

use http::HeaderMap;
use serde_json::Value;

use super::Server;
use super::call::Call;
use super::delete::DeleteOptions;
use super::objects;
use crate::apply::{Write, track_update};
use crate::kind::built_in::catalogue;
use crate::kind::objects::{cleaned, deleting, established};
use crate::kind::{Around, objects as particulars};
use crate::lifecycle::{self, Source as _, metadata};
use crate::registry::{Definition, Resource};
use crate::request::query::Query;
use crate::store::{Expect, Key, Scope, Stored};

/// Under which definitions are kept.
pub(super) const RESOURCE: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// Under which the server owns the status of definitions.
const MANAGER: &str = "kube-apiserver";

/// How often a definition is settled again when someone else writes it at the same time.
const MAX_TRIES: usize = 100;

impl Server {
    /// Serves what is always served.
    pub(super) fn serve_built_in(&self) {
        for resource in catalogue::resources() {
            self.registry().add(resource);
        }
    }

    /// Whether this group is served without any definition.
    pub(super) fn is_built_in(&self, group: &str) -> bool {
        let reviews = ["authentication.k8s.io", "authorization.k8s.io"];
        reviews.contains(&group)
            || self.registry().all().iter().any(|one| one.group == group && one.stored.is_none())
    }

    /// Serves what the stored definitions make, after a restart, and does what the end of the process left undone.
    pub(super) async fn serve_stored_definitions(&self) {
        let definitions = self.definitions();
        for (_, crd) in &definitions {
            self.serve_definition(crd);
        }
        for (_, crd) in definitions {
            self.settle_definition(metadata::text(&crd, "name")).await;
        }
    }

    /// Every definition there is.
    fn definitions(&self) -> Vec<(Stored, Value)> {
        let Some(resource) = self.resource_of_definitions() else { return Vec::new() };
        let scope = Scope { resource: Arc::from(RESOURCE), namespace: None };
        let objects = self.store().list(&scope).objects.into_iter();
        objects
            .map(|(_, stored)| {
                let crd = objects::load_stored(&resource, &stored);
                (stored, crd)
            })
            .collect()
    }

    fn resource_of_definitions(&self) -> Option<Arc<Resource>> {
        self.registry().find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    }

    /// Serves what this definition makes, from now on; nothing if its names belong to another.
    fn serve_definition(&self, crd: &Value) {
        let Ok(definition) = Definition::read(crd) else { return };
        let served = if particulars::is_established(crd) { definition.resources() } else { Vec::new() };
        self.serve_only(&definition.group, &definition.plural, served);
    }

    /// Serves these versions of a resource that a definition makes. In a group that is built in nothing is served but what is
    /// built in, although a definition that is approved gets its names there, as with kube-apiserver.
    fn serve_only(&self, group: &str, plural: &str, versions: Vec<Resource>) {
        if !self.is_built_in(group) {
            self.registry().replace(group, plural, versions);
        }
    }

    /// What follows from the write of a definition: it gets its names and is served, or its objects are deleted.
    pub(super) async fn settle_definition(&self, name: &str) {
        let Some(resource) = self.resource_of_definitions() else { return };
        let key = Key::new(&resource.id, "", name);
        for _ in 0..MAX_TRIES {
            let Some(stored) = self.store().get(&key) else { return self.serve_no_longer(name) };
            let crd = objects::load_stored(&resource, &stored);
            let next = if metadata::is_ending(&crd) {
                // From now on whoever removes an object of it looks whether it was the last one.
                self.serve_definition(&crd);
                self.end_definition(&crd).await
            } else {
                let others: Vec<Value> = self.definitions().into_iter().map(|(_, crd)| crd).collect();
                let others: Vec<Value> =
                    others.into_iter().filter(|other| metadata::text(other, "name") != name).collect();
                established(&crd, &others, &Around::now(self))
            };
            let Some(next) = next else {
                self.serve_definition(&crd);
                // Written again meanwhile, perhaps served so already: then what is served now is old.
                if self.store().get(&key).is_some_and(|now| now.revision == stored.revision) {
                    return;
                }
                continue;
            };
            let next = self.kept_by_server(&resource, &crd, next);
            let draft = objects::draft(&resource, &next);
            let written = if lifecycle::ends(&next) {
                self.store().remove_with(&key, draft, stored.revision).await
            } else {
                self.store().put_with(key.clone(), draft, Expect::At(stored.revision), Vec::new()).await
            };
            if written.is_ok() && lifecycle::ends(&next) {
                return self.forget_definition(&next).await;
            }
        }
    }

    fn serve_no_longer(&self, name: &str) {
        if let Some((plural, group)) = name.split_once('.') {
            self.serve_only(group, plural, Vec::new());
        }
    }

    /// The definition with a status that the server itself owns.
    fn kept_by_server(&self, resource: &Resource, old: &Value, next: Value) -> Value {
        let sharing = resource.kind.sharing();
        let write = Write {
            typings: &sharing.typings,
            api_version: &resource.api_version(),
            kind: &resource.kind_name,
            subresource: "status",
            manager: MANAGER,
            reset: &sharing.reset_by_status,
            empty: &sharing.empty,
            now: self.source().now(),
        };
        track_update(Some(old), next, &write)
    }

    /// The definition with its objects gone; or while they are going; none when that is what it says.
    async fn end_definition(&self, crd: &Value) -> Option<Value> {
        let now = Around::now(self);
        let definition = Definition::read(crd).ok().filter(|found| !self.is_built_in(&found.group));
        let Some(definition) = definition else { return Some(cleaned(crd, &now)) };
        if let Some(resource) = definition.resources().into_iter().next() {
            self.delete_all(Arc::new(resource)).await;
        }
        let scope = Scope {
            resource: Arc::from(format!("{}/{}", definition.group, definition.plural)),
            namespace: None,
        };
        let is_empty = self.store().list(&scope).objects.is_empty();
        let next = if is_empty { cleaned(crd, &now) } else { deleting(crd, &now) };
        (next != *crd).then_some(next)
    }

    async fn delete_all(&self, resource: Arc<Resource>) {
        let scope = Scope { resource: resource.id.clone(), namespace: None };
        for (key, _) in self.store().list(&scope).objects {
            let call = Call {
                resource: resource.clone(),
                namespace: resource.traits.namespaced.then_some(key.namespace.clone()),
                name: Some(key.name.clone()),
                subresource: None,
                query: Query::default(),
                headers: HeaderMap::new(),
                body: bytes::Bytes::new(),
            };
            // One with finalizers stays for a while, and one that is gone is gone.
            let _ = Box::pin(self.delete_object(&call, &DeleteOptions::default())).await;
        }
    }

    /// Serves it no longer, and lets others have its names.
    async fn forget_definition(&self, crd: &Value) {
        if let Ok(definition) = Definition::read(crd) {
            self.serve_only(&definition.group, &definition.plural, Vec::new());
        }
        for (_, other) in self.definitions() {
            let waits = !particulars::is_established(&other);
            if waits {
                Box::pin(self.settle_definition(metadata::text(&other, "name"))).await;
            }
        }
    }

    /// What follows from the end of a custom object: perhaps its definition was waiting for it.
    pub(super) async fn after_removal(&self, resource: &Resource) {
        // A definition is large: it is read only if it may be ending.
        let served = self.registry().find(&resource.group, &resource.version, &resource.plural);
        if served.is_some_and(|served| !served.ending) {
            return;
        }
        let name = format!("{}.{}", resource.plural, resource.group);
        let ending = Around::get(self, RESOURCE, "", &name).is_some_and(|crd| metadata::is_ending(&crd));
        if ending {
            Box::pin(self.settle_definition(&name)).await;
        }
    }
}
