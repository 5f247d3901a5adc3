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

pub use answer::Body;
pub use credentials::Keyring;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
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
/// After how long without a word from a peer the kernel asks whether it is there: while a command is done, nobody says anything.
const SILENT: Duration = Duration::from_secs(5);
/// How often it is asked then; who has not answered for [`UNREAD`] is gone.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// Within which a peer is let go that vanished without a word, whatever it was doing: the longest of the above, and a last question.
pub const GONE: Duration = Duration::from_secs(UNREAD.as_secs() + SILENT.as_secs());
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
                serve_request(agent, stream).await;
            }
        });
    }
}

/// Serves the request of a connection on which the operator was told by its certificate.
pub async fn serve_request(agent: Agent, stream: impl AsyncRead + AsyncWrite + Unpin) {
    connection::serve(stream, move |request| answer::respond(agent.clone(), request)).await;
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

/// A peer that is gone without a word is noticed by the kernel: by what it does not acknowledge, and by what it does not answer.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let limit = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(socket, limit)?;
    sockopt::set_tcp_keepidle(socket, SILENT)?;
    sockopt::set_tcp_keepintvl(socket, ASK_AGAIN)?;
    Ok(sockopt::set_socket_keepalive(socket, true)?)
}
