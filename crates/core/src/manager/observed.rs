//! What the manager knows, folded from what happened: reports, lost streams, fences, commands sent and answered.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use muster_api::names::Role;

use super::command::{Action, Answer};
use super::decide::is_split;
use super::election::retry_at;
use super::fencing::{Fence, FenceKind};
use super::report::{Activity, Application, Instance, Report, Running};
use super::requests::Directive;
use super::roster::Roster;
use super::stamp::{Stamp, Term};
use super::wanted::Wanted;

/// What is known of one member.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Whether its stream is alive.
    pub connected: bool,
    /// Its last report.
    pub report: Option<Report>,
    /// The latest round for which it reported.
    pub round: u64,
    /// The proof that it does not run.
    pub fence: Option<Fence>,
    /// The last command sent, until it is answered.
    pub pending: Option<Sent>,
    /// A start that was sent, and that no report shows yet. A later stop, once obeyed, settles it.
    pub unanswered_start: Option<Sent>,
    /// When it last made progress.
    pub progressed: Option<Timestamp>,
}

/// A command that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number.
    pub stamp: Stamp,
    /// The run of the agent it was sent to.
    pub instance: Instance,
    /// When it was sent.
    pub at: Timestamp,
}

/// A seed that was commanded and has not been seen serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeding {
    /// The member.
    pub member: String,
    /// The run of its agent.
    pub instance: Instance,
    /// The command.
    pub stamp: Stamp,
}

/// Seeds that were tried and stopped again.
#[derive(Clone, Debug, Default)]
pub struct FailedSeeds {
    /// Who.
    pub members: BTreeSet<String>,
    /// How many in a row, over all starts from the beginning: the backoff grows with it.
    pub attempts: u32,
    /// When the last one failed.
    pub last: Option<Timestamp>,
}

/// The primary's sequence when it was first read in a round: what others must reach to have all it had then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The round.
    pub round: u64,
    /// The primary's sequence.
    pub sequence: u64,
}

/// The primary's sequence when it was first seen to count by a roster: what was acknowledged by the roster before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosterFloor {
    /// The roster.
    pub version: Stamp,
    /// The term of the primary.
    pub term: Option<Term>,
    /// The primary's sequence.
    pub sequence: u64,
}

/// All that a manager knows. It forgets everything when its process ends; agents remember what must be remembered.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The epoch under which this manager commands.
    pub epoch: u64,
    /// Moves whenever anyone's accounting changes. What was read in an earlier round does not count in an election.
    pub round: u64,
    /// The members, configured or named by a roster.
    pub members: BTreeMap<String, Seen>,
    /// The newest roster that this manager made itself.
    pub issued: Option<Roster>,
    /// Since when more than one view, or more primaries than wanted, are seen.
    pub split_since: Option<Timestamp>,
    /// The seed under way.
    pub seeding: Option<Seeding>,
    /// The seeds that failed.
    pub failed_seeds: FailedSeeds,
    /// The primary's sequence at the beginning of this round.
    pub floor: Option<Floor>,
    /// The primary's sequence at the beginning of its present roster.
    pub roster_floor: Option<RosterFloor>,
    /// What a person asked for.
    pub directive: Option<Directive>,
}

impl Observed {
    /// Knows nothing yet.
    pub fn new(epoch: u64) -> Self {
        Self {
            epoch,
            round: 1,
            members: BTreeMap::new(),
            issued: None,
            split_since: None,
            seeding: None,
            failed_seeds: FailedSeeds::default(),
            floor: None,
            roster_floor: None,
            directive: None,
        }
    }

    /// The same manager after a pause: everything is observed anew, but what was sent stays sent.
    #[must_use]
    pub fn resumed(self) -> Self {
        let keep = |seen: Seen| Seen {
            pending: seen.pending,
            unanswered_start: seen.unanswered_start,
            ..Seen::default()
        };
        let members = self.members.into_iter().map(|(name, seen)| (name, keep(seen))).collect();
        Self { members, round: self.round + 1, issued: self.issued, ..Self::new(self.epoch) }
    }

    /// Takes in a report; late ones of the same run are dropped.
    pub fn take_report(&mut self, member: &str, report: Report, now: Timestamp) {
        let epoch = self.epoch;
        let seen = self.members.entry(member.to_owned()).or_default();
        let same_run = seen.report.as_ref().filter(|old| old.instance == report.instance);
        if same_run.is_some_and(|old| report.serial <= old.serial) {
            return;
        }
        let returned = seen.fence.take().is_some();
        let changed = returned || accounting_changed(seen.report.as_ref(), &report, epoch);
        seen.round = if same_run.is_some() { seen.round.max(report.round) } else { report.round };
        if same_run.is_none_or(|old| has_progressed(old, &report)) {
            seen.progressed = Some(now);
        }
        seen.settle(report.last, report.instance);
        seen.connected = true;
        self.note_seed(member, &report, now);
        self.note_floor(&report);
        if let Some(seen) = self.members.get_mut(member) {
            seen.report = Some(report);
        }
        if changed {
            self.round += 1;
        }
    }

    /// Its stream is lost. That proves nothing, except where its agent had just confirmed that nothing runs.
    pub fn lose_stream(&mut self, member: &str) {
        let round = self.round;
        let epoch = self.epoch;
        if let Some(seen) = self.members.get_mut(member) {
            let stopped = seen.report.as_ref().filter(|report| {
                report.epoch == epoch && report.application == Application::Stopped && seen.round == round
            });
            if let Some(report) = stopped
                && seen.unanswered_start.is_none()
                && seen.connected
            {
                seen.fence =
                    Some(Fence { kind: FenceKind::StopConfirmed, instance: Some(report.instance), round });
            }
            seen.connected = false;
        }
    }

    /// Takes in proofs that members do not run. Given together, they are one change.
    pub fn take_fences<'a>(&mut self, fences: impl IntoIterator<Item = (&'a str, FenceKind)>) {
        let next = self.round + 1;
        let mut fenced_anew = Vec::new();
        for (member, kind) in fences {
            let seen = self.members.entry(member.to_owned()).or_default();
            let instance = seen.report.as_ref().map(|report| report.instance);
            let known = seen.fence.is_some_and(|fence| fence.kind == kind && fence.instance == instance);
            if !known || kind == FenceKind::Person {
                fenced_anew.push(member.to_owned());
            }
            seen.connected = false;
            seen.fence = Some(Fence { kind, instance, round: self.round });
        }
        if fenced_anew.is_empty() {
            return;
        }
        self.round = next;
        for member in fenced_anew {
            if let Some(fence) = self.members.get_mut(&member).and_then(|seen| seen.fence.as_mut()) {
                fence.round = next;
            }
        }
    }

    /// A proof does not hold any more: a container runs again, or the taint is gone.
    pub fn lift_fence(&mut self, member: &str) {
        if self.members.get_mut(member).is_some_and(|seen| seen.fence.take().is_some()) {
            self.round += 1;
        }
    }

    /// Keeps since when more than one view, or more primaries than wanted, are seen. To be called before deciding.
    pub fn watch_for_split(&mut self, wanted: &Wanted, now: Timestamp) {
        self.split_since = is_split(self, wanted).then(|| self.split_since.unwrap_or(now));
    }

    /// A command was sent.
    pub fn note_sent(
        &mut self,
        member: &str,
        stamp: Stamp,
        instance: Instance,
        action: &Action,
        now: Timestamp,
    ) {
        let sent = Sent { stamp, instance, at: now };
        let seen = self.members.entry(member.to_owned()).or_default();
        seen.pending = Some(sent);
        if action.starts() {
            seen.unanswered_start = Some(sent);
        }
        if matches!(action, Action::Seed { forming: false }) {
            if retry_at(&self.failed_seeds) <= now {
                self.failed_seeds.members.clear();
            }
            self.seeding = Some(Seeding { member: member.to_owned(), instance, stamp });
        }
    }

    /// A command was obeyed. Of a start, that is not enough: until a report shows what it led to, the last one is
    /// of a time before it.
    pub fn note_answer(&mut self, member: &str, answer: Answer) {
        if let Some(seen) = self.members.get_mut(member) {
            seen.pending = seen.pending.filter(|sent| sent.stamp > answer.stamp);
        }
    }

    /// A command was refused: it did nothing, and never will.
    pub fn note_refusal(&mut self, member: &str, stamp: Stamp) {
        if let Some(seen) = self.members.get_mut(member) {
            seen.pending = seen.pending.filter(|sent| sent.stamp != stamp);
            seen.unanswered_start = seen.unanswered_start.filter(|sent| sent.stamp != stamp);
        }
    }

    /// The newest roster that anyone names.
    pub fn roster(&self) -> Option<&Roster> {
        let reported = self.members.values().filter_map(|seen| seen.report.as_ref()?.roster.as_ref());
        reported.chain(self.issued.as_ref()).max_by_key(|roster| roster.version)
    }

    /// The reports of members whose stream is alive and whose agent follows this epoch.
    pub fn reporting(&self) -> impl Iterator<Item = (&str, &Report)> {
        self.members.iter().filter_map(|(name, seen)| Some((name.as_str(), self.live(seen)?)))
    }

    /// The report of this member, if its stream is alive and its agent follows this epoch.
    pub fn report_of(&self, member: &str) -> Option<&Report> {
        self.live(self.members.get(member)?)
    }

    /// The applications that are known to run now.
    pub fn running(&self) -> impl Iterator<Item = (&str, &Report, &Running)> {
        self.reporting().filter_map(|(name, report)| Some((name, report, report.running()?)))
    }

    /// Whether some agent follows a later leader.
    pub fn outranked(&self) -> bool {
        let epochs = self.members.values().filter_map(|seen| Some(seen.report.as_ref()?.epoch));
        epochs.max().is_some_and(|epoch| epoch > self.epoch)
    }

    /// For how long this member made no progress.
    pub fn idle_for(&self, member: &str, now: Timestamp) -> SignedDuration {
        let progressed = self.members.get(member).and_then(|seen| seen.progressed);
        progressed.map_or(SignedDuration::ZERO, |at| now.duration_since(at))
    }

    fn live<'a>(&self, seen: &'a Seen) -> Option<&'a Report> {
        seen.report.as_ref().filter(|report| seen.connected && report.epoch == self.epoch)
    }

    /// A seed that is stopped again has failed; one that serves has not.
    fn note_seed(&mut self, member: &str, report: &Report, now: Timestamp) {
        let Some(seeding) = self.seeding.as_ref().filter(|seeding| seeding.member == member) else { return };
        let other_run = seeding.instance != report.instance;
        let answered = report.last.is_some_and(|last| last.stamp >= seeding.stamp);
        let stopped = report.application == Application::Stopped && (answered || other_run);
        if stopped {
            self.failed_seeds.members.insert(member.to_owned());
            self.failed_seeds.attempts = self.failed_seeds.attempts.saturating_add(1);
            self.failed_seeds.last = Some(now);
            self.seeding = None;
        } else if serves_as_primary(report) {
            self.failed_seeds = FailedSeeds::default();
            self.seeding = None;
        }
    }

    fn note_floor(&mut self, report: &Report) {
        if report.epoch != self.epoch || !serves_as_primary(report) {
            return;
        }
        let Some(held) = report.held() else { return };
        let sequence = held.sequence;
        if report.round == self.round && self.floor.is_none_or(|floor| floor.round != self.round) {
            self.floor = Some(Floor { round: self.round, sequence });
        }
        let term = held.terms.current();
        let known = self.roster_floor.map(|floor| (floor.version, floor.term));
        if let Some(version) = report.running().and_then(|running| running.roster)
            && known != Some((version, term))
        {
            self.roster_floor = Some(RosterFloor { version, term, sequence });
        }
    }
}

impl Seen {
    /// Forgets what a report settles: it comes from a newer run of the agent, or after the command was obeyed.
    fn settle(&mut self, last: Option<Answer>, instance: Instance) {
        let open = |sent: &Sent| instance == sent.instance && last.is_none_or(|last| last.stamp < sent.stamp);
        self.pending = self.pending.filter(open);
        self.unanswered_start = self.unanswered_start.filter(open);
    }
}

/// Whether this report says that its member serves writes.
pub fn serves_as_primary(report: &Report) -> bool {
    report.running().is_some_and(|running| {
        running.role == Role::Primary && matches!(running.activity, Activity::Serving | Activity::Donor)
    })
}

/// Whether this report changes what its member can be doing behind our back: its first under this epoch, a new run,
/// a role left, a stop.
fn accounting_changed(old: Option<&Report>, new: &Report, epoch: u64) -> bool {
    let Some(old) = old else { return true };
    let first_here = new.epoch == epoch && old.epoch != epoch;
    let was_primary = old.running().is_some_and(|running| running.role == Role::Primary);
    let is_primary = new.running().is_some_and(|running| running.role == Role::Primary);
    let stopped = old.application != Application::Stopped && new.application == Application::Stopped;
    let now_known = old.application == Application::Unknown && new.application != Application::Unknown;
    first_here || old.instance != new.instance || (was_primary && !is_primary) || stopped || now_known
}

fn has_progressed(old: &Report, new: &Report) -> bool {
    let figures = |report: &Report| {
        let running = report.running().map(|running| (running.role, running.activity, running.progress));
        (running, report.held().map(|held| held.sequence))
    };
    figures(old) != figures(new)
}
