//! What the operator says, and what it gets for an answer.

use muster_core::manager::command::{Answer, Command, Refusal};
use serde::{Deserialize, Serialize};

/// A new leader: from now on, nothing of an older one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Epoch {
    /// The leader's number.
    pub epoch: u64,
    /// The round in which the report is wanted.
    #[serde(default)]
    pub round: u64,
}

/// A command on its way, with what its action needs to know of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// What to do.
    pub command: Command,
    /// The other members, by name: where the application reaches them.
    #[serde(default)]
    pub peers: Vec<Neighbour>,
}

/// Another member, as the application is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    /// Its name.
    pub member: String,
    /// The host by which the application reaches it.
    pub address: String,
    /// Whether it serves as primary.
    pub primary: bool,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was obeyed, and this came of it.
    Obeyed(Answer),
    /// It was not, and never will be.
    Refused(Refusal),
}

/// A request that an agent cannot make sense of, or must not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What is wrong with it, in words.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use muster_api::names::Role;
    use muster_core::manager::command::{Action, Join};
    use muster_core::manager::report::{Activity, Application, Data, Held, Instance, Report, Running};
    use muster_core::manager::roster::Roster;
    use muster_core::manager::stamp::{Stamp, Term};
    use muster_core::manager::terms::{TermList, TermStart};
    use serde_json::{Value, json};

    use super::*;
    use crate::Line;

    const STAMP: Stamp = Stamp::new(5, 2);

    fn terms() -> TermList {
        TermList::new([TermStart { term: Term::commanded(STAMP), start: 1 }])
    }

    fn command(action: Action) -> Command {
        let roster = Some(Roster::forming(STAMP, "a", "v"));
        Command { stamp: STAMP, instance: Instance(255), member: "a".into(), roster, action }
    }

    fn line() -> Line {
        let running = Running {
            role: Role::Primary,
            activity: Activity::Serving,
            view: None,
            term: Some(Term::commanded(STAMP)),
            roster: Some(STAMP),
            synced: true,
            progress: 7,
        };
        let held =
            Held { history: "h".into(), terms: terms(), sequence: 9, complete: true, ..Held::default() };
        let report = Report {
            instance: Instance(255),
            serial: 3,
            round: 1,
            epoch: 5,
            last: Some(Answer { stamp: STAMP, succeeded: true }),
            volume: "v".into(),
            roster: None,
            application: Application::Running(running),
            data: Data::Held(held),
            recorded: vec![3],
            recorded_at: None,
            covered: false,
            evacuated: false,
            reserved: false,
        };
        Line {
            cluster: "orders".into(),
            member: "a".into(),
            pod_uid: None,
            started: None,
            report,
            measured: crate::Measured::default(),
        }
    }

    #[test]
    fn every_command_reads_back_as_it_was_written() {
        let join = Join {
            role: Role::Secondary,
            term: Term::commanded(STAMP),
            history: "h".into(),
            terms: terms(),
            copy: true,
        };
        let actions = [
            Action::Seed { forming: true },
            Action::Lead,
            Action::Join(join),
            Action::Start,
            Action::Promote,
            Action::Stop,
            Action::Remember(3),
        ];
        for action in actions {
            let command = command(action);
            let text = serde_json::to_string(&command).unwrap();
            assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command, "{text}");
        }
    }

    #[test]
    fn the_words_on_the_wire_are_these() {
        let stop = serde_json::to_value(command(Action::Stop)).unwrap();
        assert_eq!(stop["stamp"], json!({"epoch": 5, "n": 2}));
        assert_eq!(stop["instance"], "00000000000000ff");
        assert_eq!(stop["action"], json!({"do": "stop"}));
        let seed = serde_json::to_value(command(Action::Seed { forming: true })).unwrap();
        assert_eq!(seed["action"], json!({"do": "seed", "with": {"forming": true}}));
        let said = serde_json::to_value(line()).unwrap();
        assert_eq!(said["report"]["application"]["state"], "running");
        assert_eq!(said["report"]["application"]["role"], "primary");
        assert_eq!(said["report"]["data"]["terms"], json!([{"term": "5.2", "start": 1}]));
        let refused = Outcome::Refused(Refusal::OldEpoch { got: 1, known: 2 });
        assert_eq!(
            serde_json::to_value(refused).unwrap(),
            json!({"refused": {"reason": "oldEpoch", "got": 1, "known": 2}})
        );
    }

    #[test]
    fn a_reader_of_reports_ignores_what_it_does_not_know_and_an_agent_refuses_it() {
        let mut said = serde_json::to_value(line()).unwrap();
        said["report"]["new"] = 1.into();
        said["new"] = 1.into();
        assert_eq!(serde_json::from_value::<Line>(said).unwrap(), line());
        let mut unknown = serde_json::to_value(command(Action::Stop)).unwrap();
        unknown["action"]["do"] = Value::from("dance");
        assert!(serde_json::from_value::<Command>(unknown).is_err());
        let mut odd = serde_json::to_value(command(Action::Stop)).unwrap();
        odd["unless"] = true.into();
        assert!(serde_json::from_value::<Command>(odd).is_err(), "what it does not understand might matter");
    }
}
