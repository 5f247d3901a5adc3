//! The real API server, and requests to it.

use http::Request;
use kube::Client;
use muster_apiserver::registry::Resource;
use muster_test_control_plane::ControlPlane;
use serde_json::Value;

/// The path of a resource, in the namespace `default` if it has one.
pub(crate) fn path(resource: &Resource) -> String {
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    let namespace = if resource.traits.namespaced { "/namespaces/default" } else { "" };
    format!("/{root}/{}{namespace}/{}", resource.api_version(), resource.plural)
}

pub(crate) async fn client() -> Client {
    ControlPlane::shared().unwrap().client().await.unwrap()
}

pub(crate) async fn get(client: &Client, path: &str) -> Value {
    client.request(Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
}

/// Creates an object without creating it: gives what it would be, or the code and the message of the refusal.
pub(crate) async fn try_out(
    client: &Client,
    resource: &Resource,
    object: &Value,
    validation: &str,
) -> Result<Value, (u16, String)> {
    let path = format!("{}?dryRun=All&fieldValidation={validation}", path(resource));
    let request = Request::post(path).header("Content-Type", "application/json");
    match client.request(request.body(object.to_string().into_bytes()).unwrap()).await {
        Ok(object) => Ok(object),
        Err(kube::Error::Api(status)) => Err((status.code, status.message.clone())),
        Err(other) => panic!("{other}"),
    }
}
