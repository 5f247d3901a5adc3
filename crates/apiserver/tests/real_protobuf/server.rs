//! The real server, asked for objects in both forms.

use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use muster_apiserver::protobuf::{self, MEDIA_TYPE};
use muster_apiserver::registry::Resource;
use muster_test_control_plane::ControlPlane;
use serde_json::Value;

pub(crate) struct Server(kube::Client);

impl Server {
    pub(crate) async fn new() -> Self {
        Self(ControlPlane::shared().unwrap().client().await.unwrap())
    }

    /// What is answered as JSON; a refusal fails the test.
    pub(crate) async fn json(&self, method: &str, path: &str, body: &Value) -> Value {
        let (is_good, bytes) = self.ask(method, path, body, "application/json").await;
        let text = String::from_utf8_lossy(&bytes);
        assert!(is_good, "{method} {path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// What is answered as protobuf, read by us.
    pub(crate) async fn protobuf(&self, method: &str, path: &str, body: &Value) -> Value {
        let (_, bytes) = self.ask(method, path, body, MEDIA_TYPE).await;
        protobuf::decode(&bytes).unwrap_or_else(|error| panic!("{method} {path}: {error}: {bytes:?}"))
    }

    async fn ask(&self, method: &str, path: &str, body: &Value, accept: &str) -> (bool, Vec<u8>) {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("Content-Type", kind);
        let answer =
            self.0.send(request.header("Accept", accept).body(Body::from(body)).unwrap()).await.unwrap();
        let is_good = answer.status().is_success();
        (is_good, answer.into_body().collect().await.unwrap().to_bytes().to_vec())
    }
}

/// The path of all objects of a resource, or of those in a namespace.
pub(crate) fn path(resource: &Resource, namespace: Option<&str>) -> String {
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    let namespace = namespace.filter(|_| resource.traits.namespaced);
    let namespace = namespace.map_or_else(String::new, |name| format!("/namespaces/{name}"));
    format!("/{root}/{}{namespace}/{}", resource.api_version(), resource.plural)
}
