//! What a kind sees of the server around an object.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::Server;
use crate::kind::{Around, Given};
use crate::lifecycle::{Source, metadata};
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

    fn now(&self) -> String {
        metadata::time_text(self.source().now())
    }

    fn random(&self) -> u64 {
        self.source().random()
    }
}
