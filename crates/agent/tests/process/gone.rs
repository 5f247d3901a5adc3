//! Peers that vanish without a word, as when their machine loses its power: each is noticed, whatever it was doing, and let go within a
//! bound; and none of them keeps the operator out.

use std::time::{Duration, Instant};

use muster_agent::server::{GONE, MAX_CONNECTIONS};
use muster_core::manager::command::Action;
use muster_protocol::{COMMAND_PATH, WATCH_PATH};
use socket2::{SockFilter, SockRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::clients::{connect, operator};
use super::place::{Living, Place, lives};

/// A filter of the kernel's that has one instruction: take nothing of what comes.
const NOTHING: SockFilter = SockFilter::new(0x06, 0, 0, 0);
/// What a busy machine may add.
const MORE: Duration = Duration::from_secs(10);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(100);

/// From now on nothing that is sent to this socket is taken or acknowledged, and nothing is ever said from it, not even that it is closed.
fn vanish(socket: &TcpStream) {
    SockRef::from(socket).attach_filter(&[NOTHING]).unwrap();
}

/// One that has said this, and heard this many bytes.
async fn after(agent: &Living, place: &Place, said: &str, heard: usize) -> TlsStream<TcpStream> {
    let mut stream = connect(agent.agent, operator(&place.ca)).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    let mut bytes = vec![0; heard];
    stream.read_exact(&mut bytes).await.unwrap();
    stream
}

fn watching() -> String {
    format!("GET {WATCH_PATH} HTTP/1.1\r\nhost: x\r\n\r\n")
}

#[tokio::test]
async fn who_vanishes_is_let_go_in_the_middle_of_everything() {
    let place = Place::new();
    let path = place.path("config/engine.json");
    let mut engine: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    // Far longer than anyone may be waited for.
    engine["actions"]["leave"]["timeoutSeconds"] = 600.into();
    std::fs::write(&path, engine.to_string()).unwrap();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    let mut lives_on = after(&agent, &place, &watching(), 1).await;
    let before = agent.sockets();

    // While its command is done, nobody says anything.
    place.tell("leave.hangs", "");
    let order = serde_json::to_string(&agent.order(2, Action::Leave).await).unwrap();
    let order =
        format!("POST {COMMAND_PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{order}", order.len());
    let commanding = after(&agent, &place, &order, 0).await;
    place.until_logged("leave").await;
    let half_a_head = after(&agent, &place, "GET /v1/re", 0).await;
    let half_a_body =
        after(&agent, &place, "POST /v1/epoch HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{", 0).await;
    let mut gone = vec![commanding, half_a_head, half_a_body];
    // All places but the one of who lives, and that of someone who has said nothing at all.
    while gone.len() < MAX_CONNECTIONS - 2 {
        gone.push(after(&agent, &place, &watching(), 1).await);
    }
    let mute = TcpStream::connect(agent.agent).await.unwrap();
    for stream in &gone {
        vanish(stream.get_ref().0);
    }
    vanish(&mute);
    let began = Instant::now();
    let mut one_more = TcpStream::connect(agent.agent).await.unwrap();
    assert_eq!(one_more.read(&mut [0]).await.unwrap_or(0), 0, "every place is taken");

    let mut pause = tokio::time::interval(LOOK);
    while agent.sockets() > before {
        assert!(
            began.elapsed() < GONE + MORE,
            "{} are not let go after {:?}",
            agent.sockets() - before,
            began.elapsed()
        );
        pause.tick().await;
    }
    println!("all {} were let go after {:?} of {GONE:?}", gone.len() + 1, began.elapsed());
    // What was commanded is done to its end, and who lives is told of everything.
    let leaving = agent.report().await;
    assert!(!leaving.evacuated && lives(agent.pid()), "{leaving:?}");
    let mut line = [0; 1024];
    assert!(tokio::time::timeout(MORE, lives_on.read(&mut line)).await.unwrap().unwrap() > 0);
    agent.obeys(3, Action::Remember(2), true).await;
}
