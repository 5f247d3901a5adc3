//! A kubelet's endpoint, as far as `kubectl logs` needs it: `GET /containerLogs/NAMESPACE/POD/CONTAINER`, over TLS, on loopback, for an API
//! server that shows a certificate of the authority that it was told of.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use super::{Logs, Refusal};

/// How many connections there may be: each that follows a log holds one.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take over the handshake, and over the head of its request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// After the machine refused a connection: time for some to end.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// Why logs are not served.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The authority is of no use.
    #[error("{0} holds no certificate of an authority: {1}")]
    Authority(PathBuf, String),
    /// There is no port.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Socket(#[from] std::io::Error),
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

/// An endpoint that listens already, so that its port can be told.
pub struct Endpoint {
    listener: TcpListener,
    tls: TlsAcceptor,
    port: u16,
}

impl Endpoint {
    /// Listens on a port of its own, for whoever has a certificate of this authority.
    pub async fn listen(node: &str, authority: &Path) -> Result<Self, EndpointError> {
        let tls = TlsAcceptor::from(Arc::new(tls(node, authority)?));
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, tls, port })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves these logs until dropped.
    pub async fn serve(self, logs: Logs) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let place = Arc::clone(&places).acquire_owned().await;
            while connections.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((socket, _)) => {
                    let (tls, logs) = (self.tls.clone(), logs.clone());
                    connections.spawn(async move {
                        // How it ended is the client's affair.
                        drop(serve_one(socket, tls, logs).await);
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(REFUSED_PAUSE).await,
            }
        }
    }
}

fn tls(node: &str, authority: &Path) -> Result<ServerConfig, EndpointError> {
    let unusable = |why: String| EndpointError::Authority(authority.to_owned(), why);
    let broken = |error: &dyn std::fmt::Display| EndpointError::Tls(error.to_string());
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(authority).map_err(|error| unusable(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let clients = clients.build().map_err(|error| unusable(error.to_string()))?;
    // As with a kubelet of which nothing else was said, it vouches for itself.
    let names = vec![node.to_owned(), Ipv4Addr::LOCALHOST.to_string()];
    let own = rcgen::generate_simple_self_signed(names).map_err(|error| broken(&error))?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().map_err(|error| broken(&error))?;
    let config = config.with_client_cert_verifier(clients);
    config.with_single_cert(vec![own.cert.der().clone()], key).map_err(|error| broken(&error))
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

async fn serve_one(
    socket: TcpStream,
    tls: TlsAcceptor,
    logs: Logs,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let stream = tokio::time::timeout(HEAD_WITHIN, tls.accept(socket)).await??;
    let service = service_fn(move |request| {
        let logs = logs.clone();
        async move { Ok::<_, Infallible>(answer(&logs, &request).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    Ok(http.serve_connection(TokioIo::new(stream), service).await?)
}

async fn answer(logs: &Logs, request: &Request<Incoming>) -> Response<Body> {
    let parts: Vec<&str> = request.uri().path().trim_start_matches('/').split('/').collect();
    let said = match (request.method(), parts.as_slice()) {
        (&Method::GET, ["containerLogs", namespace, pod, container]) => {
            logs.read(namespace, pod, container, request.uri().query().unwrap_or_default()).await
        }
        _ => Err(Refusal { code: 404, message: "only /containerLogs is served here".to_owned() }),
    };
    match said {
        Ok(said) => {
            let frames = said.map(|piece| Ok(Frame::data(Bytes::from(piece))));
            text(StatusCode::OK, StreamBody::new(frames).boxed_unsync())
        }
        Err(refusal) => {
            let code = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            text(code, Full::new(Bytes::from(refusal.message)).boxed_unsync())
        }
    }
}

fn text(code: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let kind = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    response
}
