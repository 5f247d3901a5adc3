//! Builders for the tests of this module: reports and wishes that say what matters and nothing else.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use muster_api::names::Role;

use super::command::Answer;
use super::fencing::{FenceKind, Proof};
use super::observed::Observed;
use super::report::{Activity, Application, Data, Held, Instance, Report, Running};
use super::roster::{Copies, Entry, Roster};
use super::stamp::{Stamp, Term};
use super::terms::{TermList, TermStart};
use super::wanted::{Engine, Marks, Wanted, WantedMember};

/// The epoch of the manager under test.
pub(crate) const EPOCH: u64 = 5;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

pub(crate) fn term(n: u64) -> Term {
    Term::commanded(Stamp::new(EPOCH, n))
}

pub(crate) fn terms(entries: &[(u64, u64)]) -> TermList {
    TermList::new(entries.iter().map(|&(n, start)| TermStart { term: term(n), start }))
}

/// Whole data of the one history, in its first term.
pub(crate) fn held(sequence: u64) -> Held {
    Held { history: "h".into(), terms: terms(&[(1, 1)]), sequence, complete: true, ..Held::default() }
}

/// A stopped member that holds this much, heard in `round`.
pub(crate) fn stopped(round: u64, sequence: u64) -> Report {
    Report {
        instance: Instance(1),
        serial: 1,
        round,
        epoch: EPOCH,
        last: None,
        volume: String::new(),
        roster: None,
        application: Application::Stopped,
        data: Data::Held(held(sequence)),
        recorded: Vec::new(),
        recorded_at: None,
        evacuated: false,
        reserved: false,
        covered: false,
    }
}

/// A stopped member that holds nothing.
pub(crate) fn empty(round: u64) -> Report {
    let nothing = Held { empty: true, ..Held::default() };
    Report { data: Data::Held(nothing), ..stopped(round, 0) }
}

/// A member that runs in this role and serves, in the first term.
pub(crate) fn running(round: u64, role: Role, sequence: u64) -> Report {
    let application = Application::Running(Running {
        role,
        activity: Activity::Serving,
        view: None,
        term: Some(term(1)),
        roster: Some(Stamp::new(EPOCH, 1)),
        synced: true,
        progress: 0,
    });
    Report { application, ..stopped(round, sequence) }
}

impl Report {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn with_held(mut self, change: impl FnOnce(&mut Held)) -> Self {
        if let Data::Held(held) = &mut self.data {
            change(held);
        }
        self
    }

    pub(crate) fn with_running(mut self, change: impl FnOnce(&mut Running)) -> Self {
        if let Application::Running(running) = &mut self.application {
            change(running);
        }
        self
    }

    pub(crate) fn obeyed(mut self, n: u64, succeeded: bool) -> Self {
        self.last = Some(Answer { stamp: Stamp::new(EPOCH, n), succeeded });
        self
    }
}

/// A roster of voters with these names, on volumes of the same names.
pub(crate) fn roster(names: &[&str]) -> Roster {
    let entry = |(id, name): (u32, &&str)| Entry {
        member: (*name).to_owned(),
        id,
        volume: (*name).to_owned(),
        voter: true,
    };
    let entries: Vec<Entry> = (1..).zip(names).map(entry).collect();
    let next_id = u32::try_from(names.len()).unwrap_or_default() + 1;
    Roster { lineage: "origin".into(), version: Stamp::new(EPOCH, 1), entries, before: None, next_id }
}

/// These members, wanted in pool `p` in this order, with one primary.
pub(crate) fn wanted(names: &[&str], copies: Copies) -> Wanted {
    let member = |(ordinal, name): (u32, &&str)| {
        (
            (*name).to_owned(),
            WantedMember { ordinal: Some(ordinal), pool: "p".into(), ..WantedMember::default() },
        )
    };
    Wanted {
        cluster: "orders".into(),
        members: (0..).zip(names).map(member).collect::<BTreeMap<_, _>>(),
        parked: false,
        primaries: 1,
        engine: Engine {
            copies,
            elects: false,
            promotes: true,
            demotes: true,
            bootstraps: false,
            adds_devices: false,
            stall_timeout: SignedDuration::from_mins(30),
        },
        allow_loss: false,
        restore: None,
        formed: Marks::default(),
    }
}

impl Observed {
    /// Proofs by member and kind. A person's word is new each time; other evidence is the same as long as it is of the
    /// same kind.
    pub(crate) fn take_fences<'a>(&mut self, fences: impl IntoIterator<Item = (&'a str, FenceKind)>) {
        let round = self.round;
        let proof = |(member, kind): (&str, FenceKind)| {
            let said =
                if kind == FenceKind::Person { format!("in round {round}") } else { "seen".to_owned() };
            Proof { member: member.to_owned(), kind, instance: None, evidence: format!("{kind:?} {said}") }
        };
        let proofs: Vec<Proof> = fences.into_iter().map(proof).collect();
        self.take_proofs(proofs);
    }
}

/// What a manager knows that heard these members, all in the present round, all with this roster.
pub(crate) fn observed(roster: &Roster, reports: Vec<(&str, Report)>) -> Observed {
    let mut observed = Observed::new(EPOCH);
    for (name, report) in &reports {
        observed.take_report(name, prepared(name, report.clone(), roster), at(0));
    }
    let round = observed.round;
    for (name, report) in reports {
        let again = prepared(name, report, roster).with(|report| {
            report.serial += 1;
            report.round = round;
        });
        observed.take_report(name, again, at(0));
    }
    observed
}

/// On a volume of the member's name unless it names another, knowing this roster unless it knows one.
fn prepared(name: &str, mut report: Report, roster: &Roster) -> Report {
    if report.volume.is_empty() {
        name.clone_into(&mut report.volume);
    }
    report.roster = report.roster.or_else(|| Some(roster.clone()));
    report
}

/// Everyone who is connected reports again, in the present round.
pub(crate) fn ask_again(observed: &mut Observed, now: Timestamp) {
    let heard: Vec<(String, Report)> = observed
        .members
        .iter()
        .filter(|(_, seen)| seen.connected)
        .filter_map(|(name, seen)| Some((name.clone(), seen.report.clone()?)))
        .collect();
    let round = observed.round;
    for (name, report) in heard {
        let again = report.with(|report| {
            report.serial += 1;
            report.round = round;
        });
        observed.take_report(&name, again, now);
    }
}

/// These members are proven not to run, and the others have reported since.
pub(crate) fn fence(observed: &mut Observed, members: &[&str]) {
    observed.take_fences(members.iter().map(|&member| (member, FenceKind::Terminated)));
    ask_again(observed, at(0));
}

/// This member reports something else, in the present round.
pub(crate) fn now_says(observed: &mut Observed, member: &str, change: impl FnOnce(Report) -> Report) {
    let old = observed.members[member].report.clone().unwrap();
    let (serial, round) = (old.serial + 1, observed.round);
    let report = change(old).with(|report| {
        report.serial = serial;
        report.round = round;
    });
    observed.take_report(member, report, at(0));
}

/// As [`running`], in this term, which began after `start - 1`.
pub(crate) fn running_in(n: u64, start: u64, role: Role, sequence: u64) -> Report {
    running(0, role, sequence)
        .with_running(|running| running.term = Some(term(n)))
        .with_held(|held| held.terms = terms(&[(1, 1), (n, start)]))
}
