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
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::dial::{Body, Dial, DialError, Dialling, Peer};
use super::limits::CONNECT_TIMEOUT;

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

/// Connects over TCP and TLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsDial {
    /// For the connection and its TLS.
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
            let connecting = tokio::time::timeout(limit, connect(&authority, tls));
            let (mut sender, driver) = connecting
                .await
                .map_err(|_| DialError::NotSent(format!("no connection within {} s", limit.as_secs())))??;
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

async fn connect(authority: &str, tls: Tls) -> Result<(Sender, Driver), DialError> {
    let not_sent = |error: &dyn fmt::Display| DialError::NotSent(error.to_string());
    let socket = TcpStream::connect(authority).await.map_err(|error| not_sent(&error))?;
    socket.set_nodelay(true).map_err(|error| not_sent(&error))?;
    let connector = TlsConnector::from(tls.config);
    let stream = connector.connect(tls.name, socket).await.map_err(|error| not_sent(&error))?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| not_sent(&error))?;
    // What goes wrong with it is said to whoever waits for the answer or reads the body.
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, Driver(driver)))
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
