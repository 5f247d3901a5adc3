//! The real API server, and requests to it.

use http::{Method, Request};
use kube::Client;
use muster_test_control_plane::ControlPlane;
use serde_json::Value;

/// What an API server answers a write with.
pub(crate) type Answer = Result<Value, Refusal>;

/// A refusal, with its causes (field, reason, message) in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) causes: Vec<(String, String, String)>,
}

/// Whether a write stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stays {
    Yes,
    No,
}

/// The objects of one resource on the real server.
pub(crate) struct Server {
    client: Client,
    path: String,
}

impl Server {
    /// The resource that an object is of.
    pub(crate) async fn of(object: &Value) -> Self {
        let version = object["apiVersion"].as_str().unwrap();
        let kind = object["kind"].as_str().unwrap();
        let root = if version.contains('/') { "apis" } else { "api" };
        let namespace = match kind {
            "Node" | "PersistentVolume" | "StorageClass" | "PriorityClass" => "",
            _ => "/namespaces/default",
        };
        let plural = match kind {
            "StorageClass" | "PriorityClass" => format!("{}es", kind.to_lowercase()),
            _ => format!("{}s", kind.to_lowercase()),
        };
        let client = ControlPlane::shared().unwrap().client().await.unwrap();
        Self { client, path: format!("/{root}/{version}{namespace}/{plural}") }
    }

    pub(crate) async fn create(&self, object: &Value, stays: Stays) -> Answer {
        self.write(Method::POST, &self.path, object, stays).await
    }

    /// Replaces an object, or its `/status`.
    pub(crate) async fn replace(&self, object: &Value, below: &str, stays: Stays) -> Answer {
        let path = format!("{}/{}{below}", self.path, object["metadata"]["name"].as_str().unwrap());
        self.write(Method::PUT, &path, object, stays).await
    }

    pub(crate) async fn list(&self) -> Vec<Value> {
        let request = Request::get(&self.path).body(Vec::new()).unwrap();
        let mut answer = self.client.request::<Value>(request).await.unwrap();
        serde_json::from_value(answer["items"].take()).unwrap_or_default()
    }

    pub(crate) async fn delete(&self, name: &str) {
        let path = format!("{}/{name}?gracePeriodSeconds=0", self.path);
        let request = Request::delete(path).body(Vec::new()).unwrap();
        self.client.request::<Value>(request).await.unwrap();
    }

    async fn write(&self, method: Method, path: &str, object: &Value, stays: Stays) -> Answer {
        let dry = if stays == Stays::No { "dryRun=All&" } else { "" };
        let uri = format!("{path}?{dry}fieldManager=test");
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .unwrap();
        match self.client.request::<Value>(request).await {
            Ok(object) => Ok(object),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.map(|details| details.causes).unwrap_or_default();
                let causes =
                    causes.into_iter().map(|cause| (cause.field, cause.reason, cause.message)).collect();
                Err(Refusal { code: status.code, reason: status.reason, message: status.message, causes })
            }
            Err(error) => panic!("{error}"),
        }
    }
}
