//! What an operator asks of the API server, call by call; and a hand on its way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, Uri};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower_service::Service;

/// One call, as a role would have to permit it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// The API group; "" for the oldest one.
    pub group: String,
    /// The resource, with its subresource after a slash.
    pub resource: String,
    /// The namespace; none for all of them, or for what has none.
    pub namespace: Option<String>,
    /// The name, also where a selector names it.
    pub name: Option<String>,
}

impl Call {
    /// Reads a request.
    fn of(method: &Method, uri: &Uri) -> Option<Self> {
        let parts: Vec<&str> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
        let (group, rest) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some((*namespace).to_owned()), rest),
            rest => (None, rest),
        };
        let (resource, name, part) = match rest {
            [resource] => (*resource, None, None),
            [resource, name] => (*resource, Some(*name), None),
            [resource, name, part, ..] => (*resource, Some(*name), Some(*part)),
            [] => return None,
        };
        let query = uri.query().unwrap_or_default();
        let watches = query.split('&').any(|part| part == "watch=true");
        let verb = match (method.as_str(), name) {
            ("GET", Some(_)) => "get",
            ("GET", None) if watches => "watch",
            ("GET", None) => "list",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            (_, Some(_)) => "delete",
            (_, None) => "deletecollection",
        };
        let selected = query.split('&').find_map(|part| part.strip_prefix("fieldSelector=metadata.name%3D"));
        Some(Self {
            verb,
            group: group.to_owned(),
            resource: part.map_or_else(|| resource.to_owned(), |part| format!("{resource}/{part}")),
            namespace,
            name: name.or(selected).map(str::to_owned),
        })
    }

    /// Whether it changes something.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, "get" | "list" | "watch")
    }
}

/// How many calls are kept to be shown when a test fails.
const RECENT: usize = 60;

/// Does something before a call goes on.
pub type Hook = Arc<dyn Fn(&Call) -> BoxFuture<'static, ()> + Send + Sync>;

/// Someone who edits each object of ours just before its status is swapped by its version, which is another one then.
pub fn edits_before_reports(client: &Client) -> Hook {
    let (client, edits) = (client.clone(), Arc::new(AtomicUsize::new(0)));
    Arc::new(move |call| {
        let url =
            call.resource.strip_suffix("/status").filter(|_| call.verb == "update").and_then(|resource| {
                let (namespace, name) = (call.namespace.as_ref()?, call.name.as_ref()?);
                Some(format!("/apis/{}/v1alpha1/namespaces/{namespace}/{resource}/{name}", call.group))
            });
        let (client, edit) = (client.clone(), edits.fetch_add(1, Ordering::SeqCst).to_string());
        Box::pin(async move {
            let Some(url) = url else { return };
            let patch = json!({"metadata": {"labels": {"example.org/edit": edit}}}).to_string();
            let request = Request::patch(url).header("content-type", "application/merge-patch+json");
            let request = request.body(patch.into_bytes()).expect("a request");
            let edited: Value = client.request(request).await.expect("an edit");
            assert_eq!(edited["metadata"]["labels"]["example.org/edit"], *edit);
        })
    })
}

#[derive(Default)]
struct Seen {
    calls: BTreeMap<Call, usize>,
    refused: BTreeSet<String>,
    recent: VecDeque<String>,
    before: Option<Hook>,
    /// The writes whose first answer is still to be lost, once this is set.
    losing: Option<BTreeSet<(&'static str, String)>>,
}

/// Sees every call. Cloning gives another handle to the same.
#[derive(Clone, Default)]
pub struct Spy(Arc<Mutex<Seen>>);

impl Spy {
    /// A client whose calls are seen.
    pub fn on(&self, client: &Client) -> Client {
        Client::new(Watched { client: client.clone(), spy: self.clone() }, client.default_namespace())
    }

    /// The different calls so far.
    pub fn calls(&self) -> BTreeSet<Call> {
        self.seen().calls.keys().cloned().collect()
    }

    /// How many calls of these there were so far.
    pub fn count(&self, which: impl Fn(&Call) -> bool) -> usize {
        self.seen().calls.iter().filter(|(call, _)| which(call)).map(|(_, count)| count).sum()
    }

    /// What the API server forbade, with its words.
    pub fn refused(&self) -> Vec<String> {
        self.seen().refused.iter().cloned().collect()
    }

    /// The last calls with their answers, for a test that failed.
    pub fn recent(&self) -> Vec<String> {
        self.seen().recent.iter().cloned().collect()
    }

    /// From now on this is done before each call.
    pub fn before(&self, hook: Option<Hook>) {
        self.seen().before = hook;
    }

    /// From now on the first answer to each kind of write of each resource is lost.
    pub fn lose_first_answers(&self) {
        self.seen().losing = Some(BTreeSet::new());
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call; gives back what is to be done before it, and whether its answer is lost.
    fn note(&self, call: &Call) -> (Option<Hook>, bool) {
        let mut seen = self.seen();
        *seen.calls.entry(call.clone()).or_default() += 1;
        // The Lease has its own tests, and Events are news.
        let matters = call.is_write() && !["leases", "events"].contains(&call.resource.as_str());
        let kind = (call.verb, call.resource.clone());
        let lost = matters && seen.losing.as_mut().is_some_and(|lost| lost.insert(kind));
        (seen.before.clone(), lost)
    }
}

impl Spy {
    fn answered(&self, call: &Call, status: StatusCode, lost: bool) {
        let mut seen = self.seen();
        if seen.recent.len() >= RECENT {
            seen.recent.pop_front();
        }
        if !call.resource.ends_with("leases") {
            let Call { verb, resource, name, .. } = call;
            let name = name.as_deref().unwrap_or_default();
            let lost = if lost { ", lost" } else { "" };
            seen.recent.push_back(format!("{verb} {resource} {name}: {}{lost}", status.as_u16()));
        }
    }
}

#[derive(Clone)]
struct Watched {
    client: Client,
    spy: Spy,
}

impl Service<Request<Body>> for Watched {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, kube::Result<Response<Body>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<kube::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Self { client, spy } = self.clone();
        Box::pin(async move {
            let Some(call) = Call::of(request.method(), request.uri()) else {
                return client.send(request).await;
            };
            let (before, lost) = spy.note(&call);
            if let Some(before) = before {
                before(&call).await;
            }
            let answer = client.send(request).await?;
            if matches!(answer.status(), StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED) {
                spy.seen().refused.insert(format!("{} {call:?}", answer.status()));
            }
            spy.answered(&call, answer.status(), lost);
            if lost {
                return Ok(gateway_timeout());
            }
            Ok(answer)
        })
    }
}

/// What a client gets in place of an answer that was lost.
fn gateway_timeout() -> Response<Body> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Timeout", "code": 504,
        "message": "the answer was lost",
    });
    let body = Body::from(status.to_string().into_bytes());
    Response::builder().status(StatusCode::GATEWAY_TIMEOUT).body(body).expect("a response")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, uri: &str) -> (String, String, Option<String>, Option<String>) {
        let call = Call::of(&method.parse().unwrap(), &uri.parse().unwrap()).unwrap();
        (call.verb.to_owned(), format!("{}/{}", call.group, call.resource), call.namespace, call.name)
    }

    #[test]
    fn calls_are_read_as_a_role_names_them() {
        let some = |text: &str| Some(text.to_owned());
        let is = |verb: &str, resource: &str, namespace: Option<&str>, name: Option<&str>| {
            (verb.to_owned(), resource.to_owned(), namespace.map(str::to_owned), name.and_then(some))
        };
        assert_eq!(read("GET", "/api/v1/namespaces?watch=true"), is("watch", "/namespaces", None, None));
        assert_eq!(
            read("PUT", "/apis/muster.dev/v1alpha1/namespaces/shop/members/a/status?"),
            is("update", "muster.dev/members/status", Some("shop"), Some("a"))
        );
        assert_eq!(
            read("GET", "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Dmuster-operator"),
            is("list", "coordination.k8s.io/leases", None, Some("muster-operator"))
        );
        assert_eq!(read("POST", "/api/v1/namespaces/a/pods"), is("create", "/pods", Some("a"), None));
    }
}
