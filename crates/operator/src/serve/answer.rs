//! The answers.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;

use super::health::Health;
use crate::metrics::{self, Metrics};

const PLAIN: &str = "text/plain; charset=utf-8";

/// The answer to a request of this method for this path.
pub(super) fn answer(
    method: &Method,
    path: &str,
    metrics: &Metrics,
    health: &Health,
) -> Response<Full<Bytes>> {
    if method != Method::GET && method != Method::HEAD {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n".to_owned());
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match path {
        "/metrics" => match metrics.text() {
            Ok(text) => said(StatusCode::OK, metrics::CONTENT_TYPE, text),
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        },
        "/readyz" => probe(health.ready()),
        "/livez" => probe(health.alive()),
        _ => plain(StatusCode::NOT_FOUND, "there are /metrics, /readyz and /livez\n".to_owned()),
    }
}

fn probe(is: Result<(), String>) -> Response<Full<Bytes>> {
    match is {
        Ok(()) => plain(StatusCode::OK, "ok\n".to_owned()),
        Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

fn plain(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    said(status, PLAIN, text)
}

fn said(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
