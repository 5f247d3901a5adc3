//! The API description at `/openapi`: in the form that the client takes, and with a tag so that clients can keep what they have.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::Server;
use super::accept;
use super::body::{self, Body};
use super::endpoints::Inquiry;
use crate::openapi;

/// How a description is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Json,
    /// Protobuf.
    Binary,
}

impl Form {
    /// The first that the client takes of those that there are at a place.
    fn of(place: &str, accept: &str) -> Option<Self> {
        accept::wanted(accept).into_iter().find_map(|media_type| match media_type {
            "application/json" | "application/*" | "*/*" => Some(Self::Json),
            openapi::BINARY | openapi::OLD_BINARY if place == "v2" => Some(Self::Binary),
            _ => None,
        })
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Binary => openapi::BINARY,
        }
    }
}

impl Server {
    /// Answers `v2`, `v3` or a place below it; none where there is nothing.
    pub(super) fn describe(&self, place: &str, inquiry: &Inquiry<'_>) -> Option<Response<Body>> {
        let Some(form) = Form::of(place, inquiry.header("accept")) else { return Some(unacceptable()) };
        let Description { text, tag } = self.description(place, form)?;
        if let Some(tag) = tag.as_deref().filter(|tag| inquiry.header("if-none-match") == quoted(tag)) {
            return Some(unchanged(tag));
        }
        let mut response = Response::new(body::full(text));
        let headers = response.headers_mut();
        headers.insert("content-type", HeaderValue::from_static(form.media_type()));
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
    fn description(&self, place: &str, form: Form) -> Option<Description> {
        let changes = self.registry().changes();
        if let Some(kept) = self.descriptions().at(changes, place, form) {
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
        let text = match form {
            Form::Json => Bytes::from(document.to_string()),
            Form::Binary => Bytes::from(openapi::binary(&document)),
        };
        let made = Description { text, tag };
        self.descriptions().keep(changes, (place.to_owned(), form), &made);
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

/// The documents that were asked for, as long as nothing else is served. There is one for each group and version in
/// each form at the most, because only those that exist are kept.
#[derive(Debug, Default)]
pub(super) struct Descriptions {
    changes: u64,
    kept: BTreeMap<(String, Form), Description>,
}

impl Descriptions {
    fn at(&self, changes: u64, place: &str, form: Form) -> Option<Description> {
        self.kept.get(&(place.to_owned(), form)).filter(|_| self.changes == changes).cloned()
    }

    fn keep(&mut self, changes: u64, place: (String, Form), made: &Description) {
        if self.changes != changes {
            (self.changes, self.kept) = (changes, BTreeMap::new());
        }
        self.kept.insert(place, made.clone());
    }
}

/// The client takes no form that there is: it is told without a word, as by the real server.
fn unacceptable() -> Response<Body> {
    let mut response = Response::new(body::full(String::new()));
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    response.headers_mut().insert("vary", HeaderValue::from_static("Accept"));
    response
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
