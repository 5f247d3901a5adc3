//! The real server, asked for documents.

use std::time::{Duration, Instant};

use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use muster_test_control_plane::{ControlPlane, eventually};
use serde_json::Value;
use tokio::runtime::Runtime;

/// How long the server may take to do what it does on its own, as serving a new kind.
const DONE_WITHIN: Duration = Duration::from_secs(60);

/// A client of the one real server that all tests here share, on a runtime of its own.
pub(crate) struct Server {
    runtime: Runtime,
    client: kube::Client,
}

impl Server {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(ControlPlane::shared().unwrap().client()).unwrap();
        Self { runtime, client }
    }

    /// What is answered when this form is asked for; an error is an answer too.
    pub(crate) fn get_as(&self, path: &str, accept: &str) -> Value {
        self.ask(Request::get(path).header("Accept", accept).body(Body::empty()).unwrap())
    }

    /// What is answered.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.get_as(path, "application/json")
    }

    /// Sends a body; an error is an answer too.
    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(path).header("Content-Type", kind);
        self.ask(request.body(Body::from(body.to_string().into_bytes())).unwrap())
    }

    /// Waits until an answer is as it should be.
    pub(crate) fn wait_for(&self, path: &str, accept: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually(Instant::now() + DONE_WITHIN, || {
            let answer = self.get_as(path, accept);
            if is_so(&answer) { Ok(answer) } else { Err(answer) }
        })
        .unwrap()
    }

    fn ask(&self, request: Request<Body>) -> Value {
        self.runtime.block_on(async {
            let answer = self.client.send(request).await.unwrap();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into())
        })
    }
}
