//! Answers in the form that the client asked for.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

use super::body::{self, Body};
use super::shown::{self, Shown};
use crate::error::ApiError;
use crate::registry::Resource;

/// The most warnings that are told, and how long one may be: they are headers.
const MAX_WARNINGS: usize = 64;
const MAX_WARNING_CHARACTERS: usize = 1024;

/// The outcome of a request.
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) content: Content,
    /// What the client should know besides.
    pub(super) warnings: Vec<String>,
}

/// What is in an answer.
pub(super) enum Content {
    /// An object of a resource, complete.
    Object(Arc<Resource>, Value),
    /// The text of an object of a resource, complete.
    ObjectText(Arc<Resource>, Bytes),
    /// The scale of an object of a resource.
    Scale(Arc<Resource>, Value),
    /// Objects of a resource.
    List(Arc<Resource>, Page),
    /// Anything else that is JSON.
    Json(Value),
    /// Plain text.
    Text(String),
    /// The events of a watch.
    Events(Body),
    /// What a container said.
    Log(Body),
}

/// Some of the objects of a collection.
pub(super) struct Page {
    /// Their texts, with `apiVersion` and `kind` where a list of this resource has them.
    pub(super) items: Vec<Bytes>,
    /// `metadata` of the list.
    pub(super) metadata: Value,
}

impl Answer {
    pub(super) fn ok(content: Content) -> Self {
        Self { code: StatusCode::OK, content, warnings: Vec::new() }
    }

    pub(super) fn json(value: Value) -> Self {
        Self::ok(Content::Json(value))
    }
}

/// The answer as it is sent.
pub(super) fn respond(answer: Answer, shown: &Shown) -> Response<Body> {
    let (content_type, body) = match answer.content {
        Content::Text(text) => ("text/plain; charset=utf-8", body::full(text)),
        Content::Log(said) => ("text/plain", said),
        Content::Events(events) => (shown.content_type(), events),
        Content::List(resource, page) if shown.is_plain() => {
            (shown.content_type(), body::of(shown::list_body(&resource, page)))
        }
        other => (shown.content_type(), body::full(shown.text(other))),
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.code;
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static(content_type));
    headers.insert("cache-control", HeaderValue::from_static("no-cache, private"));
    for warning in answer.warnings.iter().take(MAX_WARNINGS) {
        if let Some(value) = warning_value(warning) {
            headers.append("warning", value);
        }
    }
    response
}

fn warning_value(warning: &str) -> Option<HeaderValue> {
    let shown: String = warning.chars().take(MAX_WARNING_CHARACTERS).filter(|c| !c.is_control()).collect();
    HeaderValue::from_str(&format!("299 - {shown:?}")).ok()
}

/// Puts a warning before those that an answer has.
pub(super) fn warn_first(response: &mut Response<Body>, warning: &str) {
    let Some(first) = warning_value(warning) else { return };
    let headers = response.headers_mut();
    let others: Vec<HeaderValue> = headers.get_all("warning").iter().cloned().collect();
    headers.insert("warning", first);
    for other in others {
        headers.append("warning", other);
    }
}

/// An error as it is sent to a client of which it is not known how it wants to be answered.
pub(super) fn refuse(error: &ApiError) -> Response<Body> {
    refuse_as(error, &Shown::default())
}

/// An error as it is sent.
pub(super) fn refuse_as(error: &ApiError, shown: &Shown) -> Response<Body> {
    let mut answer = Answer::json(error.to_status());
    answer.code = StatusCode::from_u16(error.reason.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.warnings.clone_from(&error.warnings);
    let mut response = respond(answer, shown);
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert("retry-after", HeaderValue::from(seconds));
    }
    response
}
