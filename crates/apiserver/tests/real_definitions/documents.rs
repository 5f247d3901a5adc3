//! Our API description has the operations and the custom schemas of the real one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Request;
use kube::Client;
use muster_apiserver::kind::built_in::catalogue;
use muster_apiserver::openapi;
use muster_apiserver::registry::{Definition, Resource};
use muster_test_control_plane::{ControlPlane, eventually};
use serde_json::{Map, Value, json};

use crate::server;

/// How long the real server may take to describe a new kind.
const PATIENCE: Duration = Duration::from_secs(30);

fn crd() -> Value {
    let schema = json!({"type": "object", "description": "A gadget.", "required": ["spec"], "properties": {
        "spec": {"type": "object", "description": "What is wanted.", "properties": {
            "count": {"type": "integer", "default": 1, "minimum": 0, "nullable": true},
            "size": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {
                "type": "object", "required": ["a"], "properties": {"a": {"type": "string", "enum": ["x"]}},
            }},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "inner": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }},
        "status": {"type": "object", "properties": {"count": {"type": "integer"}}},
    }});
    let scale = json!({"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale": scale},
        "schema": {"openAPIV3Schema": schema},
    });
    let names = json!({"plural": "described", "singular": "described", "kind": "Described", "listKind": "DescribedList"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "described.openapi.example.org"},
        "spec": {"group": "openapi.example.org", "scope": "Namespaced", "names": names, "versions": [version]},
    })
}

async fn make(client: &Client, crd: &Value) {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let request = Request::post(path).header("Content-Type", "application/json");
    client.request::<Value>(request.body(crd.to_string().into_bytes()).unwrap()).await.unwrap();
}

/// The real description, as soon as there is one.
fn real(place: &str) -> Value {
    let control = ControlPlane::shared().unwrap();
    let path = format!("/openapi/v3/{place}");
    let ask = || {
        let output = control.kubectl(&["get", "--raw", &path]).unwrap();
        serde_json::from_slice(&output.stdout).map_err(|_| output)
    };
    eventually(Instant::now() + PATIENCE, ask).unwrap()
}

#[tokio::test]
async fn operations_are_those_of_the_real_description() {
    let client = server::client().await;
    make(&client, &crd()).await;
    let custom = Definition::read(&crd()).unwrap().resources();
    let served: Vec<Arc<Resource>> = catalogue::resources().into_iter().chain(custom).map(Arc::new).collect();
    for place in openapi::index(&served)["paths"].as_object().unwrap().keys() {
        let (ours, real) = (openapi::document(&served, place).unwrap(), real(place));
        for (path, item) in ours["paths"].as_object().unwrap() {
            for (method, operation) in
                item.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters")
            {
                let other = &real["paths"][path][method];
                for field in ["operationId", "x-kubernetes-action", "x-kubernetes-group-version-kind", "tags"]
                {
                    assert_eq!(operation[field], other[field], "{field} of {method} {path}");
                }
                let (ours, real) = (parameters(item, operation), parameters(&real["paths"][path], other));
                // Built-in kinds take a version to read from too, without saying so.
                let more: Vec<_> = ours.difference(&real).filter(|name| *name != "resourceVersion").collect();
                assert!(more.is_empty(), "{more:?} of {method} {path}");
                assert!(
                    ours.contains("fieldValidation") == real.contains("fieldValidation"),
                    "{method} {path}"
                );
            }
        }
        for (name, schema) in ours["components"]["schemas"].as_object().unwrap() {
            if name.starts_with("org.example") {
                assert_eq!(schema, &real["components"]["schemas"][name], "{name}");
            }
        }
    }
}

fn parameters(item: &Value, operation: &Value) -> BTreeSet<String> {
    let lists = [item.get("parameters"), operation.get("parameters")];
    let all = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    all.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn version_2_has_the_same_definitions() {
    let client = server::client().await;
    let served: Vec<Arc<Resource>> = catalogue::resources().into_iter().map(Arc::new).collect();
    let (ours, real) = (openapi::v2(&served), server::get(&client, "/openapi/v2").await);
    for (name, schema) in ours["definitions"].as_object().unwrap() {
        let (ours, real) = (properties(schema), properties(&real["definitions"][name]));
        assert_eq!(ours, real, "{name}");
    }
}

/// The names of properties with their types or references.
fn properties(schema: &Value) -> Map<String, Value> {
    let all = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, property)| {
        (name.clone(), json!([property["type"], property["format"], property["$ref"]]))
    })
    .collect()
}
