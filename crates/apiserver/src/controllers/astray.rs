//! What names an owner that lives in another namespace: it goes, or stays for ever, and an event says why.

use std::sync::Arc;

use serde_json::{Value, json};

use super::owners::Owner;
use crate::kind::Around;
use crate::lifecycle::metadata;
use crate::server::Server;
use crate::store::{Document, Key, Scope};

const EVENTS: &str = "/events";
const COMPONENT: &str = "garbage-collector-controller";
/// Where events about what has no namespace are.
const DEFAULT: &str = "default";

/// Whether something in this namespace names an owner that is in another one. An owner of that name that is not there at all
/// has ended, or never was.
pub(super) fn is_astray(server: &Server, owner: &Owner, namespace: &str) -> bool {
    let Some(resource) = server.resource_by_kind(&owner.api_version, &owner.kind) else { return false };
    if !resource.traits.namespaced {
        return false;
    }
    let is_it = |found: &Document| metadata::text(&found.value(), "uid") == owner.uid;
    let here = server.store().get(&Key::new(&resource.id, namespace, &owner.name));
    if here.is_some_and(|here| is_it(&here.object)) {
        return false;
    }
    let scope = Scope { resource: resource.id.clone(), namespace: None };
    let all = server.store().list(&scope).objects;
    all.iter()
        .any(|(key, found)| key.name == owner.name && key.namespace != namespace && is_it(&found.object))
}

/// Says so, to whoever asks for events. One that cannot be written is lost, as events are.
pub(super) async fn tell(server: &Server, key: &Key, owner: &Owner) {
    let Some(object) = server.own_get(key) else { return };
    let namespace = if key.namespace.is_empty() { DEFAULT } else { &key.namespace };
    let name = format!("{}.{:016x}", key.name, Around::random(server));
    let event = event(&object, key, owner, (namespace, &name), &Around::now(server));
    let _ = server.own_create(&Key::new(&Arc::from(EVENTS), namespace, &name), &event).await;
}

fn event(object: &Value, key: &Key, owner: &Owner, (namespace, name): (&str, &str), now: &str) -> Value {
    let mut about = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": key.name,
        "uid": metadata::text(object, "uid"),
    });
    if !key.namespace.is_empty() {
        about["namespace"] = key.namespace.clone().into();
    }
    let Owner { api_version, kind, name: of, uid, .. } = owner;
    let here = &key.namespace;
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace},
        "involvedObject": about, "type": "Warning", "reason": "OwnerRefInvalidNamespace",
        "message": format!(
            "ownerRef [{api_version}/{kind}, namespace: {here}, name: {of}, uid: {uid}] does not exist in namespace {here:?}"
        ),
        "source": {"component": COMPONENT}, "reportingComponent": COMPONENT, "reportingInstance": "",
        "count": 1, "firstTimestamp": now, "lastTimestamp": now, "eventTime": null,
    })
}
