//! Every namespace has a config map with the certificate by which what runs there knows the server.

use std::sync::Arc;

use serde_json::{Value, json};

use super::feed::Seen;
use super::queue::Queue;
use crate::error::ApiError;
use crate::lifecycle::metadata;
use crate::server::Server;
use crate::store::Key;

const NAMESPACES: &str = "/namespaces";
const MAPS: &str = "/configmaps";
const NAME: &str = "kube-root-ca.crt";
const ANNOTATION: &str = "kubernetes.io/description";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the \
    internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// The namespaces whose config map may be missing or wrong; nothing is done where there is no certificate.
pub(super) struct Authority {
    certificate: Option<String>,
    queue: Queue<String>,
}

impl Authority {
    pub(super) fn new(certificate: Option<String>) -> Self {
        Self { certificate, queue: Queue::default() }
    }

    pub(super) fn observe(&mut self, seen: &Seen) {
        if self.certificate.is_none() {
            return;
        }
        if seen.is_of(NAMESPACES) && !seen.gone {
            self.queue.add(seen.key.name.clone());
        } else if seen.is_of(MAPS) && seen.key.name == NAME {
            self.queue.add(seen.key.namespace.clone());
        }
    }

    /// Looks at what is in the queue; whether something failed.
    pub(super) async fn work(&mut self, server: &Server) -> bool {
        let Some(certificate) = self.certificate.clone() else { return false };
        self.queue.begin();
        while let Some(namespace) = self.queue.next() {
            let outcome = publish(server, &namespace, &certificate).await;
            self.queue.done(namespace, &outcome);
        }
        self.queue.has_failed()
    }
}

async fn publish(server: &Server, namespace: &str, certificate: &str) -> Result<(), ApiError> {
    let key = |resource: &str, namespace: &str, name: &str| Key::new(&Arc::from(resource), namespace, name);
    let stays = server
        .own_get(&key(NAMESPACES, "", namespace))
        .is_some_and(|namespace| !metadata::is_ending(&namespace));
    if !stays {
        return Ok(());
    }
    let map = key(MAPS, namespace, NAME);
    let data = json!({"ca.crt": certificate});
    match server.own_get(&map) {
        None => {
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": data,
                "metadata": {"name": NAME, "namespace": namespace, "annotations": {ANNOTATION: DESCRIPTION}},
            });
            server.own_create(&map, &object).await
        }
        Some(found) if found["data"] == data && is_described(&found) => Ok(()),
        Some(_) => server.own_change(&map, None, |found| correct(found, &data)).await,
    }
}

fn is_described(map: &Value) -> bool {
    map["metadata"]["annotations"][ANNOTATION].as_str().is_some_and(|text| !text.is_empty())
}

fn correct(map: &mut Value, data: &Value) {
    map["data"] = data.clone();
    if !map["metadata"]["annotations"].is_object() {
        map["metadata"]["annotations"] = json!({});
    }
    map["metadata"]["annotations"][ANNOTATION] = DESCRIPTION.into();
}
