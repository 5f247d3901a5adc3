//! One of the two servers: how an operation is sent to it, and what its clients remember.

use std::collections::HashMap;

use futures::StreamExt;
use http::Request;
use kube::Client;
use serde_json::{Value, json};

use crate::normal::Names;
use crate::operation::{Action, Kind, Operation};

/// A server, with what its clients saw last.
pub(crate) struct Side {
    client: Client,
    namespace: String,
    seen: HashMap<(usize, Kind, &'static str), Value>,
    pub(crate) names: Names,
}

impl Side {
    /// A namespace of its own on this server.
    pub(crate) async fn new(client: Client, namespace: &str) -> Self {
        let side =
            Self { client, namespace: namespace.to_owned(), seen: HashMap::new(), names: Names::default() };
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        side.client.request::<Value>(post("/api/v1/namespaces", &object)).await.unwrap();
        side
    }

    fn collection(&self, kind: Kind) -> String {
        let namespace = &self.namespace;
        match kind {
            Kind::Widget => format!("/apis/histories.muster.dev/v1/namespaces/{namespace}/widgets"),
            Kind::ConfigMap => format!("/api/v1/namespaces/{namespace}/configmaps"),
        }
    }

    /// Does it, and says what came of it in words that can be compared.
    pub(crate) async fn play(&mut self, operation: &Operation) -> Value {
        let key = (operation.client, operation.kind, operation.name);
        let request = self.request(operation, self.seen.get(&key));
        match self.client.request::<Value>(request).await {
            Ok(answer) => {
                let is_object = answer.get("items").is_none() && answer["kind"] != "Status";
                if is_object && !operation.dry {
                    self.seen.insert(key, answer.clone());
                }
                if answer["kind"] == "Status" {
                    return json!({"status": answer["status"], "name": answer["details"]["name"]});
                }
                self.names.normal(&answer)
            }
            Err(kube::Error::Api(status)) => self.names.refusal(&status),
            Err(error) => panic!("{operation:?}: {error}"),
        }
    }

    fn request(&self, operation: &Operation, seen: Option<&Value>) -> Request<Vec<u8>> {
        let Operation { client, name, action, dry, .. } = operation;
        let collection = self.collection(operation.kind);
        let dry = if *dry { "&dryRun=All" } else { "" };
        let manager = format!("fieldManager=client-{client}{dry}");
        let one =
            |status: bool| format!("{collection}/{name}{}?{manager}", if status { "/status" } else { "" });
        let last = |field: &str| seen.map_or(Value::from("none"), |seen| seen["metadata"][field].clone());
        let (method, uri, content_type, body) = match action {
            Action::Create(object) => {
                ("POST", format!("{collection}?{manager}"), "application/json", object.clone())
            }
            Action::Update { change, status, versioned } => {
                let mut object = seen.cloned().unwrap_or_else(|| bare(operation));
                merge(&mut object, change);
                if !versioned && let Some(metadata) = object["metadata"].as_object_mut() {
                    metadata.remove("resourceVersion");
                }
                ("PUT", one(*status), "application/json", object)
            }
            Action::Patch { form, patch, status } => {
                let content_type = match *form {
                    "json" => "application/json-patch+json",
                    "strategic" => "application/strategic-merge-patch+json",
                    _ => "application/merge-patch+json",
                };
                ("PATCH", one(*status), content_type, patch.clone())
            }
            Action::Apply { config, force, status } => {
                let uri = format!("{}&force={force}", one(*status));
                ("PATCH", uri, "application/apply-patch+yaml", config.clone())
            }
            Action::Delete(options) => {
                let text = options.to_string().replace("\"${uid}\"", &last("uid").to_string());
                let text = text.replace("\"${resourceVersion}\"", &last("resourceVersion").to_string());
                let mut options: Value = serde_json::from_str(&text).unwrap();
                if operation.dry {
                    // With a body, nobody looks into the query.
                    options["dryRun"] = json!(["All"]);
                }
                ("DELETE", format!("{collection}/{name}"), "application/json", options)
            }
            Action::DeleteCollection(labels) => (
                "DELETE",
                format!("{collection}?labelSelector={labels}{dry}"),
                "application/json",
                Value::Null,
            ),
            Action::Get => ("GET", format!("{collection}/{name}"), "application/json", Value::Null),
            Action::List(labels) => {
                let labels = labels.replace(' ', "%20");
                ("GET", format!("{collection}?labelSelector={labels}"), "application/json", Value::Null)
            }
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Request::builder().method(method).uri(uri).header("content-type", content_type).body(body).unwrap()
    }

    /// What happened to objects of this kind since this version, up to the deletion of the object called `last`.
    pub(crate) async fn history(&mut self, kind: Kind, since: &str, last: &str) -> Vec<Value> {
        let uri = format!("{}?watch=true&timeoutSeconds=30&resourceVersion={since}", self.collection(kind));
        let stream =
            self.client.request_events::<Value>(Request::get(uri).body(Vec::new()).unwrap()).await.unwrap();
        let mut stream = std::pin::pin!(stream);
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            let (kind, object) = match event.unwrap() {
                kube::api::WatchEvent::Added(object) => ("ADDED", object),
                kube::api::WatchEvent::Modified(object) => ("MODIFIED", object),
                kube::api::WatchEvent::Deleted(object) => ("DELETED", object),
                other => panic!("{other:?}"),
            };
            let ends = kind == "DELETED" && object["metadata"]["name"] == last;
            events.push(json!([kind, self.names.normal(&object)]));
            if ends {
                return events;
            }
        }
        panic!("the watch ended before {last} came: {events:?}")
    }

    /// The version of the collection now.
    pub(crate) async fn version(&self, kind: Kind) -> String {
        let request = Request::get(self.collection(kind)).body(Vec::new()).unwrap();
        let list = self.client.request::<Value>(request).await.unwrap();
        list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    }

    /// Makes an object and takes it away: the end of a history.
    pub(crate) async fn end(&self, kind: Kind, last: &str) {
        let object = bare_object(kind, last);
        self.client.request::<Value>(post(&self.collection(kind), &object)).await.unwrap();
        let path = format!("{}/{last}", self.collection(kind));
        self.client.request::<Value>(Request::delete(path).body(Vec::new()).unwrap()).await.unwrap();
    }
}

fn post(uri: &str, object: &Value) -> Request<Vec<u8>> {
    let request = Request::post(uri).header("content-type", "application/json");
    request.body(object.to_string().into_bytes()).unwrap()
}

fn bare(operation: &Operation) -> Value {
    bare_object(operation.kind, operation.name)
}

fn bare_object(kind: Kind, name: &str) -> Value {
    let (version, kind) = match kind {
        Kind::Widget => ("histories.muster.dev/v1", "Widget"),
        Kind::ConfigMap => ("v1", "ConfigMap"),
    };
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}})
}

/// Puts a change into an object; null takes away.
fn merge(object: &mut Value, change: &Value) {
    let (Some(fields), Some(changes)) = (object.as_object_mut(), change.as_object()) else {
        *object = change.clone();
        return;
    };
    for (name, value) in changes {
        if value.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}
