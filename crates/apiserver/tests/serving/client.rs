//! Clients that speak TLS and HTTP word by word, so that they can be rude.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use muster_apiserver::serve::Identity;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::stub::Server;

/// Nothing in these tests takes this long on a machine that is not broken.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, what).await.expect("it did not happen in time")
}

/// What a client that trusts this authority says in the handshake.
fn config(identity: &Identity, protocol: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(identity.authority().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Arc::new(config)
}

/// A connection with TLS to this server, by this name, trusting this authority.
pub(crate) async fn connect(
    server: &Server,
    trusted: &Identity,
    name: &'static str,
    protocol: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let socket = TcpStream::connect(server.running.address()).await?;
    let name = ServerName::try_from(name).unwrap();
    TlsConnector::from(config(trusted, protocol)).connect(name, socket).await
}

/// A connection as a good client makes it.
pub(crate) async fn tls(server: &Server) -> TlsStream<TcpStream> {
    soon(connect(server, &server.identity, "127.0.0.1", "http/1.1")).await.unwrap()
}

/// Sends this, and returns what comes back until the server closes.
pub(crate) async fn ask(server: &Server, request: &str) -> String {
    let mut stream = tls(server).await;
    soon(stream.write_all(request.as_bytes())).await.unwrap();
    rest(&mut stream).await
}

/// A GET that the server answers and closes after; with the token.
pub(crate) async fn get(server: &Server, path: &str) -> String {
    let authorization = server.authorization();
    ask(server, &format!("GET {path} HTTP/1.1\r\nHost: a\r\n{authorization}\r\nConnection: close\r\n\r\n"))
        .await
}

/// What comes until the end; an end without goodbye is an end too.
pub(crate) async fn rest(stream: &mut TlsStream<TcpStream>) -> String {
    let mut all = Vec::new();
    let _ = soon(stream.read_to_end(&mut all)).await;
    String::from_utf8(all).unwrap()
}

/// What comes until this has come.
pub(crate) async fn until(stream: &mut TlsStream<TcpStream>, end: &str) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&all).contains(end) {
        let read = soon(stream.read(&mut buffer)).await.unwrap();
        assert_ne!(read, 0, "closed after {:?}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8(all).unwrap()
}

/// A connection that speaks HTTP/2.
pub(crate) async fn http2(server: &Server) -> SendRequest<Full<Bytes>> {
    let stream = soon(connect(server, &server.identity, "localhost", "h2")).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = soon(handshake).await.unwrap();
    tokio::spawn(connection);
    sender
}
