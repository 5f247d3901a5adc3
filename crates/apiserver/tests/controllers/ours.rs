//! Our server with its controllers, in paused time.

use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use muster_apiserver::controllers::{self, Settings};
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::world::World;

/// How often the controllers get their turn before it is said that nothing will happen any more.
const TURNS: usize = 500;

/// What the controllers publish.
pub(crate) const CERTIFICATE: &str = "a certificate";

pub(crate) struct Ours {
    runtime: Runtime,
    client: kube::Client,
}

impl Ours {
    pub(crate) fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let client = runtime.block_on(async {
            let source = Seeded::new(1, "2026-01-01T00:00:00Z".parse().unwrap());
            let server = Server::builder().source(source).build().await;
            let settings = Settings { authority: Some(CERTIFICATE.to_owned()) };
            tokio::spawn(controllers::run_with(server.clone(), settings));
            kube::Client::new(server, "default")
        });
        Self { runtime, client }
    }
}

impl World for Ours {
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(path).header("Content-Type", kind);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.runtime.block_on(async {
            let answer = self.client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into())
        })
    }

    fn until(&self, is_so: &mut dyn FnMut() -> Result<(), Value>) {
        let mut last = Value::Null;
        for _ in 0..TURNS {
            match is_so() {
                Ok(()) => return,
                Err(seen) => last = seen,
            }
            self.runtime.block_on(tokio::task::yield_now());
        }
        panic!("it never came to this: {last:#}");
    }

    fn settle(&self) {
        for _ in 0..TURNS {
            self.runtime.block_on(tokio::task::yield_now());
        }
    }
}
