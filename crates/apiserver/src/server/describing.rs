//! The API description at `/openapi`: in JSON, and with a tag so that clients can keep what they have.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::Server;
use super::answer;
use super::body::{self, Body};
use super::endpoints::Inquiry;
use crate::error::{ApiError, Reason};
use crate::openapi;

/// The forms that are served, as clients ask for them.
const FORMS: [&str; 3] = ["application/json", "application/*", "*/*"];

impl Server {
    /// Answers `v2`, `v3` or a place below it; none where there is nothing.
    pub(super) fn describe(&self, place: &str, inquiry: &Inquiry<'_>) -> Option<Response<Body>> {
        let accept = inquiry.header("accept");
        if !accept.is_empty() && !FORMS.iter().any(|form| accept.contains(form)) {
            let why = "only the following media types are accepted: application/json";
            return Some(answer::refuse(&ApiError::new(Reason::NotAcceptable, why)));
        }
        let Description { text, tag } = self.description(place)?;
        if let Some(tag) = tag.as_deref().filter(|tag| inquiry.header("if-none-match") == quoted(tag)) {
            return Some(unchanged(tag));
        }
        let mut response = Response::new(body::full(text));
        let headers = response.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some(tag) = tag {
            // What is asked for by its hash never changes.
            let immutable = inquiry.query.has("hash");
            let keep = if immutable { "public, immutable" } else { "no-cache, private" };
            headers.insert("cache-control", HeaderValue::from_static(keep));
            tagged(headers, &tag);
        }
        Some(response)
    }

    /// A document, made anew only when something else is served.
    fn description(&self, place: &str) -> Option<Description> {
        let changes = self.registry().changes();
        if let Some(kept) = self.descriptions().at(changes, place) {
            return Some(kept);
        }
        let resources = self.registry().all();
        let (document, tag) = match place {
            "v2" => (openapi::v2(&resources), None),
            "v3" => (openapi::index(&resources), None),
            place => {
                let place = place.strip_prefix("v3/")?;
                (openapi::document(&resources, place)?, Some(openapi::hash(&resources, place)?))
            }
        };
        let made = Description { text: Bytes::from(document.to_string()), tag };
        self.descriptions().keep(changes, place, &made);
        Some(made)
    }

    fn descriptions(&self) -> MutexGuard<'_, Descriptions> {
        self.0.descriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A document as it is sent.
#[derive(Clone, Debug)]
struct Description {
    text: Bytes,
    tag: Option<String>,
}

/// The documents that were asked for, as long as nothing else is served. There is one for each group and version at the
/// most, because only those that exist are kept.
#[derive(Debug, Default)]
pub(super) struct Descriptions {
    changes: u64,
    kept: BTreeMap<String, Description>,
}

impl Descriptions {
    fn at(&self, changes: u64, place: &str) -> Option<Description> {
        self.kept.get(place).filter(|_| self.changes == changes).cloned()
    }

    fn keep(&mut self, changes: u64, place: &str, made: &Description) {
        if self.changes != changes {
            (self.changes, self.kept) = (changes, BTreeMap::new());
        }
        self.kept.insert(place.to_owned(), made.clone());
    }
}

fn unchanged(tag: &str) -> Response<Body> {
    let mut response = Response::new(body::full(String::new()));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tagged(response.headers_mut(), tag);
    response
}

fn tagged(headers: &mut HeaderMap, tag: &str) {
    headers.insert("vary", HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&quoted(tag)) {
        headers.insert("etag", tag);
    }
}

fn quoted(tag: &str) -> String {
    format!("\"{tag}\"")
}
