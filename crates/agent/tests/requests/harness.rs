//! Any bytes as a request to an agent, and what must hold of every answer. The fuzz target uses this very file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use muster_agent::engine::Engine;
use muster_agent::fresh_name;
use muster_agent::memory::store::Store;
use muster_agent::run::Agent;
use muster_agent::server::serve_request;
use muster_agent::settings::Settings;
use muster_core::manager::command::{Action, Command};
use muster_core::manager::report::Instance;
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Stamp;
use muster_protocol::{
    COMMAND_PATH, EPOCH_PATH, Epoch, Fault, Instruction, Line, Outcome, REPORT_PATH, WATCH_PATH,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The member whose agent it is.
const MEMBER: &str = "a";
/// The run of the agent: the same in every process, so that an input means the same in every process.
const INSTANCE: Instance = Instance(1);
/// The words from which inputs choose.
const METHODS: [&str; 5] = ["GET", "POST", "POST", "PUT", "HEAD"];
const PATHS: [&str; 8] = [
    COMMAND_PATH,
    COMMAND_PATH,
    EPOCH_PATH,
    REPORT_PATH,
    WATCH_PATH,
    "/v1/report?round=7",
    "/v1/report?round=x",
    "/",
];
/// What hyper answers by itself, without a word of ours, to what is no request.
const NO_REQUEST: [u16; 3] = [400, 414, 431];
/// What a connection holds that nobody reads.
const BUFFER: usize = 64 * 1024;
/// Within which whoever has said all that it has to say is answered, or left.
const SOON: Duration = Duration::from_secs(15);

/// A directory of its own, gone when it is dropped.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(parent: &Path) -> Self {
        Self(parent.join(format!("requests-{}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An agent of this process, whose engine does nothing and says that there is nothing. Its children are started by `program`.
pub(crate) async fn agent(place: &Place, program: PathBuf) -> Agent {
    let place = place.0.as_path();
    std::fs::create_dir_all(place.join("data")).unwrap();
    let nothing = json!({"command": ["/bin/sh", "-c", "echo 0"]});
    let actions = ["sequence", "seed", "primary", "secondary", "status"];
    let actions: serde_json::Map<_, _> =
        actions.iter().map(|action| ((*action).to_owned(), nothing.clone())).collect();
    let engine = json!({"actions": actions, "topology": {"acknowledgedCopies": 1}});
    std::fs::write(place.join("engine.json"), engine.to_string()).unwrap();
    let store = Store::open(place).unwrap();
    let agent = Agent::new(settings(place, program), Engine::read(place).unwrap(), &store, INSTANCE);
    agent.begin(place.to_owned(), fresh_name).await.unwrap();
    agent
}

fn settings(place: &Path, program: PathBuf) -> Settings {
    let variables = |name| {
        let directory = |part: &str| Some(place.join(part).display().to_string());
        match name {
            "MUSTER_CLUSTER" | "MUSTER_NAMESPACE" => Some("x".to_owned()),
            "MUSTER_MEMBER" => Some(MEMBER.to_owned()),
            "MUSTER_DATA" => directory("data"),
            "MUSTER_VOLUME" | "MUSTER_CONFIG" | "MUSTER_TLS" => directory(""),
            _ => None,
        }
    };
    // Children of this process may be somebody else's.
    Settings { alone: false, ..Settings::read(variables, program).unwrap() }
}

/// A message that is right: a command, or an epoch.
pub(crate) fn valid(which: u8, n: u64) -> Vec<u8> {
    let stamp = Stamp::new(1, n);
    let action = match which % 8 {
        0 => Action::Stop,
        1 => Action::Remember(2),
        2 => Action::Seed { forming: true },
        3 => Action::TakeRoster,
        4 => Action::MarkLeft,
        5 => Action::KeepRoster,
        6 => Action::Promote,
        _ => return serde_json::to_vec(&Epoch { epoch: n, round: 1 }).unwrap(),
    };
    let roster = Some(Roster::forming(stamp, MEMBER, "v"));
    let command = Command { stamp, instance: INSTANCE, member: MEMBER.to_owned(), roster, action };
    serde_json::to_vec(&Instruction { command, peers: Vec::new() }).unwrap()
}

/// What a connection says for this input: the first byte tells whether the rest is all of it, or the body of a request, or how a
/// message that is right is changed.
fn said(input: &[u8]) -> Vec<u8> {
    let Some((&[kind, method, path, which, n], rest)) = input.split_first_chunk::<5>() else {
        return input.to_vec();
    };
    let body = match kind % 4 {
        0 => return input[1..].to_vec(),
        1 => rest.to_vec(),
        _ => changed(valid(which, n.into()), rest),
    };
    let method = METHODS[usize::from(method) % METHODS.len()];
    let path = PATHS[usize::from(path) % PATHS.len()];
    let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.into_bytes(), body].concat()
}

/// Four bytes tell of each change: where, how, and with what.
fn changed(mut message: Vec<u8>, changes: &[u8]) -> Vec<u8> {
    for change in changes.as_chunks::<4>().0 {
        let [low, high, how, byte] = *change;
        let at = usize::from(u16::from_le_bytes([low, high])) % (message.len() + 1);
        match how % 5 {
            0 => message.truncate(at),
            1 => message.insert(at, byte),
            2 => message.extend_from_within(..at),
            3 if at < message.len() => message[at] = byte,
            _ if at < message.len() => drop(message.remove(at)),
            _ => {}
        }
    }
    message
}

/// Says what this input stands for on a connection of its own, and looks at the answer.
pub(crate) async fn play(agent: &Agent, input: &[u8]) {
    let (theirs, mut ours) = tokio::io::duplex(BUFFER);
    let words = said(input);
    let serving = serve_request(agent.clone(), theirs);
    let asking = async {
        // Whoever is turned away cannot say it all.
        let _ = ours.write_all(&words).await;
        let _ = ours.shutdown().await;
        let mut answer = Vec::new();
        while ours.read_buf(&mut answer).await.is_ok_and(|count| count > 0) && !is_watch(&answer) {}
        drop(ours);
        answer
    };
    let both = async { tokio::join!(serving, asking) };
    let ended = tokio::time::timeout(SOON, both).await;
    let ((), answer) = ended.unwrap_or_else(|_| panic!("neither answered nor left: {}", text(&words)));
    check(&words, &answer);
}

/// Whether this is the head of a watch, and a line of it.
fn is_watch(answer: &[u8]) -> bool {
    let answer = text(answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    head.contains("transfer-encoding: chunked") && body.contains("}\n")
}

/// What must hold of every answer: it is in the form that belongs to its code and its path.
fn check(words: &[u8], answer: &[u8]) {
    let (asked, told) = (text(words), text(answer));
    if told.is_empty() || asked.starts_with("HEAD ") || is_watch(answer) {
        return;
    }
    let (head, body) = told.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{told} to {asked}"));
    let code: u16 = head.get(9..12).and_then(|code| code.parse().ok()).unwrap_or_default();
    let of_command = asked.starts_with(&format!("POST {COMMAND_PATH}"));
    let sensible = match code {
        200 => reads::<Line>(body) || of_command && reads::<Outcome>(body),
        _ if body.is_empty() => NO_REQUEST.contains(&code),
        400 | 404 | 413 | 503 => reads::<Fault>(body),
        _ => false,
    };
    assert!(sensible, "{told}\nto {asked}");
}

fn reads<T: DeserializeOwned>(body: &str) -> bool {
    serde_json::from_str::<T>(body).is_ok()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
