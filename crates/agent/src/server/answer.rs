//! What the operator asks, and what it is answered.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::Ordering;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::Incoming;
use muster_protocol::{
    COMMAND_PATH, EPOCH_PATH, Epoch, Fault, HEARTBEAT, Instruction, Line, MAX_MESSAGE_BYTES, REPORT_PATH,
    WATCH_PATH,
};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::BODY;
use crate::run::Agent;

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Reads a request and answers it.
pub(super) async fn respond(agent: Agent, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let read = timeout(BODY, Limited::new(body, MAX_MESSAGE_BYTES).collect()).await;
    match read {
        Ok(Ok(body)) => answer(&agent, &parts.method, &parts.uri, &body.to_bytes()).await,
        Ok(Err(error)) if error.is::<LengthLimitError>() => fault(
            &agent,
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a request has at most {MAX_MESSAGE_BYTES} bytes"),
        ),
        Ok(Err(error)) => fault(&agent, StatusCode::BAD_REQUEST, error.to_string()),
        Err(_) => fault(&agent, StatusCode::REQUEST_TIMEOUT, "the request took too long".to_owned()),
    }
}

/// Answers a request that was read.
async fn answer(agent: &Agent, method: &Method, uri: &Uri, body: &[u8]) -> io::Result<Response<Body>> {
    match (method, uri.path()) {
        (&Method::GET, REPORT_PATH) => match round(uri) {
            Ok(round) => whole(StatusCode::OK, &agent.answer(round).await),
            Err(why) => fault(agent, StatusCode::BAD_REQUEST, why),
        },
        (&Method::GET, WATCH_PATH) => watching(agent),
        (&Method::POST, EPOCH_PATH) => match serde_json::from_slice::<Epoch>(body) {
            Ok(epoch) => match agent.take_epoch(epoch).await {
                Ok(line) => whole(StatusCode::OK, &line),
                Err(error) => fault(agent, StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            },
            Err(error) => fault(agent, StatusCode::BAD_REQUEST, error.to_string()),
        },
        (&Method::POST, COMMAND_PATH) => match serde_json::from_slice::<Instruction>(body) {
            Ok(instruction) => match agent.command(instruction).await {
                Ok(outcome) => whole(StatusCode::OK, &outcome),
                Err(error) => fault(agent, StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            },
            Err(error) => fault(agent, StatusCode::BAD_REQUEST, error.to_string()),
        },
        _ => fault(agent, StatusCode::NOT_FOUND, format!("there is no {method} {}", uri.path())),
    }
}

/// `round=N`, or nothing.
fn round(uri: &Uri) -> Result<u64, String> {
    let Some(query) = uri.query() else { return Ok(0) };
    let number = query.strip_prefix("round=").ok_or_else(|| format!("what is {query:?}?"))?;
    number.parse().map_err(|error| format!("{number:?} is no round: {error}"))
}

struct Watcher {
    agent: Agent,
    news: watch::Receiver<u64>,
    beat: Instant,
    /// What was said last, without its serial.
    said: Option<Line>,
}

/// A line at once, on every change, and at every heartbeat, which is empty while nothing at all has changed. How often things change is bounded: each line waits until the one before
/// was taken.
fn watching(agent: &Agent) -> io::Result<Response<Body>> {
    let mut news = agent.news();
    // What is new until now is in the first line.
    news.mark_unchanged();
    let watcher = Watcher { agent: agent.clone(), news, beat: Instant::now(), said: None };
    let lines = stream::unfold((watcher, true), |(mut watcher, first)| async move {
        if !first {
            tokio::select! {
                biased;
                changed = watcher.news.changed() => changed.ok()?,
                () = sleep_until(watcher.beat) => {}
            }
        }
        watcher.beat = Instant::now() + HEARTBEAT;
        let line = watcher.next()?;
        Some((Ok(http_body::Frame::data(line)), (watcher, false)))
    });
    reply(StatusCode::OK, BodyExt::boxed_unsync(StreamBody::new(lines)))
}

impl Watcher {
    /// The next line: an empty one if all is as the one before said.
    fn next(&mut self) -> Option<Bytes> {
        let mut line = self.agent.line(0);
        let serial = std::mem::take(&mut line.report.serial);
        if self.said.as_ref() == Some(&line) {
            return Some(Bytes::from_static(b"\n"));
        }
        self.said = Some(line.clone());
        line.report.serial = serial;
        text(&line)
    }
}

fn text(line: &Line) -> Option<Bytes> {
    let mut text = BytesMut::new().writer();
    serde_json::to_writer(&mut text, line).ok()?;
    let mut text = text.into_inner();
    text.put_u8(b'\n');
    Some(text.freeze())
}

fn fault(agent: &Agent, status: StatusCode, message: String) -> io::Result<Response<Body>> {
    agent.counters().faults.fetch_add(1, Ordering::Relaxed);
    whole(status, &Fault { message })
}

fn whole<T: Serialize>(status: StatusCode, message: &T) -> io::Result<Response<Body>> {
    let text = serde_json::to_vec(message).map_err(io::Error::other)?;
    reply(status, BodyExt::boxed_unsync(Full::new(Bytes::from(text))))
}

fn reply(status: StatusCode, body: Body) -> io::Result<Response<Body>> {
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(io::Error::other)
}
