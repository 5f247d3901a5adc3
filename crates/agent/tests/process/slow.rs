//! Clients that are slow, half there, or too many: each is let go after its time, and none keeps the operator out.

use std::time::{Duration, Instant};

use muster_agent::server::{BODY, HANDSHAKE, HEAD, MAX_CONNECTIONS};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::clients::{connect, operator, read};
use super::place::Place;

/// What a busy machine may add.
const MORE: Duration = Duration::from_secs(10);

/// Waits for the end of a connection, which comes after `least`.
async fn ends(stream: &mut (impl AsyncReadExt + Unpin), least: Duration, began: Instant) -> (u16, String) {
    let answer = tokio::time::timeout(least + MORE, read(stream)).await.expect("it is let go");
    assert!(began.elapsed() + Duration::from_millis(100) >= least, "after {:?}", began.elapsed());
    answer
}

#[tokio::test]
async fn who_is_slow_is_let_go() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    let (address, config) = (agent.agent, operator(&place.ca));
    let began = Instant::now();
    let mute = async {
        let mut socket = TcpStream::connect(address).await.unwrap();
        assert_eq!(ends(&mut socket, HANDSHAKE, began).await.0, 0);
    };
    let half_a_head = async {
        let mut stream = connect(address, config.clone()).await.unwrap();
        stream.write_all(b"POST /v1/command HT").await.unwrap();
        ends(&mut stream, HEAD, began).await;
    };
    let nothing_after_tls = async {
        let mut stream = connect(address, config.clone()).await.unwrap();
        ends(&mut stream, HEAD, began).await;
    };
    let half_a_body = async {
        let mut stream = connect(address, config.clone()).await.unwrap();
        stream
            .write_all(b"POST /v1/command HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
            .await
            .unwrap();
        assert_eq!(ends(&mut stream, BODY, began).await.0, 408);
    };
    let probe = async {
        let mut socket = TcpStream::connect(agent.probes).await.unwrap();
        socket.write_all(b"GET /liv").await.unwrap();
        ends(&mut socket, HEAD, began).await;
    };
    tokio::join!(mute, half_a_head, nothing_after_tls, half_a_body, probe);
    agent.seed().await;
}

#[tokio::test]
async fn too_many_are_turned_away_until_there_is_a_place() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    let mut sockets = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        sockets.push(TcpStream::connect(agent.agent).await.unwrap());
    }
    let mut one_more = TcpStream::connect(agent.agent).await.unwrap();
    let mut answer = Vec::new();
    let turned_away = tokio::time::timeout(HANDSHAKE / 2, one_more.read_to_end(&mut answer)).await;
    assert!(turned_away.is_ok() && answer.is_empty(), "at once, and not after its time");
    let metrics = super::clients::get(agent.probes, "/metrics").await.1;
    assert!(metrics.contains("muster_agent_turned_away_total{"), "{metrics}");
    // Nobody has to go: their time is over soon, and the operator asks again.
    agent.line().await;
    drop(sockets);
}
