//! Whatever is asked of an agent, it answers, in the form that it must have, and goes on.

#![cfg(test)]

use std::path::{Path, PathBuf};

use http::{Method, Uri};
use http_body_util::BodyExt;
use muster_agent::engine::Engine;
use muster_agent::memory::store::Store;
use muster_agent::run::Agent;
use muster_agent::server::answer;
use muster_agent::settings::Settings;
use muster_agent::{fresh_instance, fresh_name};
use muster_core::manager::command::{Action, Command};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Stamp;
use muster_protocol::{
    COMMAND_PATH, EPOCH_PATH, Epoch, Fault, Instruction, Line, Outcome, REPORT_PATH, WATCH_PATH,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

const MEMBER: &str = "a";

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn settings(place: &Path) -> Settings {
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
    let program = PathBuf::from(env!("CARGO_BIN_EXE_muster-agent"));
    // Children of this process may be another test's.
    Settings { alone: false, ..Settings::read(variables, program).unwrap() }
}

/// An agent of this process, whose engine does nothing and says that there is nothing.
async fn agent(place: &Path) -> Agent {
    std::fs::create_dir_all(place.join("data")).unwrap();
    let nothing = json!({"command": ["/bin/sh", "-c", "echo 0"]});
    let actions = ["sequence", "seed", "primary", "secondary", "status"];
    let actions: serde_json::Map<_, _> =
        actions.iter().map(|action| ((*action).to_owned(), nothing.clone())).collect();
    let engine = json!({"actions": actions, "topology": {"acknowledgedCopies": 1}});
    std::fs::write(place.join("engine.json"), engine.to_string()).unwrap();
    let store = Store::open(place).unwrap();
    let agent = Agent::new(settings(place), Engine::read(place).unwrap(), &store, fresh_instance());
    agent.begin(place.to_owned(), fresh_name).await.unwrap();
    agent
}

fn valid(agent: &Agent, n: u64, which: u8) -> Vec<u8> {
    let stamp = Stamp::new(1, n);
    let action = match which % 6 {
        0 => Action::Stop,
        1 => Action::Remember(2),
        2 => Action::Seed { forming: true },
        3 => Action::TakeRoster,
        4 => Action::MarkLeft,
        _ => return serde_json::to_vec(&Epoch { epoch: n, round: 1 }).unwrap(),
    };
    let roster = Some(Roster::forming(stamp, MEMBER, "v"));
    let command = Command { stamp, instance: agent.instance(), member: MEMBER.to_owned(), roster, action };
    serde_json::to_vec(&Instruction { command, peers: Vec::new() }).unwrap()
}

/// A request, as something a bit different from a valid one.
#[derive(Clone, Debug)]
struct Odd {
    method: u8,
    path: u8,
    round: Option<String>,
    n: u64,
    which: u8,
    changes: Vec<(u16, u8, u8)>,
    instead: Option<Vec<u8>>,
}

fn odd() -> impl Strategy<Value = Odd> {
    let changes = vec((any::<u16>(), 0..4_u8, any::<u8>()), 0..4);
    let round = proptest::option::of("[0-9a-z&=%-]{0,24}");
    let instead = proptest::option::weighted(0.2, vec(any::<u8>(), 0..200));
    (any::<u8>(), 0..8_u8, round, 0..50_u64, any::<u8>(), changes, instead).prop_map(
        |(method, path, round, n, which, changes, instead)| Odd {
            method,
            path,
            round,
            n,
            which,
            changes,
            instead,
        },
    )
}

impl Odd {
    fn body(&self, agent: &Agent) -> Vec<u8> {
        let mut body = self.instead.clone().unwrap_or_else(|| valid(agent, self.n, self.which));
        for (at, how, byte) in &self.changes {
            let at = usize::from(*at) % (body.len() + 1);
            match how {
                0 => body.truncate(at),
                1 => body.insert(at, *byte),
                2 if at < body.len() => body[at] = *byte,
                _ if at < body.len() => drop(body.remove(at)),
                _ => {}
            }
        }
        body
    }

    fn method(&self) -> Method {
        [Method::GET, Method::POST, Method::POST, Method::PUT, Method::HEAD][usize::from(self.method) % 5]
            .clone()
    }

    fn uri(&self) -> Uri {
        let path = match self.path {
            0 => REPORT_PATH,
            1 => WATCH_PATH,
            2 | 3 => EPOCH_PATH,
            4..=6 => COMMAND_PATH,
            _ => "/",
        };
        let query = self.round.as_ref().map(|round| format!("?round={round}")).unwrap_or_default();
        format!("{path}{query}").parse().unwrap_or_else(|_| Uri::from_static("/x"))
    }
}

async fn ask(agent: &Agent, odd: &Odd) -> Result<(), TestCaseError> {
    let (method, uri, body) = (odd.method(), odd.uri(), odd.body(agent));
    let answer = answer(agent, &method, &uri, &body).await.unwrap();
    let status = answer.status().as_u16();
    if uri.path() == WATCH_PATH && status == 200 {
        let line = answer.into_body().frame().await.unwrap().unwrap().into_data().unwrap();
        prop_assert!(serde_json::from_slice::<Line>(&line).is_ok());
        return Ok(());
    }
    let said = answer.into_body().collect().await.unwrap().to_bytes();
    let sensible = match status {
        200 if uri.path() == COMMAND_PATH => serde_json::from_slice::<Outcome>(&said).is_ok(),
        200 => serde_json::from_slice::<Line>(&said).is_ok(),
        400 | 404 | 503 => serde_json::from_slice::<Fault>(&said).is_ok(),
        _ => false,
    };
    prop_assert!(sensible, "{method} {uri}: {status}: {}", String::from_utf8_lossy(&said));
    Ok(())
}

#[test]
fn whatever_is_asked_is_answered() {
    let place =
        Place(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("requests-{}", std::process::id())));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = runtime.block_on(agent(&place.0));
    let mut runner = TestRunner::new(ProptestConfig { cases: 1500, ..ProptestConfig::default() });
    runner.run(&odd(), |odd| runtime.block_on(ask(&agent, &odd))).unwrap();
    // It goes on: a stop that no one has sent before is obeyed.
    let instruction = serde_json::from_slice(&valid(&agent, u64::MAX, 0)).unwrap();
    let line = runtime.block_on(agent.take_epoch(Epoch { epoch: u64::MAX, round: 9 })).unwrap();
    assert_eq!((line.report.round, line.report.epoch), (9, u64::MAX));
    assert!(
        matches!(runtime.block_on(agent.command(instruction)), Ok(Outcome::Refused(_))),
        "its epoch is old by now"
    );
}
