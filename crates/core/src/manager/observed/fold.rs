//! How what happens becomes what is known: reports, lost streams, proofs, commands sent and answered.

use jiff::Timestamp;
use muster_api::names::Role;

use super::super::command::{Action, Answer};
use super::super::fencing::{Fence, FenceKind, Proof};
use super::super::report::{Application, Instance, Report};
use super::super::stamp::Stamp;
use super::seen::Kind;
use super::{Floor, Observed, RosterFloor, Sent, Trial, serves_as_primary};

impl Observed {
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
        seen.note_fall(&report, now);
        seen.settle(&report, now);
        seen.connected = true;
        self.judge_trial(member, &report, now);
        self.note_floors(&report);
        if let Some(seen) = self.members.get_mut(member) {
            seen.report = Some(report);
        }
        if changed {
            self.round += 1;
        }
    }

    /// Its stream is lost. That proves nothing, except where its agent had just confirmed that nothing runs.
    pub fn lose_stream(&mut self, member: &str) {
        let (round, epoch) = (self.round, self.epoch);
        let Some(seen) = self.members.get_mut(member) else { return };
        let stopped = seen.report.as_ref().filter(|report| {
            report.epoch == epoch && report.application == Application::Stopped && seen.round == round
        });
        if let Some(report) = stopped
            && seen.unanswered_start.is_none()
            && seen.connected
        {
            let evidence = format!("stopped, by run {:x}", report.instance.0);
            seen.fence = Some(Fence { kind: FenceKind::StopConfirmed, evidence, round });
        }
        seen.connected = false;
    }

    /// Takes in proofs that members do not run, as they are in this round. Given together, they are one change; seen
    /// again, they are none. A proof of another run of the agent than the last one heard is no proof.
    pub fn take_proofs(&mut self, proofs: impl IntoIterator<Item = Proof>) {
        let round = self.round + 1;
        let mut given = Vec::new();
        let mut changed = false;
        for Proof { member, kind, instance, evidence } in proofs {
            let seen = self.members.entry(member.clone()).or_default();
            let last = seen.report.as_ref().map(|report| report.instance);
            if instance.is_some() && last.is_some() && instance != last {
                continue;
            }
            let known = seen.fence.as_ref().is_some_and(|fence| fence.evidence == evidence);
            changed |= !known;
            given.push(member);
            seen.connected = false;
            seen.fence = Some(Fence { kind, evidence, round: self.round });
        }
        if !changed {
            return;
        }
        self.round = round;
        for member in given {
            if let Some(fence) = self.members.get_mut(&member).and_then(|seen| seen.fence.as_mut()) {
                fence.round = round;
            }
        }
    }

    /// A proof does not hold any more: a container runs again, or the taint is gone.
    pub fn lift_fence(&mut self, member: &str) {
        if self.members.get_mut(member).is_some_and(|seen| seen.fence.take().is_some()) {
            self.round += 1;
        }
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
        let sent = Sent { stamp, instance, kind: Kind::of(action), at: now, answered: false };
        let seen = self.members.entry(member.to_owned()).or_default();
        seen.pending = Some(sent);
        seen.last_sent = Some(now);
        if action.carries_roster() {
            seen.roster_sent = action.counts_by_newest().then_some(now);
        }
        if action.starts() {
            seen.unanswered_start = Some(sent);
        }
        if action.begins_term() {
            self.begin_trial(Trial { member: member.to_owned(), instance, stamp }, now);
        }
    }

    /// A command was obeyed. That is not enough: until a report shows what it led to, the last one is of a time before it,
    /// and whoever decided by that would give the same command again.
    pub fn note_answer(&mut self, member: &str, answer: Answer, now: Timestamp) {
        if let Some(seen) = self.members.get_mut(member) {
            seen.note_outcome(answer, now);
        }
    }

    /// A command was refused: it did nothing, and never will. The member rests before it is told something else.
    pub fn note_refusal(&mut self, member: &str, stamp: Stamp, now: Timestamp) {
        if let Some(seen) = self.members.get_mut(member) {
            if seen.pending.is_some_and(|sent| sent.stamp == stamp) {
                seen.note_failure(now);
            }
            seen.pending = seen.pending.filter(|sent| sent.stamp != stamp);
            seen.unanswered_start = seen.unanswered_start.filter(|sent| sent.stamp != stamp);
        }
        self.trial = self.trial.take().filter(|trial| trial.stamp != stamp);
    }

    fn note_floors(&mut self, report: &Report) {
        if report.epoch != self.epoch || !serves_as_primary(report) {
            return;
        }
        (self.has_served, self.count_spent) = (true, true);
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
