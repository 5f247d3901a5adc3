//! The server stops: watches end, requests are finished, and nobody holds it up.

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::serve::Limits;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{http2, rest, soon, tls, until};
use crate::stub::Server;

#[tokio::test]
async fn watches_end_cleanly_when_the_server_stops() {
    let server = Server::start(Limits::default());
    let authorization = format!("Bearer {}", server.identity.token());
    let mut first = tls(&server).await;
    let request =
        format!("GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: a\r\nAuthorization: {authorization}\r\n\r\n");
    first.write_all(request.as_bytes()).await.unwrap();
    until(&mut first, "ADDED").await;
    let mut sender = http2(&server).await;
    let request =
        Request::get("https://localhost/api/v1/pods?watch=true").header("authorization", authorization);
    let second = soon(sender.send_request(request.body(Full::default()).unwrap())).await.unwrap();
    let silent = TcpStream::connect(server.running.address()).await.unwrap();

    let address = server.running.address();
    let (events, ended, ()) =
        soon(async { tokio::join!(second.into_body().collect(), rest(&mut first), server.running.stop()) })
            .await;
    let events = events.expect("a clean end").to_bytes();
    assert!(events.starts_with(b"{\"type\":\"ADDED\"") && events.ends_with(b"}\n"));
    assert!(ended.ends_with("0\r\n\r\n"), "the last chunk says that it is the last: {ended:?}");
    TcpStream::connect(address).await.unwrap_err();
    drop(silent);
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_hold_the_server_up() {
    let server = Server::start(Limits { stop_within: Duration::from_millis(300), ..Limits::default() });
    let mut stream = tls(&server).await;
    let request = format!("GET /never HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n", server.authorization());
    stream.write_all(request.as_bytes()).await.unwrap();
    soon(server.running.stop()).await;
    assert_eq!(rest(&mut stream).await, "");
}
