//! The agent's rules against the simulated agents that the replication rules were explored with: the same commands, the same answers, and the same
//! things remembered.

#![cfg(test)]

use muster_agent::memory::command::{Now, Work, done, plan};
use muster_agent::memory::{Known, Memory, Position};
use muster_api::names::Role;
use muster_core::manager::command::{Action, Answer, Command, Follow, Join, Refusal, Verdict};
use muster_core::manager::report::{Data, Instance};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::{Stamp, Term};
use muster_core::manager::terms::{TermList, TermStart};
use muster_test_model::{Agent, Node, Volume};
use proptest::collection::vec;
use proptest::prelude::*;

const MEMBER: &str = "a";
const VOLUME: &str = "v";

/// Something that happens to a member.
#[derive(Clone, Debug)]
enum Event {
    Command {
        stamp: Stamp,
        instance: u64,
        member: &'static str,
        roster: Option<Roster>,
        action: Box<Action>,
    },
    /// The last command again.
    Again,
    Epoch(u64),
    /// The agent ends and starts again.
    Restart,
    /// The application writes, or is sent something.
    Write,
    /// The application has all that the primary has.
    Whole,
    /// The application ends by itself.
    Crash,
    /// A person makes the application primary.
    PromotedByHand,
}

fn stamps() -> impl Strategy<Value = Stamp> {
    (1..4_u64, 1..12_u64).prop_map(|(epoch, n)| Stamp::new(epoch, n))
}

fn terms() -> impl Strategy<Value = TermList> {
    vec((stamps(), 1..5_u64), 0..3).prop_map(|starts| {
        TermList::new(
            starts.into_iter().map(|(stamp, start)| TermStart { term: Term::commanded(stamp), start }),
        )
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let joins =
        (any::<bool>(), any::<bool>(), terms(), stamps()).prop_map(|(primary, copy, terms, stamp)| {
            let role = if primary { Role::Primary } else { Role::Secondary };
            Action::Join(Join { role, term: Term::commanded(stamp), history: "h".into(), terms, copy })
        });
    let follows = (terms(), stamps())
        .prop_map(|(terms, stamp)| Action::Follow(Follow { term: Term::commanded(stamp), terms }));
    prop_oneof![
        4 => any::<bool>().prop_map(|forming| Action::Seed { forming }),
        2 => Just(Action::Lead),
        4 => joins,
        1 => follows,
        2 => Just(Action::Start),
        3 => Just(Action::Promote),
        1 => Just(Action::Bootstrap),
        2 => Just(Action::Demote),
        4 => Just(Action::Stop),
        2 => Just(Action::Leave),
        1 => Just(Action::MarkLeft),
        2 => Just(Action::TakeRoster),
        2 => Just(Action::KeepRoster),
        2 => (1..6_usize).prop_map(Action::Remember),
    ]
}

fn rosters() -> impl Strategy<Value = Option<Roster>> {
    let roster = (stamps(), any::<bool>(), any::<bool>()).prop_map(|(version, other, lineage)| {
        let mut roster = Roster::forming(version, MEMBER, if lineage { VOLUME } else { "elsewhere" });
        if other {
            roster = roster.adding("b", "w").issue(version);
        }
        roster
    });
    proptest::option::of(roster)
}

fn events() -> impl Strategy<Value = Event> {
    let commands = (stamps(), 0..12_u64, 0..12_u8, rosters(), actions()).prop_map(
        |(stamp, wrong, other, roster, action)| Event::Command {
            stamp,
            instance: u64::from(wrong == 0),
            member: if other == 0 { "b" } else { MEMBER },
            roster,
            action: Box::new(action),
        },
    );
    prop_oneof![
        12 => commands,
        1 => Just(Event::Again),
        1 => (1..5_u64).prop_map(Event::Epoch),
        1 => Just(Event::Restart),
        4 => Just(Event::Write),
        3 => Just(Event::Whole),
        1 => Just(Event::Crash),
        1 => Just(Event::PromotedByHand),
    ]
}

/// The agent under test, with an application that does what it is told at once.
struct Mine {
    memory: Memory,
    instance: Instance,
    running: Option<Role>,
    data: Known,
}

impl Mine {
    fn new() -> Self {
        let data = Known::Position(Position { empty: true, ..Position::default() });
        Self { memory: Memory::new(VOLUME.to_owned()), instance: Instance(0), running: None, data }
    }

    fn obey(&mut self, command: &Command, fresh: &str) -> Result<Answer, Refusal> {
        let now = Now {
            member: MEMBER,
            instance: self.instance,
            running: self.running.is_some(),
            data: &self.data,
            unwritten: None,
        };
        match now.judge(&self.memory, command) {
            Verdict::Refuse(refusal) => Err(refusal),
            Verdict::Repeat(answer) => Ok(answer),
            Verdict::Obey => {
                let plan = plan(&self.memory, &now, command, fresh);
                self.memory = plan.memory;
                if let Work::Done(answer) = plan.work {
                    return Ok(answer);
                }
                assert_eq!(self.memory.pending, Some(command.stamp), "what is begun is written down");
                self.work(&plan.work);
                let answer = Answer { stamp: command.stamp, succeeded: true };
                self.memory = done(&self.memory, &plan.work, answer);
                Ok(answer)
            }
        }
    }

    fn work(&mut self, work: &Work) {
        match work {
            Work::Start(start) => {
                self.running = Some(start.role);
                let known = self.data.position().cloned().unwrap_or_default();
                let history = start.history.clone();
                let sequence = if start.copy { 0 } else { known.sequence };
                let empty = history.is_empty();
                self.data = Known::Position(Position { history, sequence, empty, ..known });
            }
            Work::Promote(_) | Work::Bootstrap(_) => self.running = Some(Role::Primary),
            Work::Demote => self.running = Some(Role::Secondary),
            Work::Stop => self.running = None,
            Work::Leave | Work::Done(_) => {}
        }
    }

    fn restart(&mut self) {
        self.memory = self.memory.clone().resumed();
        self.instance = Instance(self.instance.0 + 2);
        self.running = None;
    }
}

/// What both remember must be the same.
fn compare(mine: &Mine, node: &mut Node) {
    let report = node.report(0).unwrap();
    let memory = &mine.memory;
    assert_eq!(memory.epoch, report.epoch);
    assert_eq!(memory.last, report.last);
    assert_eq!(memory.pending, None);
    assert_eq!(memory.volume, report.volume);
    assert_eq!(memory.newest_roster(), report.roster.as_ref());
    assert_eq!(memory.roster, node.volume.roster);
    assert_eq!(
        (memory.recorded.as_slice(), memory.recorded_at),
        (report.recorded.as_slice(), report.recorded_at)
    );
    assert_eq!((memory.evacuated, memory.covered), (report.evacuated, report.covered));
    let Data::Held(held) = report.data else { panic!("it is readable") };
    assert_eq!((&memory.terms, memory.complete, memory.left), (&held.terms, held.complete, held.left));
    let position = mine.data.position().unwrap();
    assert_eq!((&position.history, position.sequence), (&held.history, held.sequence));
    assert_eq!(mine.running.is_some(), node.app().is_some());
}

fn play(events: Vec<Event>) {
    let mut mine = Mine::new();
    let mut node = Node::new(MEMBER, Volume::new(VOLUME.to_owned()));
    node.agent = Some(Agent::new(mine.instance));
    let mut last = None;
    for (number, event) in events.into_iter().enumerate() {
        let fresh = format!("fresh-{number}");
        let number = u64::try_from(number).unwrap();
        match event {
            Event::Command { stamp, instance, member, roster, action } => {
                let instance = Instance(mine.instance.0 + instance);
                let command = Command { stamp, instance, member: member.to_owned(), roster, action: *action };
                last = Some(command);
            }
            Event::Again => {}
            Event::Epoch(epoch) => {
                mine.memory = mine.memory.with_epoch(epoch).unwrap_or(mine.memory);
                node.volume.epoch = node.volume.epoch.max(epoch);
                continue;
            }
            Event::Restart => {
                mine.restart();
                node.agent = Some(Agent::new(mine.instance));
                continue;
            }
            other => {
                happen(&mut mine, &mut node, &other, number);
                compare(&mine, &mut node);
                continue;
            }
        }
        if let Some(command) = &last {
            let answer = mine.obey(command, &fresh);
            assert_eq!(Some(answer), node.obey(command, || fresh), "{command:?}");
        }
        compare(&mine, &mut node);
    }
}

/// What the application does, or someone to it.
fn happen(mine: &mut Mine, node: &mut Node, event: &Event, number: u64) {
    let running = mine.running.is_some();
    match event {
        Event::Crash => {
            mine.running = None;
            node.agent.as_mut().unwrap().app = None;
        }
        Event::Write if running && !mine.data.is_empty() => {
            if let Known::Position(position) = &mut mine.data {
                position.sequence += 1;
            }
            node.volume.log.push(number);
        }
        Event::Whole if running => {
            mine.memory = mine.memory.with_whole_data(true).unwrap_or(mine.memory.clone());
            (node.volume.complete, node.volume.left, node.volume.covered) = (true, false, false);
        }
        Event::PromotedByHand if running && mine.memory.newest_roster().is_some() => {
            let (memory, term) = mine.memory.with_self_made_term(mine.data.sequence());
            if mine.memory.terms.current() != Some(term) {
                mine.memory = memory;
                node.promote_by_hand();
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_same_commands_give_the_same_answers_and_the_same_memory(events in vec(events(), 1..60)) {
        play(events);
    }
}

#[test]
fn a_command_that_was_begun_and_cut_off_has_failed() {
    let mut mine = Mine::new();
    let command = Command {
        stamp: Stamp::new(1, 1),
        instance: mine.instance,
        member: MEMBER.to_owned(),
        roster: Some(Roster::forming(Stamp::new(1, 1), MEMBER, VOLUME)),
        action: Action::Seed { forming: true },
    };
    let now =
        Now { member: MEMBER, instance: mine.instance, running: false, data: &mine.data, unwritten: None };
    let plan = plan(&mine.memory, &now, &command, "fresh");
    assert_eq!(plan.memory.last, None, "it is answered when it is done");
    assert!(matches!(now.judge(&plan.memory, &command), Verdict::Repeat(Answer { succeeded: false, .. })));
    mine.memory = plan.memory;
    mine.restart();
    assert_eq!(mine.memory.last, Some(Answer { stamp: command.stamp, succeeded: false }));
    assert_eq!(mine.memory.id, Some(1));
    assert_eq!(
        mine.memory.terms.current(),
        Some(Term::commanded(command.stamp)),
        "a term that began is never forgotten"
    );
}

#[test]
fn a_stop_that_could_not_be_written_down_is_not_undone_by_an_older_command() {
    let mine = Mine::new();
    let stop = Answer { stamp: Stamp::new(2, 5), succeeded: true };
    let now = Now {
        member: MEMBER,
        instance: mine.instance,
        running: false,
        data: &mine.data,
        unwritten: Some(stop),
    };
    let command = |epoch, n| Command {
        stamp: Stamp::new(epoch, n),
        instance: mine.instance,
        member: MEMBER.to_owned(),
        roster: None,
        action: Action::Promote,
    };
    let refused = |epoch, n| matches!(now.judge(&mine.memory, &command(epoch, n)), Verdict::Refuse(_));
    assert!(refused(2, 4) && refused(1, 9) && !refused(2, 6));
    assert_eq!(now.judge(&mine.memory, &command(2, 5)), Verdict::Repeat(stop));
}
