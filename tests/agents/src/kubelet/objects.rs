//! Names and small tools for the objects of a Kubernetes cluster.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::task::{Context, Poll};

use http::header::USER_AGENT;
use http::{HeaderValue, Request};
use kube::Client;
use kube::client::Body;
use muster_api::names::{LABEL_CLUSTER, LABEL_MEMBER};
use serde_json::{Value, json};
use tower_service::Service;

/// The one node.
pub const NODE: &str = "node-1";
/// By what the requests of this crate are known.
const AGENT: &str = "kubelet";

/// A client for a Kubernetes cluster in miniature: its requests name `kubelet` as their user agent, so that faults meant for
/// the operator do not meet them.
pub fn client<S, B>(service: S, namespace: &str) -> Client
where
    S: Service<Request<Body>, Response = http::Response<B>> + Send + Clone + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    Client::new(Named(service), namespace)
}

#[derive(Clone)]
struct Named<S>(S);

impl<S: Service<Request<Body>>> Service<Request<Body>> for Named<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> S::Future {
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
        self.0.call(request)
    }
}

/// The value at this path.
pub(super) fn at<'a>(object: &'a Value, path: &str) -> &'a Value {
    object.pointer(path).unwrap_or(&Value::Null)
}

/// The text at this path, or none.
pub(super) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    at(object, path).as_str().unwrap_or_default()
}

/// Whether the object is being deleted.
pub(super) fn is_ending(object: &Value) -> bool {
    at(object, "/metadata/deletionTimestamp").is_string()
}

/// The member that an object belongs to, with its cluster, by its labels.
pub(super) fn member_of(object: &Value) -> Option<(String, String)> {
    let label = |name: &str| at(object, "/metadata/labels").get(name)?.as_str().map(str::to_owned);
    Some((label(LABEL_CLUSTER)?, label(LABEL_MEMBER)?))
}

/// The name of this version of a Pod template.
pub(super) fn revision(name: &str, template: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    template.to_string().hash(&mut hasher);
    format!("{name}-{:08x}", hasher.finish() & 0xffff_ffff)
}

/// What has to be written so that `status` shows this; None when it does already.
pub(super) fn status_patch(object: &Value, status: &Value) -> Option<Value> {
    let stored = at(object, "/status");
    let same = status.as_object()?.iter().all(|(name, value)| {
        let held = &stored[name];
        held == value || (value.is_null() && held.is_null())
    });
    (!same).then(|| json!({"status": status}))
}
