//! What a kind sees of the server around an object.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::Server;
use super::call::Call;
use crate::error::ApiError;
use crate::kind::{Around, Given, ServiceNetwork};
use crate::lifecycle::{Part, Source, metadata};
use crate::store::{Key, Scope};

impl Around for Server {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let key = Key::new(&Arc::from(resource), namespace, name);
        self.store().get(&key).map(|stored| Arc::new(stored.object.value()))
    }

    fn list(&self, resource: &str) -> Vec<Arc<Value>> {
        let scope = Scope { resource: Arc::from(resource), namespace: None };
        let objects = self.store().list(&scope).objects;
        objects.into_iter().map(|(_, stored)| Arc::new(stored.object.value())).collect()
    }

    fn given(&self) -> Given {
        self.0.given.lock().unwrap_or_else(PoisonError::into_inner).now(self.store())
    }

    fn service_network(&self) -> ServiceNetwork {
        self.0.service_network
    }

    fn now(&self) -> String {
        metadata::time_text(self.source().now())
    }

    fn random(&self) -> u64 {
        self.source().random()
    }
}

/// The server around an object that will not be stored.
struct DryRun<'a>(&'a Server);

impl Around for DryRun<'_> {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        Around::get(self.0, resource, namespace, name)
    }

    fn list(&self, resource: &str) -> Vec<Arc<Value>> {
        Around::list(self.0, resource)
    }

    fn given(&self) -> Given {
        self.0.given()
    }

    fn service_network(&self) -> ServiceNetwork {
        self.0.service_network()
    }

    fn now(&self) -> String {
        Around::now(self.0)
    }

    fn random(&self) -> u64 {
        Around::random(self.0)
    }

    fn is_dry_run(&self) -> bool {
        true
    }
}

impl Server {
    /// The server's own part in an object, which on a dry run will not be stored.
    pub(super) fn prepare(
        &self,
        call: &Call,
        object: &mut Value,
        old: Option<&Value>,
        dry_run: bool,
    ) -> Result<(), ApiError> {
        let around: &dyn Around = if dry_run { &DryRun(self) } else { self };
        let part = if old.is_some() { call.part() } else { Part::Whole };
        call.resource.kind.prepare(object, old, part, around)
    }
}
