//! What is known of one member.

use jiff::Timestamp;

use super::super::command::{Action, Answer};
use super::super::fencing::Fence;
use super::super::report::{Instance, Report};
use super::super::stamp::Stamp;
use super::retry_pause;

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
    /// The last command sent, until a report shows what it led to: the answer alone says that it was obeyed, and the last
    /// report is of a time before it.
    pub pending: Option<Sent>,
    /// A start that was sent, and that no report shows yet. A later stop, once obeyed, settles it.
    pub unanswered_start: Option<Sent>,
    /// When it last made progress.
    pub progressed: Option<Timestamp>,
    /// When it was last sent a command.
    pub last_sent: Option<Timestamp>,
    /// When it was last told to have its application count by the newest roster, if it was not told since to keep one only.
    pub roster_sent: Option<Timestamp>,
    /// Its application stopped by itself before it had caught up.
    pub falls: Failures,
    /// Commands to it failed, or were refused.
    pub refusals: Failures,
    /// When its `leave` last failed.
    pub leave_failed: Option<Timestamp>,
}

/// Failures in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// How many.
    pub count: u32,
    /// When the last one was.
    pub last: Option<Timestamp>,
}

impl Failures {
    fn add(&mut self, now: Timestamp) {
        self.count = self.count.saturating_add(1);
        self.last = Some(now);
    }

    /// Until when to leave it alone; the first failure is an accident.
    fn rests_until(self) -> Timestamp {
        match self.last {
            Some(last) if self.count > 1 => last + retry_pause(self.count - 1),
            _ => Timestamp::MIN,
        }
    }
}

/// A command that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number.
    pub stamp: Stamp,
    /// The run of the agent it was sent to.
    pub instance: Instance,
    /// What it asks for.
    pub kind: Kind,
    /// When it was sent.
    pub at: Timestamp,
    /// Whether it was answered.
    pub answered: bool,
}

/// What a command asks for, as far as its answer matters later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To stop.
    Stop,
    /// To evacuate.
    Leave,
    /// Anything else.
    Other,
}

impl Sent {
    /// Whether it tells the member to stop, or to step down.
    pub fn stops(self) -> bool {
        self.kind == Kind::Stop
    }
}

impl Kind {
    pub(super) fn of(action: &Action) -> Self {
        match action {
            Action::Stop | Action::Demote => Self::Stop,
            Action::Leave => Self::Leave,
            _ => Self::Other,
        }
    }
}

impl Seen {
    /// What remains of it after a pause: what was sent.
    pub(super) fn resumed(self) -> Self {
        let Self { pending, unanswered_start, last_sent, roster_sent, .. } = self;
        Self { pending, unanswered_start, last_sent, roster_sent, ..Self::default() }
    }

    /// Until when it is left alone after failures.
    pub fn rests_until(&self) -> Timestamp {
        self.falls.rests_until().max(self.refusals.rests_until())
    }

    /// Forgets what a report settles: it comes from a newer run of the agent, or after the command was obeyed.
    pub(super) fn settle(&mut self, report: &Report, now: Timestamp) {
        if let Some(last) = report.last {
            self.note_outcome(last, now);
        }
        let open = |sent: &Sent| {
            report.instance == sent.instance && report.last.is_none_or(|last| last.stamp < sent.stamp)
        };
        self.pending = self.pending.filter(open);
        self.unanswered_start = self.unanswered_start.filter(open);
    }

    /// Keeps what became of the last command.
    pub(super) fn note_outcome(&mut self, answer: Answer, now: Timestamp) {
        let Some(sent) = self.pending.as_mut().filter(|sent| sent.stamp == answer.stamp) else { return };
        if std::mem::replace(&mut sent.answered, true) {
            return;
        }
        if sent.kind == Kind::Leave {
            self.leave_failed = (!answer.succeeded).then_some(now);
        } else if answer.succeeded {
            self.refusals = Failures::default();
        } else {
            self.note_failure(now);
        }
    }

    pub(super) fn note_failure(&mut self, now: Timestamp) {
        self.refusals.add(now);
    }

    /// Counts an application that stopped though nobody told it to, until it is in its place again.
    pub(super) fn note_fall(&mut self, report: &Report, now: Timestamp) {
        let told = self.pending.is_some_and(|sent| sent.kind == Kind::Stop);
        let ran = self.report.as_ref().is_some_and(|old| old.running().is_some());
        let new_run = self.report.as_ref().is_some_and(|old| old.instance != report.instance);
        if report.running().is_some_and(|running| running.synced) {
            self.falls = Failures::default();
        } else if ran && !told && (report.running().is_none() || new_run) {
            self.falls.add(now);
        }
    }
}
