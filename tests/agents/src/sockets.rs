//! A simulated agent on a real socket, with mutual TLS: for tests of what a socket adds.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::{Body, Fleet};

/// A member of a fleet that listens on loopback. Dropped, it ends, and its connections with it.
pub struct Listening {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Listening {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fleet {
    /// Lets this member, named as in a request's host, listen on loopback with this TLS.
    pub async fn listen(&self, member: &str, tls: Arc<ServerConfig>) -> io::Result<Listening> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (fleet, member, tls) = (self.clone(), member.to_owned(), TlsAcceptor::from(tls));
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(serve(socket, tls.clone(), fleet.clone(), member.clone()));
            }
        });
        Ok(Listening { address, task })
    }
}

/// What goes wrong with a connection is its client's to see.
async fn serve(socket: TcpStream, tls: TlsAcceptor, fleet: Fleet, member: String) {
    let Ok(stream) = tls.accept(socket).await else { return };
    let dial = fleet.dial();
    let service = service_fn(move |request: Request<Incoming>| {
        let (dial, member) = (dial.clone(), member.clone());
        async move { pass_on(request, &member, dial).await }
    });
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

async fn pass_on<D, F>(request: Request<Incoming>, member: &str, dial: D) -> io::Result<Response<Body>>
where
    D: Fn(Request<Full<Bytes>>) -> F,
    F: Future<Output = io::Result<Response<Body>>>,
{
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = Uri::try_from(format!("https://{member}{path}")).map_err(io::Error::other)?;
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    dial(Request::from_parts(parts, Full::new(body))).await
}
