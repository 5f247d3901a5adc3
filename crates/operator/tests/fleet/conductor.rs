//! The least that can lead a cluster: it hears streams, asks `decide`, sends what it says, and remembers nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use muster_core::manager::command::Command;
use muster_core::manager::decide::{Decision, Effect, decide};
use muster_core::manager::observed::Observed;
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::Stamp;
use muster_core::manager::wanted::{Engine, Marks, Wanted, WantedMember};
use muster_operator::agents::{Agent, CallError, Events, News, Peer, Watch, watch};
use muster_protocol::{Instruction, Line, Outcome};
use muster_test_agents::{Fleet, Kind};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub(crate) const NAMESPACE: &str = "shop";
pub(crate) const CLUSTER: &str = "orders";

/// What comes back from a question.
enum Answer {
    Line(String, Box<Line>),
    Outcome(String, Stamp, Result<Outcome, CallError>),
}

pub(crate) struct Conductor {
    pub(crate) fleet: Fleet,
    pub(crate) wanted: Wanted,
    pub(crate) observed: Observed,
    pub(crate) last: Option<Decision>,
    agents: BTreeMap<String, Agent>,
    _watches: Vec<Watch>,
    events: Events,
    answers: (mpsc::UnboundedSender<Answer>, mpsc::UnboundedReceiver<Answer>),
    n: u64,
    began: Instant,
}

impl Conductor {
    /// Leads these many members under this epoch.
    pub(crate) fn new(fleet: &Fleet, members: u32, kind: Kind, copies: Copies, epoch: u64) -> Self {
        fleet.configure(NAMESPACE, CLUSTER, kind, copies);
        let names: Vec<String> = (0..members).map(|ordinal| format!("{CLUSTER}-a-{ordinal}")).collect();
        let events = Events::new();
        let mut agents = BTreeMap::new();
        for name in &names {
            fleet.start(NAMESPACE, CLUSTER, name, None);
            let peer =
                Peer { cluster: CLUSTER.into(), member: name.clone(), address: name.clone(), tls: None };
            agents.insert(name.clone(), Agent::new(peer, Arc::new(fleet.dial())));
        }
        let watches =
            agents.values().zip(1..).map(|(agent, chance)| watch(agent.clone(), epoch, &events, chance));
        Self {
            fleet: fleet.clone(),
            wanted: wanted(&names, kind, copies),
            observed: Observed::new(epoch),
            last: None,
            _watches: watches.collect(),
            agents,
            events,
            answers: mpsc::unbounded_channel(),
            n: 0,
            began: Instant::now(),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::try_from(self.began.elapsed()).unwrap()
    }

    /// Leads for this long.
    pub(crate) async fn lead(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.hear();
            self.decide();
            // A change, an answer, or a while.
            let a_while = Instant::now() + Duration::from_millis(200);
            tokio::time::sleep_until(a_while).await;
        }
    }

    fn hear(&mut self) {
        let now = self.now();
        while let Some(event) = self.events.try_next() {
            match event.news {
                News::Line(line) => self.observed.take_report(&event.member, line.report, now),
                News::Lost(_) => self.observed.lose_stream(&event.member),
            }
        }
        while let Ok(answer) = self.answers.1.try_recv() {
            match answer {
                Answer::Line(member, line) => self.observed.take_report(&member, line.report, now),
                Answer::Outcome(member, _, Ok(Outcome::Obeyed(answer))) => {
                    self.observed.note_answer(&member, answer, now);
                }
                Answer::Outcome(member, stamp, Ok(Outcome::Refused(_))) => {
                    self.observed.note_refusal(&member, stamp, now);
                }
                Answer::Outcome(member, stamp, Err(error)) if !error.may_have_been_obeyed() => {
                    self.observed.note_refusal(&member, stamp, now);
                }
                Answer::Outcome(..) => {}
            }
        }
    }

    fn decide(&mut self) {
        let now = self.now();
        self.observed.look_around(&self.wanted, now);
        let decision = decide(&self.observed, &self.wanted, now);
        if let Some(change) = decision.roster.clone() {
            let version = self.stamp();
            self.observed.issued = Some(change.issue(version));
        }
        for order in decision.orders.clone() {
            let stamp = self.stamp();
            let roster = self.observed.roster().filter(|_| order.action.carries_roster()).cloned();
            self.observed.note_sent(&order.member, stamp, order.instance, &order.action, now);
            let (member, instance, action) = (order.member, order.instance, order.action);
            self.send(Command { stamp, instance, member, roster, action });
        }
        for effect in &decision.effects {
            match effect {
                Effect::MarkFormed(mark) => {
                    self.wanted.formed = Marks { found: [mark.clone()].into(), some_unmarked: false };
                }
                Effect::Release(member) => drop(self.wanted.members.remove(member)),
                _ => {}
            }
        }
        if decision.ask {
            self.ask_all();
        }
        self.last = Some(decision);
    }

    fn stamp(&mut self) -> Stamp {
        self.n += 1;
        Stamp::new(self.observed.epoch, self.n)
    }

    fn send(&self, command: Command) {
        let Some(agent) = self.agents.get(&command.member).cloned() else { return };
        let answers = self.answers.0.clone();
        tokio::spawn(async move {
            let (member, stamp) = (command.member.clone(), command.stamp);
            let outcome = agent.command(&Instruction { command, peers: Vec::new() }).await;
            // Nobody may listen any more.
            let _ = answers.send(Answer::Outcome(member, stamp, outcome));
        });
    }

    fn ask_all(&self) {
        let round = self.observed.round;
        for (member, agent) in self.agents.clone() {
            let answers = self.answers.0.clone();
            tokio::spawn(async move {
                if let Ok(line) = agent.report(round).await {
                    let _ = answers.send(Answer::Line(member, Box::new(line)));
                }
            });
        }
    }

    /// Whether all that are wanted do what their role asks.
    pub(crate) fn settled(&self) -> bool {
        let all_ready = self.wanted.members.keys().all(|name| self.fleet.is_ready(NAMESPACE, name));
        all_ready && !self.fleet.serving(NAMESPACE, CLUSTER).is_empty()
    }

    /// Leads until all do, for at most this long.
    pub(crate) async fn settle(&mut self, most: Duration) {
        let until = Instant::now() + most;
        while !self.settled() {
            let names: Vec<&String> = self.wanted.members.keys().collect();
            assert!(
                Instant::now() < until,
                "not settled: {:?}\n{:?}\n{:#?}",
                self.last,
                names.iter().map(|name| self.observed.standing(name)).collect::<Vec<_>>(),
                names
                    .iter()
                    .map(|name| self.fleet.with(NAMESPACE, name, |node| node.clone()))
                    .collect::<Vec<_>>(),
            );
            self.lead(Duration::from_secs(1)).await;
        }
    }
}

fn wanted(names: &[String], kind: Kind, copies: Copies) -> Wanted {
    let member = |(ordinal, name): (u32, &String)| {
        let it = WantedMember { ordinal: Some(ordinal), pool: "a".into(), ..WantedMember::default() };
        (name.clone(), it)
    };
    Wanted {
        cluster: CLUSTER.into(),
        members: (0..).zip(names).map(member).collect(),
        parked: false,
        primaries: if kind == Kind::ManyPrimaries { names.len() } else { 1 },
        engine: Engine {
            copies,
            elects: kind == Kind::SelfElecting,
            promotes: true,
            demotes: true,
            bootstraps: false,
            adds_devices: false,
            stall_timeout: SignedDuration::from_mins(30),
        },
        allow_loss: false,
        restore: None,
        formed: Marks { some_unmarked: true, ..Marks::default() },
    }
}
