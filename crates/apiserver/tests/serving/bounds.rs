//! Clients that are slow, greedy or many.

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::serve::Limits;
use muster_apiserver::serve::limits::{MAX_BODY_BYTES, MAX_HEADER_BYTES};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{ask, get, http2, rest, soon, tls, until};
use crate::stub::Server;

/// Short enough for a test, long enough for a good client on a busy machine.
const SHORT: Duration = Duration::from_millis(300);

/// How long an answer may lie unread where a good client reads others beside it: on a busy machine that one is late, too.
const UNREAD: Duration = Duration::from_secs(3);

fn closes_soon() -> Limits {
    Limits { look_every: SHORT, ..Limits::default() }
}

fn post(server: &Server, length: usize) -> String {
    let authorization = server.authorization();
    format!(
        "POST /length HTTP/1.1\r\nHost: a\r\n{authorization}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

#[tokio::test]
async fn a_body_may_be_as_large_as_on_kube_apiserver_and_no_larger() {
    let server = Server::start(Limits::default());
    let whole = format!("{}{}", post(&server, MAX_BODY_BYTES), "a".repeat(MAX_BODY_BYTES));
    assert!(ask(&server, &whole).await.ends_with(&format!("\r\n\r\n{MAX_BODY_BYTES}")));
    for length in [MAX_BODY_BYTES + 1, 10 * MAX_BODY_BYTES] {
        let larger = format!("{}{}", post(&server, length), "a".repeat(length));
        let answer = ask(&server, &larger).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains(r#""message":"Request entity too large: limit is 3145728""#), "{answer}");
        assert!(answer.contains(r#""reason":"RequestEntityTooLarge""#), "{answer}");
    }
}

#[tokio::test]
async fn a_header_that_never_ends_is_refused() {
    let server = Server::start(Limits::default());
    let long = "a".repeat(2 * MAX_HEADER_BYTES);
    let mut stream = tls(&server).await;
    // It may be refused before it is all written.
    let _ = stream.write_all(format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n").as_bytes()).await;
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 431 "));

    let mut sender = http2(&server).await;
    let request = Request::get("https://localhost/version").header("x", long).body(Full::default()).unwrap();
    match soon(sender.send_request(request)).await {
        Ok(response) => assert_eq!(response.status().as_u16(), 431),
        Err(error) => assert!(!error.is_timeout(), "{error}"),
    }
}

#[tokio::test]
async fn a_client_that_never_ends_its_first_header_is_closed_upon() {
    let server = Server::start(Limits { first_request_within: SHORT, ..closes_soon() });
    let mut slow = tls(&server).await;
    slow.write_all(b"GET /version HTTP/1.1\r\nHo").await.unwrap();
    assert_eq!(rest(&mut slow).await, "");
    let mut silent = tls(&server).await;
    assert_eq!(rest(&mut silent).await, "");
}

#[tokio::test]
async fn a_client_that_never_ends_its_handshake_is_closed_upon() {
    let server = Server::start(Limits { handshake_within: SHORT, ..Limits::default() });
    for start in [&b""[..], b"\x16", b"\x16\x03\x01"] {
        let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
        stream.write_all(start).await.unwrap();
        let mut answer = Vec::new();
        let _ = soon(stream.read_to_end(&mut answer)).await;
    }
}

#[tokio::test]
async fn a_body_that_never_ends_times_out() {
    let server = Server::start(Limits { request_within: SHORT, ..Limits::default() });
    let mut stream = tls(&server).await;
    stream.write_all(format!("{}{{", post(&server, 100)).as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    assert!(answer.contains("Timeout: request did not complete within the allotted timeout"), "{answer}");
    assert!(answer.contains(r#""reason":"Timeout""#), "{answer}");
}

#[tokio::test]
async fn a_request_that_takes_too_long_times_out() {
    let server = Server::start(Limits { request_within: SHORT, ..Limits::default() });
    assert!(get(&server, "/never").await.starts_with("HTTP/1.1 504 "));
}

#[tokio::test]
async fn too_many_requests_at_once_are_told_to_come_back() {
    let limits = Limits { requests: 1, turn_within: SHORT, ..Limits::default() };
    let server = Server::start(limits);
    let mut first = tls(&server).await;
    let authorization = server.authorization();
    let request = format!("GET /never HTTP/1.1\r\nHost: a\r\n{authorization}\r\n\r\n");
    first.write_all(request.as_bytes()).await.unwrap();
    // Which of the two comes first is open; the other one is refused.
    let second = async {
        loop {
            let answer = get(&server, "/version").await;
            if answer.starts_with("HTTP/1.1 429 ") {
                return answer;
            }
        }
    };
    let answer = soon(second).await;
    assert!(answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
    assert!(answer.contains(r#""retryAfterSeconds":1"#), "{answer}");
    assert!(answer.contains(r#""reason":"TooManyRequests""#), "{answer}");
    drop(first);
    let third = async { while !get(&server, "/version").await.starts_with("HTTP/1.1 200 ") {} };
    soon(third).await;
}

#[tokio::test]
async fn watches_are_counted_apart_from_requests() {
    let server = Server::start(Limits { watches: 2, requests: 1, ..Limits::default() });
    let request =
        format!("GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n", server.authorization());
    let mut watches = Vec::new();
    for _ in 0..2 {
        let mut stream = tls(&server).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(until(&mut stream, "ADDED").await.starts_with("HTTP/1.1 200 OK"));
        watches.push(stream);
    }
    assert!(get(&server, "/version").await.starts_with("HTTP/1.1 200 "));
    assert!(get(&server, "/api/v1/pods?watch=true").await.starts_with("HTTP/1.1 429 "));
    drop(watches);
    let again = async {
        loop {
            let mut stream = tls(&server).await;
            stream.write_all(request.as_bytes()).await.unwrap();
            if until(&mut stream, "\r\n\r\n").await.starts_with("HTTP/1.1 200 ") {
                break;
            }
        }
    };
    soon(again).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_closed_upon() {
    let limits =
        Limits { stalled_for: SHORT, requests: 1, turn_within: crate::client::SOON, ..closes_soon() };
    let server = Server::start(limits);
    let mut stalled = tls(&server).await;
    let request = format!("GET /big HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n", server.authorization());
    stalled.write_all(request.as_bytes()).await.unwrap();
    until(&mut stalled, "HTTP/1.1 200 OK").await;
    // The one turn there is comes back only when the stalled connection is given up.
    assert!(get(&server, "/version").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn an_http2_client_that_reads_nothing_is_closed_upon() {
    let limits =
        Limits { answer_read_within: UNREAD, requests: 1, turn_within: crate::client::SOON, ..closes_soon() };
    let server = Server::start(limits);
    let mut sender = http2(&server).await;
    let request = Request::get("https://localhost/big")
        .header("authorization", format!("Bearer {}", server.identity.token()))
        .body(Full::default())
        .unwrap();
    let stalled = soon(sender.send_request(request)).await.unwrap();
    assert!(get(&server, "/version").await.starts_with("HTTP/1.1 200 "));
    assert!(stalled.into_body().collect().await.is_err(), "its connection is closed");
}

#[tokio::test]
async fn thousands_of_idle_connections_do_not_keep_a_good_client_out() {
    let server = Server::start(Limits { connections: 50, ..Limits::default() });
    let mut watching = tls(&server).await;
    let request =
        format!("GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n", server.authorization());
    watching.write_all(request.as_bytes()).await.unwrap();
    until(&mut watching, "ADDED").await;

    // As many as this process may have, up to a few thousand.
    let many = 2000.min(Limits::default().connections / 2);
    let mut idle = Vec::new();
    for _ in 0..many {
        idle.push(soon(TcpStream::connect(server.running.address())).await.unwrap());
    }
    assert!(get(&server, "/version").await.starts_with("HTTP/1.1 200 "));
    for closed in &mut idle[..many - 50] {
        let mut buffer = [0];
        assert!(!matches!(soon(closed.read(&mut buffer)).await, Ok(1)));
    }
    // The one with the token is still there.
    let mut buffer = [0];
    let more = tokio::time::timeout(SHORT, watching.read(&mut buffer)).await;
    assert!(more.is_err(), "the watch goes on, and tells nothing new");
}

#[tokio::test]
async fn an_unused_connection_is_closed_with_a_goodbye() {
    let server = Server::start(Limits { idle_for: SHORT, ..closes_soon() });
    let mut sender = http2(&server).await;
    let request = Request::get("https://localhost/version")
        .header("authorization", format!("Bearer {}", server.identity.token()))
        .body(Full::default())
        .unwrap();
    let response = soon(sender.send_request(request)).await.unwrap();
    response.into_body().collect().await.unwrap();
    let closed = async {
        while sender.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    soon(closed).await;
}
