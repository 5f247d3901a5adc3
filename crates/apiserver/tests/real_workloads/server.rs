//! The real API server and ours, and requests to both.

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

/// Clients of both servers.
pub(crate) struct Sides {
    real: Client,
    ours: Client,
}

impl Sides {
    /// The real server, which all tests share, and one of ours.
    pub(crate) async fn new() -> Self {
        let real = ControlPlane::shared().unwrap().client().await.unwrap();
        let ours = muster_apiserver::server::Server::builder().build().await;
        Self { real, ours: Client::new(ours, "default") }
    }

    /// The resource that an object is of, on the real server and on ours.
    pub(crate) fn of(&self, object: &Value) -> [Objects; 2] {
        let path = path_of(object);
        [&self.real, &self.ours].map(|client| Objects { client: client.clone(), path: path.clone() })
    }
}

fn path_of(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let kind = object["kind"].as_str().unwrap();
    let root = if version.contains('/') { "apis" } else { "api" };
    let (namespace, end) = match kind {
        "Node" | "PersistentVolume" => ("", "s"),
        "StorageClass" | "PriorityClass" => ("", "es"),
        _ => ("/namespaces/default", "s"),
    };
    format!("/{root}/{version}{namespace}/{}{end}", kind.to_lowercase())
}

/// The objects of one resource on one server.
pub(crate) struct Objects {
    client: Client,
    path: String,
}

impl Objects {
    pub(crate) async fn create(&self, object: &Value, stays: Stays) -> Answer {
        self.write(Method::POST, &self.path, object, stays).await
    }

    /// Replaces an object, or its `/status`.
    pub(crate) async fn replace(&self, object: &Value, below: &str, stays: Stays) -> Answer {
        let path = format!("{}/{}{below}", self.path, object["metadata"]["name"].as_str().unwrap());
        self.write(Method::PUT, &path, object, stays).await
    }

    /// Deletes an object, as the `query` asks.
    pub(crate) async fn delete(&self, name: &str, query: &str) -> Answer {
        let path = format!("{}/{name}?{query}", self.path);
        self.send(Request::delete(path).body(Vec::new()).unwrap()).await
    }

    pub(crate) async fn get(&self, name: &str) -> Answer {
        self.send(Request::get(format!("{}/{name}", self.path)).body(Vec::new()).unwrap()).await
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
        self.send(request).await
    }

    async fn send(&self, request: Request<Vec<u8>>) -> Answer {
        let answer = self.client.request::<Value>(request).await;
        match answer {
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
