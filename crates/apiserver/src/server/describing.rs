//! The API description at `/openapi`: in JSON, and with a tag so that clients can keep what they have.

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
        let resources = self.registry().all();
        let (document, tag) = match place {
            "v2" => (openapi::v2(&resources), None),
            "v3" => (openapi::index(&resources), None),
            place => {
                let place = place.strip_prefix("v3/")?;
                let tag = openapi::hash(&resources, place)?;
                if inquiry.header("if-none-match") == quoted(&tag) {
                    return Some(unchanged(&tag));
                }
                (openapi::document(&resources, place)?, Some(tag))
            }
        };
        let mut response = Response::new(body::full(document.to_string()));
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
