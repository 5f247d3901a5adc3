//! Bytes that make no sense, from whoever has the right certificate and from whoever has none: the agent answers or closes, within a bound,
//! goes on, and takes no more than it may.

use std::time::Duration;

use muster_core::manager::command::Action;
use muster_protocol::{COMMAND_PATH, EPOCH_PATH, Epoch, REPORT_PATH, WATCH_PATH};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rustls::ClientConnection;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::clients::{connect, operator};
use super::place::{Living, PATIENCE, Place, eventually, lives, member};

/// How many are tried of each kind.
const CASES: u32 = 500;
/// Within which whoever has said all that it has to say is answered, or left.
const SOON: Duration = Duration::from_secs(15);
/// The most that an agent may ever have had in memory, in kB: what it is itself, not optimised, and a few requests.
const MOST_KILOBYTES: u64 = 48 * 1024;

/// Something a bit different from what is right.
#[derive(Clone, Debug)]
struct Odd {
    which: u8,
    n: u64,
    /// Where, how, and with what it is changed.
    changes: Vec<(u16, u8, u8)>,
    /// In how many parts it is sent.
    parts: usize,
    instead: Option<Vec<u8>>,
}

fn odd() -> impl Strategy<Value = Odd> {
    let changes = vec((any::<u16>(), 0..5_u8, any::<u8>()), 0..6);
    let instead = proptest::option::weighted(0.15, vec(any::<u8>(), 0..3000));
    (any::<u8>(), 0..50_u64, changes, 1..4_usize, instead)
        .prop_map(|(which, n, changes, parts, instead)| Odd { which, n, changes, parts, instead })
}

impl Odd {
    /// What is right, changed.
    fn bytes(&self, right: Vec<u8>) -> Vec<u8> {
        let mut bytes = self.instead.clone().unwrap_or(right);
        for (at, how, byte) in &self.changes {
            let at = usize::from(*at) % (bytes.len() + 1);
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, *byte),
                2 => bytes.extend_from_within(..at),
                3 if at < bytes.len() => bytes[at] = *byte,
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => {}
            }
        }
        bytes
    }

    /// A whole request.
    fn request(&self, order: &str) -> Vec<u8> {
        let epoch = serde_json::to_string(&Epoch { epoch: self.n, round: 1 }).unwrap();
        let (line, body) = match self.which % 6 {
            0 => (format!("GET {REPORT_PATH}?round={}", self.n), String::new()),
            1 => (format!("GET {WATCH_PATH}"), String::new()),
            2 | 3 => (format!("POST {EPOCH_PATH}"), epoch),
            _ => (format!("POST {COMMAND_PATH}"), order.to_owned()),
        };
        let request = if self.which >= 128 {
            let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
            format!("{line} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n{chunk}")
        } else {
            format!("{line} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        };
        request.into_bytes()
    }
}

/// Says it in parts, and that there is no more. Whoever is turned away cannot say it all.
async fn say(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8], parts: usize) {
    for part in bytes.chunks(bytes.len() / parts + 1) {
        if stream.write_all(part).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

/// All that is answered. A watch has no end, as long as someone reads it: its first line is its answer.
async fn answered(stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, TestCaseError> {
    let mut answer = Vec::new();
    let reading = async {
        // A connection that is broken off has ended, too.
        while stream.read_buf(&mut answer).await.is_ok_and(|count| count > 0) && !is_watch(&answer) {}
    };
    let ended = tokio::time::timeout(SOON, reading).await;
    prop_assert!(ended.is_ok(), "neither answered nor left after {SOON:?}");
    Ok(answer)
}

/// Whether this is the head of a watch, and a line of it.
fn is_watch(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    head.starts_with("HTTP/1.1 200") && head.contains("transfer-encoding: chunked") && body.contains("}\n")
}

/// As the operator: an answer of HTTP, or none.
async fn ask(agent: &Living, place: &Place, order: &str, odd: &Odd) -> Result<(), TestCaseError> {
    let mut stream = connect(agent.agent, operator(&place.ca)).await.unwrap();
    say(&mut stream, &odd.bytes(odd.request(order)), odd.parts).await;
    let answer = answered(&mut stream).await?;
    let status = answer.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
    let status = status.and_then(|it| std::str::from_utf8(it).ok()?.parse::<u16>().ok());
    let sensible = status.is_some_and(|status| (200..600).contains(&status) && status != 500);
    prop_assert!(answer.is_empty() || sensible, "{:?}", String::from_utf8_lossy(&answer));
    Ok(())
}

/// As someone who has the right certificate, and then says what is no TLS.
async fn break_off(agent: &Living, place: &Place, odd: &Odd) -> Result<(), TestCaseError> {
    let stream = connect(agent.agent, operator(&place.ca)).await.unwrap();
    let (mut socket, _) = stream.into_inner();
    say(&mut socket, &odd.bytes(b"\x17\x03\x03\x00\x20".repeat(8)), odd.parts).await;
    let answer = answered(&mut socket).await?;
    prop_assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    Ok(())
}

/// As someone without any certificate: nothing but what TLS itself says.
async fn knock(agent: &Living, hello: &[u8], odd: &Odd) -> Result<(), TestCaseError> {
    let mut socket = TcpStream::connect(agent.agent).await.unwrap();
    say(&mut socket, &odd.bytes(hello.to_vec()), odd.parts).await;
    let answer = answered(&mut socket).await?;
    // An alert, or the beginning of a handshake that goes no further.
    prop_assert!(answer.is_empty() || matches!(answer[0], 20..=23), "{answer:?}");
    Ok(())
}

#[test]
fn whatever_bytes_come_it_answers_or_closes_and_goes_on() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = Place::new();
    let agent = runtime.block_on(place.start_and_settle());
    let pid = agent.pid();
    let before = agent.sockets();
    let order = runtime.block_on(agent.order(1, Action::Remember(2)));
    let order = serde_json::to_string(&order).unwrap();
    let mut hello = Vec::new();
    let config = operator(&place.ca);
    ClientConnection::new(config, member().server_name().unwrap()).unwrap().write_tls(&mut hello).unwrap();

    let config = || ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let asked = |odd: Odd| runtime.block_on(ask(&agent, &place, &order, &odd));
    TestRunner::new(config()).run(&odd(), asked).unwrap();
    let broken = |odd: Odd| runtime.block_on(break_off(&agent, &place, &odd));
    TestRunner::new(config()).run(&odd(), broken).unwrap();
    let knocked = |odd: Odd| runtime.block_on(knock(&agent, &hello, &odd));
    TestRunner::new(config()).run(&odd(), knocked).unwrap();

    assert!(lives(pid) && agent.pid() == pid, "it is the same process");
    eventually("every connection is let go", || (agent.sockets() <= before).then_some(()));
    let most = agent.memory("VmHWM");
    println!("{} cases, at most {most} kB in memory", 3 * CASES);
    assert!(most < MOST_KILOBYTES, "{most} kB");
    let obeyed = async {
        let epoch = agent.report().await.epoch + 1;
        agent.epoch(epoch).await;
        agent.obeys_at(muster_core::manager::stamp::Stamp::new(epoch, 1), Action::Remember(3), true).await;
    };
    runtime.block_on(async { tokio::time::timeout(PATIENCE, obeyed).await }).unwrap();
}
