//! Who is let in: with the token over TLS, and nobody else.

use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::serve::{Identity, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{ask, connect, get, http2, soon};
use crate::stub::Server;

const UNAUTHORIZED: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
    "message":"Unauthorized","reason":"Unauthorized","code":401}"#;

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn nothing_is_answered_without_the_token() {
    let server = Server::start(Limits::default());
    let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
    for path in ["/version", "/livez", "/readyz", "/healthz", "/metrics", "/api", "/nowhere"] {
        for header in ["X: y", wrong.as_str(), "Authorization: Basic YTpi"] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n{header}\r\nConnection: close\r\n\r\n");
            let answer = ask(&server, &request).await;
            assert!(answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{answer}");
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert_eq!(json(body), json(UNAUTHORIZED));
            for line in ["content-type: application/json", "cache-control: no-cache, private", "audit-id: "] {
                assert!(head.contains(line), "{head}");
            }
        }
    }
}

#[tokio::test]
async fn the_service_learns_who_asks_and_not_the_token() {
    let server = Server::start(Limits::default());
    assert!(get(&server, "/who").await.ends_with("\r\n\r\nmuster:admin"));
    assert!(get(&server, "/secret").await.ends_with("\r\n\r\nNone"));
}

#[tokio::test]
async fn plain_http_is_told_that_this_is_https() {
    let server = Server::start(Limits::default());
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    stream.write_all(b"GET /version HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    let expected = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_client_that_trusts_another_authority_does_not_come_in() {
    let server = Server::start(Limits::default());
    let other = Identity::in_memory().unwrap();
    let error = soon(connect(&server, &other, "localhost", "h2")).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn the_server_may_be_called_by_each_of_its_names_and_by_no_other() {
    let server = Server::start(Limits::default());
    let names =
        ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    for name in names {
        soon(connect(&server, &server.identity, name, "http/1.1")).await.unwrap();
    }
    soon(connect(&server, &server.identity, "example.org", "http/1.1")).await.unwrap_err();
}

#[tokio::test]
async fn both_versions_of_http_are_spoken() {
    let server = Server::start(Limits::default());
    assert!(get(&server, "/version").await.starts_with("HTTP/1.1 200 OK\r\n"));
    let mut sender = http2(&server).await;
    for token in [server.identity.token(), "wrong"] {
        let request =
            Request::get("https://localhost/version").header("authorization", format!("Bearer {token}"));
        let response = soon(sender.send_request(request.body(Full::default()).unwrap())).await.unwrap();
        let good = token == server.identity.token();
        assert_eq!(response.status().as_u16(), if good { 200 } else { 401 });
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body = std::str::from_utf8(&body).unwrap();
        assert_eq!(json(body) == json(UNAUTHORIZED), !good);
    }
}

#[tokio::test]
async fn a_service_that_breaks_breaks_the_connection() {
    let server = Server::start(Limits::default());
    assert_eq!(get(&server, "/broken").await, "");
}
