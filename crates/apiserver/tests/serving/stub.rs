//! A service with a few paths, each of which shows one thing.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use muster_apiserver::serve::{self, Identity, Limits, Running};
use muster_apiserver::server::User;

pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;
/// More than sockets buffer.
const BIG: usize = 64 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct Stub;

impl tower_service::Service<Request<Full<Bytes>>> for Stub {
    type Response = Response<Body>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, std::io::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        Box::pin(answer(request))
    }
}

async fn answer(request: Request<Full<Bytes>>) -> Result<Response<Body>, std::io::Error> {
    let path = request.uri().path().to_owned();
    let watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let version = r#"{"major":"1","minor":"36","gitVersion":"v1.36.3","gitCommit":"","gitTreeState":"",
        "buildDate":"","goVersion":"","compiler":"","platform":""}"#;
    let body = match path.as_str() {
        _ if watch => events(),
        "/version" => text(version),
        "/who" => text(&request.extensions().get::<User>().unwrap().name),
        "/secret" => text(&format!("{:?}", request.headers().get("authorization"))),
        "/length" => text(&request.into_body().collect().await.unwrap().to_bytes().len().to_string()),
        "/big" => text(&"a".repeat(BIG)),
        "/never" => std::future::pending().await,
        "/broken" => return Err(std::io::Error::other("broken")),
        _ => text(""),
    };
    Ok(Response::new(body))
}

fn text(text: &str) -> Body {
    Full::new(Bytes::from(text.to_owned())).boxed_unsync()
}

/// One event, and then none for as long as anybody listens.
fn events() -> Body {
    let object = r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}"#;
    let event = Bytes::from(format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n"));
    let events = futures::stream::once(async { event }).chain(futures::stream::pending());
    StreamBody::new(events.map(|event| Ok(Frame::data(event)))).boxed_unsync()
}

/// A server with these limits.
pub(crate) struct Server {
    pub(crate) identity: Identity,
    pub(crate) running: Running,
}

impl Server {
    pub(crate) fn start(limits: Limits) -> Self {
        Self::of(limits, Stub)
    }

    /// The same, of another service.
    pub(crate) fn of(limits: Limits, service: impl serve::Served) -> Self {
        let identity = Identity::in_memory().unwrap();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let running = serve::start(listener, &identity, limits, service).unwrap();
        Self { identity, running }
    }

    /// What a client that may do everything says.
    pub(crate) fn authorization(&self) -> String {
        format!("Authorization: Bearer {}", self.identity.token())
    }
}
