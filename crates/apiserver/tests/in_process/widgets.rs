//! The scene: a server that serves widgets.

use std::sync::Arc;

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use kube::{Api, Client};
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::{Faults, NoFaults};
use muster_apiserver::server::source::Seeded;
use serde_json::{Value, json};

/// A server with this much going wrong, and a client of it.
pub(crate) async fn server_with(faults: Arc<dyn Faults>) -> (Server, Client) {
    let source = Seeded::new(1, "2026-01-01T00:00:00Z".parse().unwrap());
    let server = Server::builder().source(source).faults(faults).build().await;
    let client = Client::new(server.clone(), "default");
    crds(&client).create(&PostParams::default(), &read(definition())).await.unwrap();
    (server, client)
}

/// A server where nothing goes wrong.
pub(crate) async fn server() -> (Server, Client) {
    server_with(Arc::new(NoFaults)).await
}

/// The definitions.
pub(crate) fn crds(client: &Client) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &definitions())
}

/// The widgets of the default namespace.
pub(crate) fn widgets(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.org", "v1", "Widget");
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "widgets"))
}

pub(crate) fn widget(name: &str, size: i64) -> DynamicObject {
    read(json!({
        "apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size},
    }))
}

pub(crate) fn read(object: Value) -> DynamicObject {
    serde_json::from_value(object).unwrap()
}

fn definitions() -> ApiResource {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions")
}

pub(crate) fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "minimum": 0},
            "colour": {"type": "string", "default": "red"},
        }},
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}, "size": {"type": "integer"}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                },
                "selectableFields": [{"jsonPath": ".spec.colour"}],
            }],
        },
    })
}
