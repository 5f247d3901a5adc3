//! The way of a request from the wire to the service: the token, a turn, the body, the answer in time.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName};
use http::{HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::watch;
use tokio::time::Instant;
use tower_service::Service;

use super::activity::Activity;
use super::answer::{Answer, BoxError};
use super::body;
use super::limits::{Limits, Turns};
use super::token::Token;
use super::user::{acting, shows_token};
use crate::error::{ApiError, Reason};
use crate::request::path::{Path, ResourcePath};
use crate::request::query::Query;
use crate::server::DoneToItsEnd;

/// Names a request in logs of clients and servers.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// A client may name its request itself; longer names are not repeated to it.
const MAX_AUDIT_ID_BYTES: usize = 64;

/// What every connection asks.
pub(super) struct Gate<S> {
    pub(super) service: S,
    pub(super) token: Token,
    pub(super) limits: Limits,
    pub(super) turns: Turns,
    /// True when the server stops.
    pub(super) stop: watch::Receiver<bool>,
}

/// A service behind the gate: what it must be able to do.
pub trait Served:
    Service<
        Request<Full<Bytes>>,
        Response = Response<Self::Body>,
        Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        Future: Send,
    > + Clone
    + Send
    + Sync
    + 'static
{
    /// The body of its answers.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;
}

impl<S, B> Served for S
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Body = B;
}

impl<S: Served> Gate<S> {
    /// Answers one request of this connection, whatever it is. An error is the service's, and breaks the connection.
    pub(super) async fn answer<B>(
        self: Arc<Self>,
        activity: Arc<Activity>,
        request: Request<B>,
    ) -> Result<Response<Answer<S::Body>>, BoxError>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let id = audit_id(&request);
        let mut response = match self.admit(activity, request).await {
            Ok(response) => response,
            Err(Failure::Refused(error)) => Answer::refusal(&error),
            Err(Failure::Broken(error)) => return Err(error),
        };
        let headers = response.headers_mut();
        headers.entry(AUDIT_ID).or_insert(id);
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
        Ok(response)
    }

    async fn admit<B>(
        self: Arc<Self>,
        activity: Arc<Activity>,
        mut request: Request<B>,
    ) -> Result<Response<Answer<S::Body>>, Failure>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: std::fmt::Display,
    {
        if !shows_token(request.headers(), &self.token) {
            activity.refuse();
            return Err(ApiError::new(Reason::Unauthorized, "Unauthorized").into());
        }
        let watch = is_watch(&request);
        let over_by = Instant::now() + self.limits.answer_read_within;
        let sending = activity.begin((!watch).then_some(over_by));
        // Nobody is tempted to use it further in.
        request.headers_mut().remove(http::header::AUTHORIZATION);
        let user = acting(request.headers())?;
        request.extensions_mut().insert(user);
        let turn = self.turns.take(watch).await?;
        let within = self.limits.request_within;
        let asked = tokio::time::timeout(within, Arc::clone(&self).ask(request)).await;
        let response = asked.map_err(|_| too_slow())??;
        let stop = self.stop.clone();
        Ok(response.map(|body| {
            let answer = Answer::of_service(body, turn, sending);
            if watch { answer.until(stopped(stop)) } else { answer }
        }))
    }

    async fn ask<B>(self: Arc<Self>, request: Request<B>) -> Result<Response<S::Body>, Failure>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (mut head, body) = request.into_parts();
        let body = body::read(body).await?;
        let reads = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let service = self.service.clone();
        if reads {
            return call(service, Request::from_parts(head, Full::new(body))).await;
        }
        // What changes something is done to its end, even if the client goes away or the time is over: half of it is worse
        // than all or nothing.
        head.extensions.insert(DoneToItsEnd);
        let request = Request::from_parts(head, Full::new(body));
        let done = tokio::spawn(call(service, request)).await;
        done.map_err(|error| ApiError::new(Reason::InternalError, error.to_string()))?
    }
}

/// Why a request has no answer of the service.
enum Failure {
    /// It gets this one.
    Refused(ApiError),
    /// It gets none at all.
    Broken(BoxError),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

async fn call<S: Served>(
    mut service: S,
    request: Request<Full<Bytes>>,
) -> Result<Response<S::Body>, Failure> {
    let broken = |error: S::Error| Failure::Broken(error.into());
    std::future::poll_fn(|context| service.poll_ready(context)).await.map_err(broken)?;
    service.call(request).await.map_err(broken)
}

/// Done when the server stops.
pub(super) async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error says that the server is gone, which is a stop too.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn too_slow() -> ApiError {
    ApiError::new(Reason::Timeout, "Timeout: request did not complete within the allotted timeout")
}

/// Whether the answer goes on for as long as the client listens.
///
/// It is read as the server itself will read it, so that nothing is taken for a watch here and for something else there.
fn is_watch<B>(request: &Request<B>) -> bool {
    if request.method() != Method::GET {
        return false;
    }
    let Some(Path::Resource(path)) = Path::parse(request.uri().path()) else {
        return false;
    };
    let asked =
        || Query::parse(request.uri().query().unwrap_or_default()).is_some_and(|query| query.flag("watch"));
    path.watch || is_log(&path) || path.name.is_none() && asked()
}

/// Logs last, as on kube-apiserver, whether they are followed or not: who reads them may take their time.
fn is_log(path: &ResourcePath) -> bool {
    path.group.is_empty() && path.resource == "pods" && path.subresource.as_deref() == Some("log")
}

fn audit_id<B>(request: &Request<B>) -> HeaderValue {
    let own = request.headers().get(AUDIT_ID).filter(|id| !id.is_empty() && id.len() <= MAX_AUDIT_ID_BYTES);
    own.cloned().unwrap_or_else(|| {
        let random = format!("{:032x}", rand::random::<u128>());
        let parts = [&random[..8], &random[8..12], &random[12..16], &random[16..20], &random[20..]];
        HeaderValue::from_str(&parts.join("-")).unwrap_or(HeaderValue::from_static("-"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_known_by_its_query() {
        let asks = |query: &str| is_watch(&Request::get(format!("/api/v1/pods{query}")).body(()).unwrap());
        assert!(asks("?watch=true") && asks("?limit=1&watch=1") && asks("?%77atch=1") && asks("?watch=%31"));
        assert!(!asks("") && !asks("?watch=false") && !asks("?watch=0") && !asks("?watchful=1"));
        assert!(asks("?watch") && asks("?watch=") && asks("?watch=f"), "as on kube-apiserver");
        assert!(!asks("/p?watch=1") && !asks("/p/status?watch=1"), "one object is read, and not watched");
        for no_resource in ["/version?watch=1", "/api/v1?watch=1", "/openapi/v2?watch=1", "/nowhere?watch=1"]
        {
            assert!(!is_watch(&Request::get(no_resource).body(()).unwrap()), "{no_resource}");
        }
        assert!(is_watch(&Request::get("/api/v1/namespaces/n/pods/p/log").body(()).unwrap()));
        let write = Request::post("/api/v1/pods?watch=true").body(()).unwrap();
        assert!(!is_watch(&write));
        assert!(is_watch(&Request::get("/apis/apps/v1/watch/deployments").body(()).unwrap()));
        assert!(is_watch(&Request::get("/apis/apps/v1/%77atch/deployments").body(()).unwrap()));
        for called_so in ["/apis/apps/v1/namespaces/watch/deployments", "/api/v1/namespaces/watch/pods/log"] {
            assert!(!is_watch(&Request::get(called_so).body(()).unwrap()), "{called_so}");
        }
    }

    #[test]
    fn a_request_keeps_the_name_its_client_gave() {
        let named = Request::get("/").header(AUDIT_ID, "mine").body(()).unwrap();
        assert_eq!(audit_id(&named), "mine");
        let unnamed = Request::get("/").body(()).unwrap();
        assert_eq!(audit_id(&unnamed).len(), 36);
        assert_ne!(audit_id(&unnamed), audit_id(&unnamed));
    }
}
