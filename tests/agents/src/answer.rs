//! Requests on their way to an agent, what goes wrong with them there, and the answers.

use std::io;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use muster_protocol::{
    COMMAND_PATH, Command, EPOCH_PATH, Epoch, Fault as Refused, Instruction, Outcome, REPORT_PATH, WATCH_PATH,
};
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::faults::{Fault, Seen};
use crate::fleet::{Body, Inner};
use crate::pace::{after, until};
use crate::state::{Key, State};
use crate::stream;

type Answer = io::Result<Response<Body>>;

/// Sends a request to the agent it names. What was sent arrives even if nobody waits for the answer any more.
pub(crate) async fn send(fleet: Weak<Inner>, request: Request<Full<Bytes>>) -> Answer {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let (answer, answered) = oneshot::channel();
    tokio::spawn(async move {
        // Nobody may wait any more.
        let _ = answer.send(deliver(&fleet, &parts.method, &parts.uri, &body).await);
    });
    // The sender lives as long as its task, unless the runtime ends.
    answered.await.unwrap_or_else(|_| Err(broken("the agents are gone")))
}

async fn deliver(fleet: &Weak<Inner>, method: &Method, uri: &Uri, body: &Bytes) -> Answer {
    let Some(inner) = fleet.upgrade() else { return Err(refused("the agents are gone")) };
    let found = inner.state().find(uri.host().unwrap_or_default());
    let Some(key) = found else {
        let at = Instant::now() + inner.state().pace.no_route;
        drop(inner);
        until(at).await;
        return Err(refused("no route to host"));
    };
    let fault = inner.state().fault(&key, uri, body);
    pass(&inner).await;
    if let Some(error) = before(&inner, &key, fault).await {
        return Err(error);
    }
    let answered = answer(&inner, &key, method, uri, body);
    if let Fault::Repeated(delay) = fault {
        let (inner, key, method, uri, body) =
            (Arc::clone(&inner), key.clone(), method.clone(), uri.clone(), body.clone());
        tokio::spawn(async move {
            until(Instant::now() + delay).await;
            drop(answer(&inner, &key, &method, &uri, &body));
        });
    }
    let answered = answered?;
    if let Some(error) = behind(&inner, &key, fault).await {
        return Err(error);
    }
    pass(&inner).await;
    Ok(answered)
}

/// A message is on its way.
async fn pass(inner: &Inner) {
    let at = {
        let mut state = inner.state();
        let most = state.pace.message;
        after(most, &mut state.chance)
    };
    until(at).await;
}

/// What happens before a request arrives; the error that keeps it from arriving.
async fn before(inner: &Inner, key: &Key, fault: Fault) -> Option<io::Error> {
    match fault {
        Fault::Refused => return Some(refused("connection refused")),
        Fault::Lost => std::future::pending::<()>().await,
        Fault::Late(delay) => until(Instant::now() + delay).await,
        Fault::RestartBefore => inner.change(|state| state.restart(key)),
        _ => {}
    }
    let (away, no_route, runs) = {
        let state = inner.state();
        let extra = state.members.get(key)?;
        (extra.dark || extra.isolated, state.pace.no_route, state.run(key).is_some())
    };
    if away {
        until(Instant::now() + no_route).await;
        return Some(refused("no route to host"));
    }
    (!runs).then(|| refused("connection refused"))
}

/// What happens after a request was answered; the error that its sender gets instead of the answer.
async fn behind(inner: &Inner, key: &Key, fault: Fault) -> Option<io::Error> {
    match fault {
        Fault::AnswerLost => return Some(broken("connection reset")),
        Fault::AnswerLate(delay) => until(Instant::now() + delay).await,
        Fault::RestartAfter => {
            inner.change(|state| state.restart(key));
            return Some(broken("connection reset"));
        }
        Fault::PowerOffAfter => {
            inner.change(|state| state.power_off(key));
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    let isolated = inner.state().members.get(key).is_some_and(|extra| extra.isolated);
    if isolated {
        std::future::pending::<()>().await;
    }
    None
}

fn answer(inner: &Arc<Inner>, key: &Key, method: &Method, uri: &Uri, body: &Bytes) -> Answer {
    match (method, uri.path()) {
        (&Method::GET, REPORT_PATH) => {
            let round = uri.query().and_then(|query| query.strip_prefix("round=")).map(str::parse);
            match round.unwrap_or(Ok(0)) {
                Ok(round) => said(inner.change(|state| state.line(key, round))),
                Err(error) => fault(StatusCode::BAD_REQUEST, error.to_string()),
            }
        }
        (&Method::GET, WATCH_PATH) => stream::open(inner, key),
        (&Method::POST, EPOCH_PATH) => match serde_json::from_slice::<Epoch>(body) {
            Ok(epoch) => said(inner.change(|state| state.take_epoch(key, epoch))),
            Err(error) => fault(StatusCode::BAD_REQUEST, error.to_string()),
        },
        (&Method::POST, COMMAND_PATH) => match serde_json::from_slice::<Instruction>(body) {
            Ok(instruction) => inner.change(|state| state.obey(key, &instruction.command)),
            Err(error) => fault(StatusCode::BAD_REQUEST, error.to_string()),
        },
        _ => fault(StatusCode::NOT_FOUND, format!("there is no {method} {}", uri.path())),
    }
}

impl State {
    /// The member at this host: its name, the name of its Pod in DNS, or the address of its Pod.
    fn find(&self, host: &str) -> Option<Key> {
        if let Some(key) = self.addresses.get(host) {
            return Some(key.clone());
        }
        let mut labels = host.split('.');
        let first = labels.next().unwrap_or_default();
        let namespace = labels.nth(1);
        let of_pod = first.strip_suffix("-0").unwrap_or(first);
        let named = |key: &&Key| {
            let here = namespace.is_none_or(|namespace| namespace == key.0);
            here && (key.1 == first || key.1 == of_pod)
        };
        self.members.keys().find(named).cloned()
    }

    fn fault(&mut self, key: &Key, uri: &Uri, body: &Bytes) -> Fault {
        self.requests += 1;
        let is_command = uri.path() == COMMAND_PATH;
        let instruction = is_command.then(|| serde_json::from_slice::<Instruction>(body).ok()).flatten();
        let (namespace, member) = key.clone();
        let seen =
            Seen { number: self.requests, namespace, member, path: uri.path().to_owned(), instruction };
        self.faults.request(&seen)
    }

    fn take_epoch(&mut self, key: &Key, epoch: Epoch) -> Option<muster_protocol::Line> {
        let node = self.node(key)?;
        node.agent.as_ref()?;
        node.volume.epoch = node.volume.epoch.max(epoch.epoch);
        let volume = node.volume.uuid.clone();
        self.obeyed.heard(volume, epoch.epoch);
        self.line(key, epoch.round)
    }

    fn obey(&mut self, key: &Key, command: &Command) -> Answer {
        let fresh = self.name();
        let Some(node) = self.node(key) else { return Err(refused("connection refused")) };
        if node.agent.as_ref().is_some_and(|agent| agent.looking) {
            return fault(
                StatusCode::SERVICE_UNAVAILABLE,
                "it looks for what an earlier run left".to_owned(),
            );
        }
        let (volume, before) = (node.volume.uuid.clone(), node.volume.last);
        let outcome = node.obey(command, || fresh);
        if matches!(&outcome, Some(Ok(answer)) if Some(*answer) != before) {
            self.check_obeyed(key, volume, command);
        }
        match outcome {
            None => Err(refused("connection refused")),
            Some(Ok(answer)) => whole(StatusCode::OK, &Outcome::Obeyed(answer)),
            Some(Err(refusal)) => whole(StatusCode::OK, &Outcome::Refused(refusal)),
        }
    }
}

fn said(line: Option<muster_protocol::Line>) -> Answer {
    line.map_or_else(|| Err(refused("connection refused")), |line| whole(StatusCode::OK, &line))
}

fn fault(status: StatusCode, message: String) -> Answer {
    whole(status, &Refused { message })
}

fn whole<T: Serialize>(status: StatusCode, message: &T) -> Answer {
    let text = serde_json::to_vec(message).map_err(io::Error::other)?;
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(io::Error::other)
}

pub(crate) fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, why)
}

pub(crate) fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, why)
}
