//! Agents over TLS sockets: a connection for each request, so that none is ever used that has died unnoticed.
//!
//! Commands are few and a stream lives for days; what a connection costs is not worth a pool.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::dial::{Body, Dial, DialError, Dialling, Peer};
use super::limits::{CONNECT_TIMEOUT, HANDSHAKE_TURN, MAX_HANDSHAKES};

/// By what the operator and an agent know each other.
#[derive(Clone)]
pub struct Tls {
    /// Whom the operator trusts, and its own certificate.
    pub config: Arc<ClientConfig>,
    /// The name that must be in the agent's certificate.
    pub name: ServerName<'static>,
}

impl Tls {
    /// Whether these are the very same keys.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({:?})", self.name)
    }
}

/// The turns of all handshakes of this process: they share its processors, whoever dials.
static HANDSHAKES: Semaphore = Semaphore::const_new(MAX_HANDSHAKES);

/// Connects over TCP and TLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsDial {
    /// For the connection, and then for its TLS.
    pub connect_timeout: Duration,
}

impl Default for TlsDial {
    fn default() -> Self {
        Self { connect_timeout: CONNECT_TIMEOUT }
    }
}

impl Dial for TlsDial {
    fn dial(&self, peer: &Peer, request: Request<Full<Bytes>>) -> Dialling {
        let (authority, tls, limit) = (peer.authority(), peer.tls.clone(), self.connect_timeout);
        Box::pin(async move {
            let tls = tls.ok_or_else(|| DialError::NotSent("there is no certificate for it".to_owned()))?;
            let (mut sender, driver) = connect(&authority, tls, limit).await?;
            let request = in_origin_form(request, &authority)?;
            let answer = sender.send_request(request).await.map_err(|error| {
                let why = error.to_string();
                if error.is_canceled() { DialError::NotSent(why) } else { DialError::Broken(why) }
            })?;
            Ok(with_connection(answer, driver))
        })
    }
}

type Sender = http1::SendRequest<Full<Bytes>>;

/// A host that is gone costs nothing but a socket while it is waited for, so it takes no turn from those that answer.
async fn connect(authority: &str, tls: Tls, limit: Duration) -> Result<(Sender, Driver), DialError> {
    let connecting = async { TcpStream::connect(authority).await.map_err(|error| not_sent(&error)) };
    let socket = within(limit, connecting).await?;
    socket.set_nodelay(true).map_err(|error| not_sent(&error))?;
    in_turn(&HANDSHAKES, limit, shake_hands(socket, tls)).await
}

async fn shake_hands(socket: TcpStream, tls: Tls) -> Result<(Sender, Driver), DialError> {
    let connector = TlsConnector::from(tls.config);
    let stream = connector.connect(tls.name, socket).await.map_err(|error| not_sent(&error))?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| not_sent(&error))?;
    // What goes wrong with it is said to whoever waits for the answer or reads the body.
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, Driver(driver)))
}

/// Does this when it is its turn; its limit counts from then. One whose turn does not come was not sent, and may be tried again.
async fn in_turn<T>(
    turns: &Semaphore,
    limit: Duration,
    work: impl Future<Output = Result<T, DialError>>,
) -> Result<T, DialError> {
    let busy = || DialError::NotSent("too many connections are being made".to_owned());
    let turn = tokio::time::timeout(HANDSHAKE_TURN, turns.acquire()).await;
    let _turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
    within(limit, work).await
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, DialError>>,
) -> Result<T, DialError> {
    let late = |_| DialError::NotSent(format!("no connection within {} s", limit.as_secs()));
    tokio::time::timeout(limit, work).await.map_err(late)?
}

fn not_sent(error: &dyn fmt::Display) -> DialError {
    DialError::NotSent(error.to_string())
}

/// On a connection of its own a request names the path; the host is a header.
fn in_origin_form(request: Request<Full<Bytes>>, authority: &str) -> Result<Request<Full<Bytes>>, DialError> {
    let not_sent = |error: http::Error| DialError::NotSent(error.to_string());
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = Uri::try_from(path).map_err(|error| not_sent(error.into()))?;
    let host = HeaderValue::try_from(authority).map_err(|error| not_sent(error.into()))?;
    parts.headers.insert(HOST, host);
    Ok(Request::from_parts(parts, body))
}

/// Keeps the connection for as long as the body is read, and ends it with it.
fn with_connection(answer: Response<Incoming>, driver: Driver) -> Response<Body> {
    answer.map(|body| Held { body, _driver: driver }.map_err(io::Error::other).boxed_unsync())
}

/// Drives a connection. Dropped, it ends it.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Held {
    body: Incoming,
    _driver: Driver,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn handshakes_take_turns_and_their_limit_counts_from_then() {
        let (turns, limit) = (Semaphore::new(2), Duration::from_secs(1));
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shake = || {
            in_turn(&turns, limit, async {
                most.fetch_max(under_way.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                drop(tokio::time::timeout(limit * 3 / 4, std::future::pending::<()>()).await);
                under_way.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            })
        };
        let done = join_all((0..8).map(|_| shake())).await;
        assert_eq!(most.into_inner(), 2);
        assert!(done.iter().all(Result::is_ok), "waiting counts for nothing: {done:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_whose_turn_does_not_come_was_not_sent() {
        let turns = Semaphore::new(1);
        let _taken = turns.acquire().await.unwrap();
        let never = in_turn(&turns, CONNECT_TIMEOUT, async { Ok(()) }).await;
        assert!(matches!(never, Err(DialError::NotSent(_))), "{never:?}");
    }
}
