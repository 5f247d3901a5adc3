//! Volumes and claims that are in use stay until they are not.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::feed::Seen;
use super::owners::release;
use super::queue::Queue;
use crate::error::ApiError;
use crate::lifecycle::metadata;
use crate::server::Server;
use crate::store::{Key, Scope};

const CLAIMS: &str = "/persistentvolumeclaims";
const VOLUMES: &str = "/persistentvolumes";
const PODS: &str = "/pods";
const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";

/// The claims and volumes that are ending and still protected.
#[derive(Default)]
pub(super) struct Protection {
    held: BTreeSet<Key>,
    queue: Queue<Key>,
}

impl Protection {
    pub(super) fn observe(&mut self, seen: &Seen) {
        if seen.is_of(PODS) {
            let here = self.held.iter().filter(|key| key.namespace == seen.key.namespace);
            here.for_each(|key| self.queue.add(key.clone()));
            return;
        }
        if !seen.is_of(CLAIMS) && !seen.is_of(VOLUMES) {
            return;
        }
        if !seen.gone && is_held(seen.object(), finalizer(&seen.key)) {
            self.held.insert(seen.key.clone());
            self.queue.add(seen.key.clone());
        } else {
            self.held.remove(&seen.key);
        }
    }

    /// Looks at what is in the queue; whether something failed.
    pub(super) async fn work(&mut self, server: &Server) -> bool {
        self.queue.begin();
        while let Some(key) = self.queue.next() {
            let outcome = free(server, &key).await;
            self.queue.done(key, &outcome);
        }
        self.queue.has_failed()
    }
}

fn finalizer(key: &Key) -> &'static str {
    if *key.resource == *CLAIMS { CLAIM_FINALIZER } else { VOLUME_FINALIZER }
}

fn is_held(object: &Value, finalizer: &str) -> bool {
    metadata::is_ending(object) && metadata::finalizers(object).contains(&finalizer)
}

async fn free(server: &Server, key: &Key) -> Result<(), ApiError> {
    let finalizer = finalizer(key);
    let Some(object) = server.own_get(key).filter(|object| is_held(object, finalizer)) else { return Ok(()) };
    let used = if finalizer == CLAIM_FINALIZER {
        is_mounted(server, key)
    } else {
        object.pointer("/status/phase").is_some_and(|phase| phase == "Bound")
    };
    if used {
        return Ok(());
    }
    server.own_change(key, None, |object| release(object, finalizer)).await
}

/// Whether a pod that was given to a node uses the claim.
fn is_mounted(server: &Server, claim: &Key) -> bool {
    let scope = Scope { resource: Arc::from(PODS), namespace: Some(claim.namespace.clone()) };
    let pods = server.store().list(&scope).objects.into_iter();
    pods.map(|(_, stored)| stored.object.value()).any(|pod| uses(&pod, &claim.name))
}

fn uses(pod: &Value, claim: &str) -> bool {
    let placed = pod.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    let volumes = pod.pointer("/spec/volumes").and_then(Value::as_array);
    let shut_down = metadata::is_ending(pod) && metadata::grace(pod) == Some(0);
    let made_for = |volume: &Value| {
        let name = volume.get("ephemeral").and(volume["name"].as_str());
        name.is_some_and(|name| claim == format!("{}-{name}", metadata::text(pod, "name")))
    };
    placed
        && volumes.into_iter().flatten().any(|volume| {
            let named = volume.pointer("/persistentVolumeClaim/claimName");
            named.is_some_and(|name| name == claim) || !shut_down && made_for(volume)
        })
}
