//! The two listeners: for the operator, with mutual TLS, and for probes, without.
//!
//! A connection serves one request. All that a client can take is bounded: connections, the time for each step, the size of a request,
//! and how long an answer may lie unread.

mod answer;
mod connection;
mod credentials;
mod metrics;
mod probes;
mod timed;

pub use answer::{Body, answer};
pub use credentials::Keyring;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::log::say;
use crate::run::Agent;

/// How many connections of the operator are served at a time. An operator has one stream, and a few requests beside it; two operators
/// at a change of leaders have twice that.
pub const MAX_CONNECTIONS: usize = 64;
/// The same for probes.
pub const MAX_PROBES: usize = 16;
/// For TLS: a few round trips.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// For the head of a request.
pub const HEAD: Duration = Duration::from_secs(5);
/// For the body of a request.
pub const BODY: Duration = Duration::from_secs(10);
/// How long nothing of an answer may be taken: then its reader is gone.
pub const UNREAD: Duration = Duration::from_secs(10);
/// How long to wait after a connection could not be accepted: the process has too many files open, or the like.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves the operator, for as long as the agent lives.
pub async fn serve_operator(agent: Agent, listener: TcpListener, keys: Arc<Keyring>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Some((socket, place)) = accept(&agent, &listener, &places).await else { continue };
        let Some(config) = keys.current() else { continue };
        let agent = agent.clone();
        tokio::spawn(async move {
            let _place = place;
            // Who has no certificate, or too much time, is not told why: TLS says what it must.
            if let Ok(Ok(stream)) = timeout(HANDSHAKE, TlsAcceptor::from(config).accept(socket)).await {
                connection::serve(stream, move |request| answer::respond(agent.clone(), request)).await;
            }
        });
    }
}

/// Serves probes, for as long as the agent lives.
pub async fn serve_probes(agent: Agent, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MAX_PROBES));
    loop {
        let Some((socket, place)) = accept(&agent, &listener, &places).await else { continue };
        let agent = agent.clone();
        tokio::spawn(async move {
            let _place = place;
            connection::serve(socket, move |request| {
                let answer = probes::answer(&agent, &request);
                async move { Ok(answer) }
            })
            .await;
        });
    }
}

/// The next connection, if there is a place for it.
async fn accept(
    agent: &Agent,
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let socket = match listener.accept().await {
        Ok((socket, _)) => socket,
        Err(error) => {
            say!("a connection cannot be accepted: {error}");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            return None;
        }
    };
    let Ok(place) = Arc::clone(places).try_acquire_owned() else {
        agent.counters().turned_away.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    prepare(&socket).ok()?;
    Some((socket, place))
}

/// A peer that is gone without a word is noticed by the kernel.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let limit = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
    Ok(rustix::net::sockopt::set_tcp_user_timeout(socket, limit)?)
}
