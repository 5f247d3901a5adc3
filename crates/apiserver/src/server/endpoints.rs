//! What is no resource: discovery, reviews, health, metrics and the version.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::Server;
use super::accept::Offer;
use super::answer::{self, Answer, Content};
use super::body::{self, Body};
use super::call::not_allowed;
use super::incoming::decode_unkept;
use super::route::not_served;
use super::shown::Shown;
use crate::apply::{FieldSet, Typing, Typings, Write, manager_name, track_update};
use crate::discovery::{self, Probe, Served};
use crate::error::ApiError;
use crate::kind::Around;
use crate::kind::built_in::types::definition;
use crate::kind::built_in::{read_unkept, with_references};
use crate::lifecycle::{Source, metadata};
use crate::metrics::{self, Stock};
use crate::request::path::{Path, ResourcePath};
use crate::request::query::Query;
use crate::reviews::{self, Asked, User};

/// The paths besides those of resources.
const OTHERS: [&str; 6] = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz"];

/// A request for something that is no resource.
pub(super) struct Inquiry<'a> {
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) query: &'a Query,
    pub(super) user: &'a User,
}

impl Inquiry<'_> {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Server {
    /// Answers what is no resource; none where there is nothing.
    pub(super) fn endpoint(&self, path: &Path, inquiry: &Inquiry<'_>) -> Option<Response<Body>> {
        let served = self.served();
        if let Path::Resources { group, version } = path
            && self.is_built_in(group)
            && !served.iter().any(|one| one.group == *group && one.version == *version)
        {
            // Neither the method nor the form of the answer is looked at where no version is.
            return Some(refuse_in_form(&not_served(), inquiry));
        }
        if inquiry.method != Method::GET && inquiry.method != Method::HEAD && self.reads_only(path) {
            return Some(refuse_in_form(&not_allowed(), inquiry));
        }
        let accept = inquiry.header("accept");
        if let Err(error) = self.offer(path).map_or(Ok(()), |offer| offer.check(accept)) {
            return Some(refuse_in_form(&error, inquiry));
        }
        let wants_all = accept.contains("as=APIGroupDiscoveryList") && accept.contains("v=v2");
        let document = match path {
            Path::CoreVersions if wants_all => return Some(aggregated(&served, true, inquiry)),
            Path::Groups if wants_all => return Some(aggregated(&served, false, inquiry)),
            Path::CoreVersions => discovery::core_versions(inquiry.header("host")),
            Path::Groups => discovery::groups(&served),
            Path::Group(name) => discovery::group(&served, name)?,
            Path::Resources { group, version } => discovery::resources(&served, group, version)?,
            Path::Resource(_) | Path::Nowhere(_) => return None,
            Path::Other(path) => return self.other(path, inquiry, &served),
        };
        let shown = Shown::parse(accept, inquiry.query);
        Some(match shown {
            Ok(shown) => answer::respond(Answer::json(document), &shown),
            Err(error) => answer::refuse(&error),
        })
    }

    /// Whether a path refuses all methods but those that read; the others do not look at the method.
    fn reads_only(&self, path: &Path) -> bool {
        match path {
            Path::CoreVersions => true,
            Path::Group(group) | Path::Resources { group, .. } => self.is_built_in(group),
            Path::Other(path) => path.trim_matches('/') == "version" || path.starts_with("/openapi"),
            Path::Groups | Path::Resource(_) | Path::Nowhere(_) => false,
        }
    }

    /// In which forms a path is offered, where the real server looks at that before anything else.
    fn offer(&self, path: &Path) -> Option<Offer> {
        match path {
            Path::CoreVersions => Some(Offer::Objects),
            Path::Resources { group, .. } if self.is_built_in(group) => Some(Offer::Objects),
            Path::Other(path) if path.trim_matches('/') == "version" => Some(Offer::Json),
            _ => None,
        }
    }

    fn other(&self, path: &str, inquiry: &Inquiry<'_>, served: &[Served]) -> Option<Response<Body>> {
        let mut parts = path.trim_matches('/').splitn(2, '/');
        let (first, rest) = (parts.next().unwrap_or_default(), parts.next());
        let content = match (first, rest) {
            ("", None) => Content::Json(discovery::paths(served, &OTHERS)),
            ("version", None) => Content::Json(discovery::version()),
            ("livez" | "readyz" | "healthz", only) => return Some(self.health(first, only, inquiry)),
            ("metrics", None) => return Some(self.metrics_text()),
            ("openapi", Some(place)) => return self.describe(place, inquiry),
            _ => return None,
        };
        Some(answer::respond(Answer::ok(content), &Shown::default()))
    }

    /// Everything that discovery tells of.
    fn served(&self) -> Vec<Served> {
        let mut served: Vec<Served> = self.registry().all().iter().map(|one| Served::from(&**one)).collect();
        served.extend(reviews::served());
        served
    }

    fn health(&self, endpoint: &str, only: Option<&str>, inquiry: &Inquiry<'_>) -> Response<Body> {
        let exclude = inquiry.query.all("exclude").collect();
        let probe = Probe { endpoint, only, verbose: inquiry.query.has("verbose"), exclude };
        let health = discovery::health(&probe, &discovery::checks(endpoint, self.store().failure()));
        let code = StatusCode::from_u16(health.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let answer = Answer { code, content: Content::Text(health.body), warnings: Vec::new() };
        answer::respond(answer, &Shown::default())
    }

    fn metrics_text(&self) -> Response<Body> {
        let mut stock = Stock { revision: self.store().revision(), ..Stock::default() };
        for (resource, count, bytes) in self.store().stock() {
            let (group, plural) = resource.split_once('/').unwrap_or(("", &resource));
            stock.objects.insert((group.to_owned(), plural.to_owned()), count);
            stock.bytes += bytes;
        }
        let mut response = Response::new(body::full(self.0.metrics.text(&stock)));
        response.headers_mut().insert("content-type", HeaderValue::from_static(metrics::CONTENT_TYPE));
        response
    }

    /// Answers a review; none where the path leads to none.
    pub(super) fn review(
        &self,
        path: &ResourcePath,
        inquiry: &Inquiry<'_>,
        body: &Bytes,
    ) -> Option<Response<Body>> {
        if path.version != "v1" || path.name.is_some() {
            return None;
        }
        let version = format!("{}/v1", path.group);
        let kind = reviews::kind(&path.group, &path.resource)?;
        if inquiry.method != Method::POST {
            return Some(answer::refuse(&not_allowed()));
        }
        let content_type = inquiry.header("content-type").split(';').next().unwrap_or_default().trim();
        let decoded = decode_unkept(content_type, body, &version, &kind);
        let now = Around::now(self);
        let sent = decoded.as_ref().cloned().unwrap_or_default();
        let body = match self.with_writer(sent, path, &kind, inquiry) {
            Ok(body) => body,
            Err(error) => return Some(answer::refuse(&error)),
        };
        let asked = Asked {
            group: &path.group,
            resource: &path.resource,
            namespace: path.namespace.as_deref(),
            body: &body,
            user: inquiry.user,
            now: &now,
            owner_of: &|_| None,
        };
        let outcome = reviews::answer(&asked)?;
        Some(match decoded.and(outcome) {
            Ok(review) => {
                let answer = Answer { code: StatusCode::CREATED, ..Answer::json(review) };
                answer::respond(answer, &Shown::default())
            }
            Err(error) => answer::refuse(&error),
        })
    }
}

impl Server {
    /// A review in the namespace of its path, and with who wrote it.
    fn with_writer(
        &self,
        mut review: Value,
        path: &ResourcePath,
        kind: &str,
        inquiry: &Inquiry<'_>,
    ) -> Result<Value, ApiError> {
        if let Some(namespace) = &path.namespace {
            let own = metadata::text(&review, "namespace");
            if !own.is_empty() && own != namespace {
                let why =
                    "the namespace of the provided object does not match the namespace sent on the request";
                return Err(ApiError::bad_request(why));
            }
            metadata::set(&mut review, "namespace", Some(namespace.clone().into()));
        }
        let api_version = format!("{}/{}", path.group, path.version);
        let name = definition(&api_version, kind);
        let Ok(typing) = Typing::of_definition(&name, &with_references(&[&name])) else { return Ok(review) };
        let mut empty = json!({});
        let _ = read_unkept(&api_version, kind, &mut empty);
        let given = inquiry.query.get("fieldManager").unwrap_or_default();
        let write = Write {
            typings: &Typings::from([(api_version.clone(), typing)]),
            api_version: &api_version,
            kind,
            subresource: "",
            manager: &manager_name(given, inquiry.header("user-agent")),
            reset: &FieldSet::new(),
            empty: &empty,
            now: self.source().now(),
        };
        Ok(track_update(None, review, &write))
    }
}

/// An error in the form that was asked for; in JSON where that is none of ours.
pub(super) fn refuse_in_form(error: &ApiError, inquiry: &Inquiry<'_>) -> Response<Body> {
    let shown = Shown::parse(inquiry.header("accept"), inquiry.query).unwrap_or_default();
    answer::refuse_as(error, &shown)
}

fn aggregated(served: &[Served], core: bool, inquiry: &Inquiry<'_>) -> Response<Body> {
    let document = discovery::aggregated(served, core);
    let unchanged = inquiry.header("if-none-match") == document.tag;
    let mut response = Response::new(body::full(if unchanged { String::new() } else { document.body }));
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static(discovery::MEDIA_TYPE));
    headers.insert("vary", HeaderValue::from_static("Accept"));
    headers.insert("cache-control", HeaderValue::from_static("public"));
    if let Ok(tag) = HeaderValue::from_str(&document.tag) {
        headers.insert("etag", tag);
    }
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}
