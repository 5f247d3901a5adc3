//! Connections through the address of a Service.

use std::net::SocketAddr;
use std::time::Duration;

use muster_local::services::{Options, run};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::{BOUND, Stage, Task};

/// A server that says who it is, and then says again what it hears until it hears no more.
async fn echo(name: &'static str) -> (SocketAddr, Task) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = Task::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                stream.write_all(name.as_bytes()).await.ok();
                let mut heard = Vec::new();
                stream.read_to_end(&mut heard).await.ok();
                stream.write_all(&heard).await.ok();
            });
        }
    });
    (address, task)
}

/// How the API has 127.0.0.1, which it would not take as an address.
const NAME: &str = "127-0-0-1.p.pod.cluster.local";

/// A slice made by hand, as beside a real controller manager.
fn slice(endpoints: &[SocketAddr]) -> Vec<Value> {
    let slice = |(number, endpoint): (usize, &SocketAddr)| {
        json!({
            "metadata": {"name": format!("db-{number}"), "labels": {"kubernetes.io/service-name": "db"}},
            "addressType": "FQDN", "ports": [{"name": "sql", "port": endpoint.port(), "protocol": "TCP"}],
            "endpoints": [{"addresses": [NAME], "conditions": {"ready": true}}],
        })
    };
    endpoints.iter().enumerate().map(slice).collect()
}

async fn stage() -> Stage {
    let mut stage = Stage::ours("p").await;
    stage.also(run(stage.client.clone(), Options { slices: false }));
    stage
}

/// Connects, and hears one letter: who is there.
async fn connect(place: SocketAddr) -> Option<(TcpStream, String)> {
    let mut stream = TcpStream::connect(place).await.ok()?;
    let mut name = [0; 1];
    stream.read_exact(&mut name).await.ok()?;
    Some((stream, String::from_utf8_lossy(&name).into_owned()))
}

/// Tries until someone of this name is there.
async fn reach(place: SocketAddr, wanted: &str) -> TcpStream {
    let trying = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        loop {
            ticks.tick().await;
            if let Some((stream, name)) = connect(place).await
                && name == wanted
            {
                return stream;
            }
        }
    };
    tokio::time::timeout(BOUND, trying).await.unwrap()
}

#[tokio::test]
async fn connections_are_led_to_ready_endpoints_and_end_with_them() {
    let stage = stage().await;
    let ((a, _a), (b, _b)) = (echo("a").await, echo("b").await);
    let service = json!({"metadata": {"name": "db"}, "spec": {
        "type": "NodePort", "selector": {"app": "db"}, "ports": [{"name": "sql", "port": 3306}],
    }});
    let service = stage.create("services", service).await;
    let address = service.data["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("127.78."), "{address}");
    let place = SocketAddr::new(address.parse().unwrap(), 3306);
    let slices = slice(&[a, b]);
    stage.create("endpointslices", slices[0].clone()).await;
    let mut to_a = reach(place, "a").await;
    let node_port = u16::try_from(service.data["spec"]["ports"][0]["nodePort"].as_u64().unwrap()).unwrap();
    reach(SocketAddr::from(([127, 0, 0, 1], node_port)), "a").await;

    // One side ends, the other still speaks.
    let mut half = reach(place, "a").await;
    half.write_all(b"hello").await.unwrap();
    half.shutdown().await.unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "hello");

    stage.create("endpointslices", slices[1].clone()).await;
    let mut to_b = reach(place, "b").await;
    let (_, one) = connect(place).await.unwrap();
    let (_, other) = connect(place).await.unwrap();
    assert_ne!(one, other, "in turn");

    // What goes away takes its connections with it, at once; the others stay.
    let gone = json!({"endpoints": [{"addresses": [NAME], "conditions": {"ready": false}}]});
    stage.patch("endpointslices", "db-0", gone).await;
    let cut = tokio::time::timeout(BOUND, to_a.read(&mut [0; 1])).await.unwrap();
    assert_eq!(cut.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    to_b.write_all(b"x").await.unwrap();
    to_b.shutdown().await.unwrap();
    let mut answer = String::new();
    to_b.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "x");

    // With nobody there a connection ends at once; without the Service there is nothing to connect to.
    stage.delete("endpointslices", "db-1").await;
    until_none(place).await;
    stage.delete("services", "db").await;
    let refused = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        while TcpStream::connect(place).await.is_ok() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(BOUND, refused).await.unwrap();
}

async fn until_none(place: SocketAddr) {
    let trying = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        while connect(place).await.is_some() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(BOUND, trying).await.unwrap();
}

#[tokio::test]
async fn a_place_that_is_taken_is_said_and_tried_again() {
    let stage = stage().await;
    let (a, _a) = echo("a").await;
    let place: SocketAddr = "127.78.0.3:4567".parse().unwrap();
    let taken = TcpListener::bind(place).await.unwrap();
    let service = json!({"metadata": {"name": "db"}, "spec": {
        "clusterIP": "127.78.0.3", "ports": [{"name": "sql", "port": 4567}],
    }});
    stage.create("services", service).await;
    stage.create("endpointslices", slice(&[a])[0].clone()).await;
    let is_it = |event: &Value| event["reason"] == "FailedToListen" && event["type"] == "Warning";
    stage.until_all("events", |events| events.iter().any(is_it)).await;
    drop(taken);
    reach(place, "a").await;
}
