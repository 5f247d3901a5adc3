//! The wires of one operator process, to the API server and to agents. When it dies, nothing comes through them any more: what
//! it was about to send is not sent, what was under way is not answered.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::USER_AGENT;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use muster_apiserver::server::faults::ConnectionLost;
use muster_apiserver::server::{Body, Server};
use muster_test_agents::Fleet;
use tokio::sync::Notify;

/// The wires of one process.
#[derive(Default)]
pub(crate) struct Wire {
    dead: AtomicBool,
    died: Notify,
}

impl Wire {
    /// The process dies, here and now.
    pub(crate) fn die(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Waits until it has died.
    pub(crate) async fn until_dead(&self) {
        while !self.is_dead() {
            self.died.notified().await;
        }
    }

    /// What comes through, for as long as the process lives.
    async fn through<T>(self: Arc<Self>, call: impl Future<Output = T>) -> T {
        if self.is_dead() {
            return std::future::pending().await;
        }
        let answer = call.await;
        if self.is_dead() { std::future::pending().await } else { answer }
    }

    /// A client of the API server, known by this name.
    pub(crate) fn client(self: &Arc<Self>, server: &Server, name: &str) -> kube::Client {
        let name = HeaderValue::from_str(name).unwrap();
        kube::Client::new(Wired { server: server.clone(), wire: self.clone(), name }, "shop")
    }

    /// The way to these agents.
    pub(crate) fn dial(
        self: &Arc<Self>,
        fleet: &Fleet,
    ) -> impl Fn(Request<Full<Bytes>>) -> BoxFuture<'static, io::Result<Response<muster_test_agents::Body>>>
    + Clone
    + Send
    + Sync
    + 'static {
        let (dial, wire) = (fleet.dial(), self.clone());
        move |request| Box::pin(wire.clone().through(dial(request)))
    }
}

#[derive(Clone)]
struct Wired {
    server: Server,
    wire: Arc<Wire>,
    name: HeaderValue,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, ConnectionLost>> + Send>>;

impl tower_service::Service<Request<kube::client::Body>> for Wired {
    type Response = Response<Body>;
    type Error = ConnectionLost;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionLost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<kube::client::Body>) -> Answering {
        if self.wire.is_dead() {
            return Box::pin(std::future::pending());
        }
        request.headers_mut().insert(USER_AGENT, self.name.clone());
        let answer = self.server.call(request);
        Box::pin(self.wire.clone().through(answer))
    }
}
