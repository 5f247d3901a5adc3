//! `/metrics`, `/readyz` and `/livez` over a socket, and how they end.

#![cfg(test)]

use std::net::SocketAddr;
use std::time::Duration;

use muster_operator::metrics::Metrics;
use muster_operator::serve::{Health, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Nothing here takes longer, on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

async fn ask(address: SocketAddr, request: &str) -> String {
    let asking = async {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket
            .write_all(format!("{request}\r\nhost: a\r\nconnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("an answer")
}

#[tokio::test]
async fn figures_and_probes_are_served() {
    let (metrics, health) = (Metrics::new(), Health::new(["clusters"]));
    let running = start(loopback(), metrics.clone(), health.clone()).await.unwrap();
    let address = running.address();
    metrics.leads(Some(7));
    let figures = ask(address, "GET /metrics HTTP/1.1").await;
    assert!(figures.starts_with("HTTP/1.1 200") && figures.contains("muster_epoch 7"), "{figures}");
    assert!(figures.contains("application/openmetrics-text"), "{figures}");
    let unready = ask(address, "GET /readyz HTTP/1.1").await;
    assert!(
        unready.starts_with("HTTP/1.1 503") && unready.ends_with("not yet read: clusters\n"),
        "{unready}"
    );
    health.synced("clusters");
    assert!(ask(address, "GET /readyz HTTP/1.1").await.starts_with("HTTP/1.1 200"));
    assert!(ask(address, "GET /livez HTTP/1.1").await.starts_with("HTTP/1.1 200"));
    assert!(ask(address, "GET / HTTP/1.1").await.starts_with("HTTP/1.1 404"));
    assert!(ask(address, "POST /metrics HTTP/1.1").await.starts_with("HTTP/1.1 405"));
    let long = format!("GET /metrics HTTP/1.1\r\nx: {}", "a".repeat(64 * 1024));
    assert!(!ask(address, &long).await.starts_with("HTTP/1.1 200"), "there is nothing long to ask");
}

#[tokio::test]
async fn it_stops_though_a_client_holds_its_connection() {
    let running = start(loopback(), Metrics::new(), Health::new([])).await.unwrap();
    let address = running.address();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    tokio::time::timeout(PATIENCE, running.stop()).await.expect("it stops");
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, idle.read_to_end(&mut rest)).await.expect("the end").unwrap();
}

#[tokio::test]
async fn a_port_in_use_is_said() {
    let running = start(loopback(), Metrics::new(), Health::new([])).await.unwrap();
    let error = start(running.address(), Metrics::new(), Health::new([])).await.err().unwrap();
    assert!(error.to_string().starts_with(&format!("cannot listen on {}", running.address())), "{error}");
}
