//! Clients that are not the operator's: a kubelet's, and bare sockets.

use std::net::SocketAddr;
use std::sync::Arc;

use muster_operator::certificates::{AgentCa, OperatorTls};
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::place::{chance, clock, member};

/// Asks without TLS; the status and the body.
pub(crate) async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    read(&mut socket).await
}

/// Reads an answer to its end.
pub(crate) async fn read(socket: &mut (impl AsyncReadExt + Unpin)) -> (u16, String) {
    let mut answer = Vec::new();
    // A server that turns someone away may do so before it has read everything.
    let _ = socket.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    (status, body)
}

/// How an operator of this authority speaks.
pub(crate) fn operator(ca: &AgentCa) -> Arc<ClientConfig> {
    OperatorTls::new(ca, &clock(), &mut chance()).unwrap().config()
}

/// A connection with TLS, on which nothing was said yet.
pub(crate) async fn connect(
    address: SocketAddr,
    config: Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let socket = TcpStream::connect(address).await?;
    TlsConnector::from(config).connect(member().server_name().unwrap(), socket).await
}

/// Sends these bytes as the operator, and reads the answer.
pub(crate) async fn send(address: SocketAddr, ca: &AgentCa, request: &[u8]) -> (u16, String) {
    let mut stream = connect(address, operator(ca)).await.unwrap();
    // It may be turned away before all of it is sent.
    let _ = stream.write_all(request).await;
    read(&mut stream).await
}
