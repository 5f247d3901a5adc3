//! From a request to what it is about, and to the one who does it.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};

use super::Server;
use super::answer::{self, Answer, Content};
use super::binding::is_binding;
use super::body::{self, Body};
use super::call::{Call, not_allowed};
use super::endpoints::{Inquiry, refuse_in_form};
use super::faults::{ConnectionLost, Fault, Seen};
use super::logs::is_log;
use super::shown::Shown;
use crate::error::{ApiError, Reason, Subject};
use crate::lifecycle::Source;
use crate::request::path::{Path, ResourcePath, is_escaped_well};
use crate::request::query::Query;
use crate::reviews::User;
use crate::store::{FIRST_REVISION, Revision};

/// Who asks when nobody else is said to.
static ADMINISTRATOR: LazyLock<User> = LazyLock::new(User::administrator);

impl Server {
    /// Answers a request.
    pub(super) async fn handle<B>(&self, request: Request<B>) -> Result<Response<Body>, ConnectionLost>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let is_head = parts.method == Method::HEAD;
        let answer = self.answer(parts, body).await;
        if is_head {
            return answer.map(|answer| answer.map(|_| body::full("")));
        }
        answer
    }

    async fn answer<B>(&self, parts: Parts, body: B) -> Result<Response<Body>, ConnectionLost>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Some(path) = Path::parse(parts.uri.path()) else {
            return Ok(if is_escaped_well(parts.uri.path()) { nothing_here() } else { no_path() });
        };
        let Some(query) = Query::parse(parts.uri.query().unwrap_or_default()) else {
            return Ok(answer::refuse(&ApiError::bad_request(
                "the query of the request cannot be understood",
            )));
        };
        let user = parts.extensions.get::<User>().unwrap_or(&ADMINISTRATOR);
        let inquiry = Inquiry { method: &parts.method, headers: &parts.headers, query: &query, user };
        if let Path::Nowhere(group) = &path {
            return Ok(self.unknown_resource(group, &inquiry));
        }
        let Path::Resource(path) = path else {
            return Ok(self.endpoint(&path, &inquiry).unwrap_or_else(nothing_here));
        };
        let body = match body::read(body).await {
            Ok(body) => body,
            Err(error) => return Ok(answer::refuse(&error)),
        };
        let Some(resource) = self.registry().find(&path.group, &path.version, &path.resource) else {
            let review = self.review(&path, &inquiry, &body);
            return Ok(review.unwrap_or_else(|| self.unknown_resource(&path.group, &inquiry)));
        };
        let astray = path.namespace.is_some() != resource.traits.namespaced
            && (path.namespace.is_some() || path.name.is_some());
        if astray || path.deeper && !resource.kind.is_custom() {
            return Ok(self.unknown_resource(&path.group, &inquiry));
        }
        let ResourcePath { namespace, mut name, subresource, watch, .. } = path;
        let query = match watch.then(|| query.clone().watching(name.take().as_deref())) {
            Some(_) if parts.method != Method::GET => return Ok(answer::refuse(&not_allowed())),
            Some(Err(why)) => return Ok(answer::refuse(&ApiError::bad_request(why))),
            Some(Ok(watching)) => watching,
            None => query,
        };
        let Parts { method, headers, .. } = parts;
        let call = Call { resource, namespace, name, subresource, query, headers, body };
        self.serve(call, &method).await
    }

    /// The answer for a resource that is not there: in groups that are built in, an error; elsewhere, nothing.
    fn unknown_resource(&self, group: &str, inquiry: &Inquiry<'_>) -> Response<Body> {
        if self.is_built_in(group) { refuse_in_form(&not_served(), inquiry) } else { nothing_here() }
    }

    async fn serve(&self, call: Call, method: &Method) -> Result<Response<Body>, ConnectionLost> {
        // Objects are neither created nor deleted in all namespaces at once.
        if matches!(*method, Method::DELETE | Method::POST) && call.is_of_all_namespaces() {
            let custom = call.resource.kind.is_custom();
            return Ok(if custom { nothing_here() } else { refuse_in_form_of(&call, &not_allowed()) });
        }
        let Some(verb) = verb(&call, method) else {
            return Ok(refuse_in_form_of(&call, &cannot(&call, method)));
        };
        let now = Source::now(&mut self.source());
        let shown = match Shown::of(&call, verb, now) {
            Ok(shown) => shown,
            Err(error) => return Ok(answer::refuse(&error)),
        };
        let seen = self.seen(&call, verb);
        let counted = self.counted(&call, &seen, method);
        let mut response = self.serve_seen(&call, seen, &shown).await?;
        if let Some(warning) = call.resource.kind.deprecation() {
            answer::warn_first(&mut response, warning);
        }
        self.answered(counted, &response);
        Ok(response)
    }

    /// Serves a request, unless something is made to go wrong.
    async fn serve_seen(
        &self,
        call: &Call,
        seen: Seen,
        shown: &Shown,
    ) -> Result<Response<Body>, ConnectionLost> {
        let (mut lost, mut instead, mut past) = (false, None, None);
        match self.faults().request(&seen) {
            Fault::None => {}
            Fault::Delay(time) => tokio::time::sleep(time).await,
            Fault::Before(error) => return Ok(answer::refuse_as(&error, shown)),
            Fault::LostBefore => return Err(ConnectionLost),
            Fault::Conflict => return Ok(answer::refuse_as(&ApiError::modified(call.subject()), shown)),
            Fault::After(error) => instead = Some(error),
            Fault::LostAfter => lost = true,
            Fault::Stale(changes) => past = Some(self.past(changes)),
        }
        let outcome = self.perform(call, seen, past, shown).await;
        match (outcome, instead) {
            _ if lost => Err(ConnectionLost),
            (_, Some(error)) | (Err(error), None) => Ok(answer::refuse_as(&error, shown)),
            (Ok(answer), None) => Ok(match shown.suits(&answer.content) {
                Ok(()) => answer::respond(answer, shown),
                Err(error) => answer::refuse_as(&error.warned(&answer.warnings), shown),
            }),
        }
    }

    /// The revision so many changes ago.
    fn past(&self, changes: u64) -> Revision {
        self.store().revision().saturating_sub(changes).max(FIRST_REVISION)
    }

    fn seen(&self, call: &Call, verb: &'static str) -> Seen {
        Seen {
            number: self.0.requests.fetch_add(1, Ordering::Relaxed) + 1,
            verb,
            resource: call.resource.id.to_string(),
            namespace: call.namespace.clone(),
            name: call.name.clone(),
            subresource: call.subresource.clone(),
            user_agent: call.header("user-agent").to_owned(),
        }
    }

    async fn perform(
        &self,
        call: &Call,
        seen: Seen,
        past: Option<Revision>,
        shown: &Shown,
    ) -> Result<Answer, ApiError> {
        if let (Some("scale"), Some(paths)) = (call.subresource.as_deref(), &call.resource.scale) {
            return match seen.verb {
                "get" => self.get_scale(call, paths),
                "update" | "patch" => self.set_scale(call, paths, seen.verb).await,
                _ => Err(not_allowed()),
            };
        }
        if is_binding(call) {
            return if seen.verb == "create" { self.bind(call).await } else { Err(not_allowed()) };
        }
        if is_log(call) {
            return if seen.verb == "get" { self.log(call).await } else { Err(not_allowed()) };
        }
        if let Some(part) = call.subresource.as_deref() {
            let known = part == "status" && call.resource.traits.status || is_finalize(call);
            if !known {
                return Err(no_part(call));
            }
        }
        match seen.verb {
            "get" => self.get(call, past),
            "list" => self.list_objects(call, past),
            "watch" => self.watch(call, seen, past, shown),
            "create" => self.create(call).await,
            "update" => self.update(call).await,
            "patch" => self.patch(call).await,
            "delete" => self.delete(call).await,
            _ => self.delete_collection(call).await,
        }
    }
}

/// An error in the form that a request asks for, though it was not looked at whether that is one of ours.
fn refuse_in_form_of(call: &Call, error: &ApiError) -> Response<Body> {
    let shown = Shown::parse(call.header("accept"), &call.query).unwrap_or_default();
    answer::refuse_as(error, &shown)
}

/// What a method means here.
fn verb(call: &Call, method: &Method) -> Option<&'static str> {
    let (one, part) = (call.name.is_some(), call.subresource.is_some());
    Some(match *method {
        Method::GET | Method::PATCH if is_finalize(call) => return None,
        Method::GET if one => "get",
        Method::GET if call.query.flag("watch") => "watch",
        Method::GET => "list",
        // A name in the path of a new custom resource is not looked at.
        Method::POST if !one || call.resource.kind.is_custom() && !part => "create",
        Method::POST if is_binding(call) => "create",
        Method::PUT if one => "update",
        Method::PATCH if one => "patch",
        Method::DELETE if one && !part => "delete",
        Method::DELETE if !one => "deletecollection",
        _ => return None,
    })
    .filter(|verb| call.resource.kind.is_custom() || part || call.resource.verbs.contains(verb))
}

/// Whether it is about the finalizers of a namespace, which can only be replaced, with the object around them.
fn is_finalize(call: &Call) -> bool {
    call.subresource.as_deref() == Some("finalize") && &*call.resource.id == super::namespaces::RESOURCE
}

/// The error for a part that objects of a resource do not have.
fn no_part(call: &Call) -> ApiError {
    if call.resource.kind.is_custom() { ApiError::not_found(call.subject()) } else { not_served() }
}

/// Why a method does not go with a path.
fn cannot(call: &Call, method: &Method) -> ApiError {
    if !call.resource.kind.is_custom() {
        return not_allowed();
    }
    if call.name.is_none() && matches!(*method, Method::PUT | Method::PATCH) {
        let form = if *method == Method::PATCH { super::patch::check_form(call) } else { Ok(()) };
        return form.err().unwrap_or_else(|| ApiError::bad_request("name must be provided"));
    }
    let subject = Subject { name: String::new(), ..call.subject() };
    let verb = match *method {
        Method::DELETE => "delete",
        Method::POST => "create",
        _ => "",
    };
    let message =
        format!("{verb} is not supported on resources of kind \"{}.{}\"", subject.kind, subject.group);
    ApiError { subject: Some(Box::new(subject)), ..ApiError::new(Reason::MethodNotAllowed, message) }
}

/// The error for a path below a built-in group that leads nowhere.
pub(super) fn not_served() -> ApiError {
    let message = "the server could not find the requested resource";
    ApiError { subject: Some(Box::default()), ..ApiError::new(Reason::NotFound, message) }
}

/// The answer for what is no path.
fn no_path() -> Response<Body> {
    let content = Content::Text("400 Bad Request".to_owned());
    let answer = Answer { code: StatusCode::BAD_REQUEST, content, warnings: Vec::new() };
    answer::respond(answer, &Shown::default())
}

/// The answer for a path that leads nowhere.
fn nothing_here() -> Response<Body> {
    let content = Content::Text("404 page not found\n".to_owned());
    answer::respond(Answer { code: StatusCode::NOT_FOUND, content, warnings: Vec::new() }, &Shown::default())
}
