//! Probes and metrics, for a kubelet and a scraper, who have no certificate: nothing here tells what is not to be seen.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};

use super::answer::Body;
use super::metrics;
use crate::run::Agent;
use crate::run::live::App;

pub(super) fn answer<B>(agent: &Agent, request: &Request<B>) -> Response<Body> {
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
    }
    match request.uri().path() {
        "/readyz" if agent.look(|live| live.app.as_ref().is_some_and(App::is_ready)) => {
            plain(StatusCode::OK, "serving\n".to_owned())
        }
        "/readyz" => plain(StatusCode::SERVICE_UNAVAILABLE, "not serving\n".to_owned()),
        // That this is said is the answer.
        "/livez" => plain(StatusCode::OK, "alive\n".to_owned()),
        "/metrics" => plain(StatusCode::OK, metrics::text(agent)),
        path => plain(StatusCode::NOT_FOUND, format!("there is no {path}\n")),
    }
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(BodyExt::boxed_unsync(Full::new(Bytes::from(text))));
    *response.status_mut() = status;
    response
}
