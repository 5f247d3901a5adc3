//! The task of one manager: it waits until something happens, takes it in, and has its turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use muster_core::manager::command::Refusal;
use muster_core::manager::observed::Observed;
use muster_core::manager::restore::Source;
use muster_core::manager::stamp::Stamp;
use muster_protocol::{Line, Outcome};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::asked::Asked;
use super::intent::Intent;
use super::streams::{Keys, Streams};
use super::view::{Heard, View, essence};
use super::writes::Writes;
use crate::agents::{CallError, Event, News};
use crate::context::Context;
use crate::key::{Key, Name};
use crate::lease::Work;
use crate::metrics::MemberFigures;

/// How long a starting manager waits for those it expects. Longer, and a member that is down for good would keep a
/// cluster from failing over.
pub const START_LIMIT: Duration = Duration::from_secs(10);
/// The longest that a manager goes without a look around: what it waits for has a time of its own, this is for what it
/// cannot foresee.
const LOOK_AROUND: Duration = Duration::from_secs(60);

/// What a manager hears of besides its agents.
pub(super) struct Ears {
    /// What its controller asks it to keep.
    pub(super) intent: watch::Receiver<Option<Intent>>,
    /// By what it knows its agents.
    pub(super) keys: watch::Receiver<Option<Keys>>,
    /// Something of its cluster changed.
    pub(super) changed: Arc<Notify>,
    /// Whether its controller waits for newer figures.
    pub(super) refresh: Arc<AtomicBool>,
    /// What people asked for.
    pub(super) requests: mpsc::Receiver<Asked>,
    /// Whether it is to stop.
    pub(super) stop: watch::Receiver<Stop>,
}

/// What a manager is told about its end. What is said later goes further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// It goes on.
    No,
    /// A person stopped clustering.
    Pause,
    /// The operator ends.
    End,
}

/// What became of a command that was sent.
pub(super) struct Sent {
    pub(super) member: String,
    pub(super) stamp: Stamp,
    pub(super) action: &'static str,
    pub(super) outcome: Result<Outcome, CallError>,
}

/// The manager of one cluster.
pub(super) struct Task {
    pub(super) context: Arc<Context>,
    pub(super) cluster: Name,
    pub(super) ears: Ears,
    pub(super) view: watch::Sender<Arc<View>>,
    pub(super) observed: Observed,
    pub(super) streams: Streams,
    pub(super) lines: BTreeMap<String, Line>,
    pub(super) heard_at: BTreeMap<String, Timestamp>,
    pub(super) sent: JoinSet<Sent>,
    pub(super) reports: JoinSet<(String, Result<Line, CallError>)>,
    /// The round in which a member was last asked, while no answer has come.
    pub(super) asking: BTreeMap<String, u64>,
    pub(super) writes: Writes,
    pub(super) began: Instant,
    pub(super) acts: bool,
    /// `restoreReplicas` as it was stored when this manager began.
    pub(super) stored_restore: Option<i64>,
    /// What a person set by request.
    pub(super) restore: Option<usize>,
    pub(super) request: Option<Asked>,
    /// Members that a person gave up, until their claim is marked and their Member is deleted.
    pub(super) given_up: BTreeSet<String>,
    /// The nodes by whose taint members are known not to run.
    pub(super) out_of_service: BTreeMap<String, String>,
    pub(super) next: View,
    pub(super) wake: Option<Instant>,
    /// Whose status has to be looked at.
    pub(super) touched: BTreeSet<String>,
    /// Whether nothing has happened since the last turn.
    pub(super) idle: bool,
    pub(super) work: Work,
}

/// How a manager ended.
pub(super) enum Ended {
    /// A person asked for it. What was known of commands stays known, for when it is started again.
    Paused(Box<Observed>),
    /// It may not act any more, or its cluster is gone.
    Dropped,
}

impl Task {
    /// Runs until it is told to stop, or may not go on.
    pub(super) async fn run(mut self) -> Ended {
        if self.live().await == Stop::Pause && self.finish().await {
            return Ended::Paused(Box::new(self.observed));
        }
        self.drain().await;
        Ended::Dropped
    }

    /// Manages, until it is told to stop in one way or the other.
    async fn live(&mut self) -> Stop {
        let mut epochs = self.context.door.authority().epochs();
        loop {
            let told = *self.ears.stop.borrow_and_update();
            if told != Stop::No {
                return told;
            }
            // A sign of life that says nothing new needs no answer.
            if std::mem::replace(&mut self.idle, false) {
                tracing::trace!(cluster = %self.cluster, "nothing new");
            } else {
                self.turn();
                self.tell();
            }
            let wake = self.wake.unwrap_or_else(|| Instant::now() + LOOK_AROUND);
            tokio::select! {
                biased;
                _ = epochs.wait_for(|epoch| *epoch != Some(self.work.epoch())) => return Stop::End,
                stopped = self.ears.stop.changed() => if stopped.is_err() { return Stop::End },
                event = self.streams.events().next() => self.idle = !self.hear(event),
                Some(sent) = self.sent.join_next() => self.note(sent.ok()),
                Some(report) = self.reports.join_next() => self.take_answer(report.ok()),
                Some(done) = self.writes.next() => self.note_write(done),
                Some(asked) = self.ears.requests.recv() => self.take_request(asked),
                changed = self.ears.intent.changed() => if changed.is_err() { return Stop::End },
                changed = self.ears.keys.changed() => if changed.is_err() { return Stop::End },
                () = self.ears.changed.notified() => {}
                () = tokio::time::sleep_until(wake) => {}
            }
            self.catch_up();
        }
    }

    /// Takes in all that has come already, so that one turn answers all of it.
    fn catch_up(&mut self) {
        while let Some(event) = self.streams.events().try_next() {
            self.idle &= !self.hear(event);
        }
        while let Some(sent) = self.sent.try_join_next() {
            self.note(sent.ok());
            self.idle = false;
        }
        while let Some(report) = self.reports.try_join_next() {
            self.take_answer(report.ok());
            self.idle = false;
        }
        self.streams.count();
    }

    pub(super) fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// Takes in what a stream says. False: it is a sign of life and nothing else.
    pub(super) fn hear(&mut self, event: Event) -> bool {
        match event.news {
            News::Line(line) => {
                if self.says_nothing_new(&line) {
                    self.heard_at.insert(line.member, self.context.clock.now());
                    return self.ears.refresh.load(Ordering::Relaxed);
                }
                self.take_line(*line);
            }
            News::Lost(why) => {
                tracing::info!(cluster = %self.cluster, member = event.member, %why, "an agent is not heard");
                self.lose(&event.member);
            }
        }
        true
    }

    /// Whether a line differs from the last one in its number only.
    fn says_nothing_new(&self, line: &Line) -> bool {
        let connected = self.observed.members.get(&line.member).is_some_and(|seen| seen.connected);
        self.lines.get(&line.member).is_some_and(|old| {
            let mut same = old.clone();
            same.report.serial = line.report.serial;
            connected && same == *line && old.report.round == line.report.round
        })
    }

    pub(super) fn lose(&mut self, member: &str) {
        self.observed.lose_stream(member);
        // What is not heard any more may have changed: a figure that is kept would be a claim.
        self.context.metrics.forget_member(&self.cluster, member);
        self.asking.remove(member);
        self.touched.insert(member.to_owned());
    }

    fn take_line(&mut self, line: Line) {
        let now = self.now();
        let member = line.member.clone();
        let was_connected = self.observed.members.get(&member).is_some_and(|seen| seen.connected);
        let same = self.lines.get(&member).is_some_and(|old| essence(old) == essence(&line));
        if !same || !was_connected {
            self.touched.insert(member.clone());
        }
        self.context.metrics.member(&self.cluster, &member, figures(&line));
        self.observed.take_report(&member, line.report.clone(), now);
        self.heard_at.insert(member.clone(), now);
        self.lines.insert(member, line);
    }

    fn take_answer(&mut self, answer: Option<(String, Result<Line, CallError>)>) {
        let Some((member, answer)) = answer else { return };
        self.asking.remove(&member);
        if let Ok(line) = answer {
            self.take_line(line);
        }
    }

    /// The count that a person asked for, else set by hand, until a primary has served.
    ///
    /// Whose the stored one is, agents tell: once one of them has said what Muster wrote, or everyone was heard and nobody remembers
    /// that it wrote any. Each may remember something older than the next, so it is judged anew by all that are heard.
    pub(super) fn persons_count(&mut self) -> Option<usize> {
        if self.observed.count_spent {
            self.stored_restore = None;
            return None;
        }
        let all_heard = self.observed.reporting().next().is_some() && self.next.unheard.is_empty();
        let nothing = (self.acts && all_heard).then_some(&[][..]);
        let source = Source::of(self.stored_restore, self.observed.recorded().or(nothing));
        self.restore.or(source.persons())
    }

    /// Takes in what became of a command.
    pub(super) fn note(&mut self, sent: Option<Sent>) {
        let Some(Sent { member, stamp, action, outcome }) = sent else { return };
        self.context.metrics.commanded(action, word(&outcome));
        let now = self.now();
        match outcome {
            Ok(Outcome::Obeyed(answer)) => self.observed.note_answer(&member, answer, now),
            Ok(Outcome::Refused(refusal)) => {
                tracing::warn!(cluster = %self.cluster, member, %stamp, %refusal, "an agent refused a command");
                self.observed.note_refusal(&member, stamp, now);
                if let Refusal::OldEpoch { known, .. } = refusal {
                    self.context.door.authority().outranked(known);
                }
            }
            Err(error) if error.may_have_been_obeyed() => {
                tracing::warn!(cluster = %self.cluster, member, %stamp, %error, "a command was not answered");
            }
            Err(error) => {
                tracing::warn!(cluster = %self.cluster, member, %stamp, %error, "a command was not sent");
                self.observed.note_refusal(&member, stamp, now);
            }
        }
        self.touched.insert(member);
    }

    /// Whether everyone who is expected has reported, or was waited for long enough.
    pub(super) fn ready_to_act(&mut self, expected: &BTreeSet<String>) -> bool {
        let unheard = |member: &&String| self.observed.report_of(member).is_none();
        let unheard = expected.iter().filter(unheard).cloned().collect();
        if self.next.unheard != unheard {
            self.next.unheard = unheard;
            self.touched.insert(String::new());
        }
        self.acts = self.acts || self.next.unheard.is_empty() || self.began.elapsed() >= START_LIMIT;
        self.acts
    }

    /// Publishes what is known, and has the controllers look at what changed.
    pub(super) fn tell(&mut self) {
        if self.ears.refresh.swap(false, Ordering::Relaxed) {
            self.touched.insert(String::new());
        }
        if self.touched.is_empty() {
            return;
        }
        for (member, at) in self.streams.events().confirmed() {
            let ago = SignedDuration::try_from(at.elapsed()).unwrap_or_default();
            self.heard_at.insert(member, self.now() - ago);
        }
        let heard = self.lines.iter().filter_map(|(member, line)| {
            let at = *self.heard_at.get(member)?;
            let (pod_uid, measured) = (line.pod_uid.clone(), line.measured.clone());
            Some((member.clone(), Heard { pod_uid, measured, at }))
        });
        self.next.heard = heard.collect();
        self.view.send_replace(Arc::new(self.next.clone()));
        // Members first: what is found of them is what their cluster counts.
        for member in std::mem::take(&mut self.touched) {
            if !member.is_empty() {
                self.context.queue.add(Key::Member(self.cluster.beside(member)));
            }
        }
        self.context.queue.add(Key::Cluster(self.cluster.clone()));
    }

    /// Waits for the end of what is under way: nobody else begins before that. Each write and each command is bounded by
    /// the mandate under which it was sent.
    async fn drain(&mut self) {
        self.streams.close();
        while self.sent.join_next().await.is_some() {}
        self.writes.drain().await;
    }

    /// When to decide again: when the decision says so, when a write may be tried again, and once in a while.
    pub(super) fn wake_at(&mut self, at: Option<Timestamp>) {
        let decided = at.map(|at| {
            let wait = at.duration_since(self.now()).max(SignedDuration::ZERO);
            Instant::now() + Duration::try_from(wait).unwrap_or(LOOK_AROUND)
        });
        let retry = self.writes.retry_at();
        let around = Instant::now() + LOOK_AROUND;
        self.wake = [decided, retry, Some(around)].into_iter().flatten().min();
    }
}

/// What moves all the time, for metrics.
fn figures(line: &Line) -> MemberFigures {
    MemberFigures {
        sequence: line.report.held().map(|held| held.sequence),
        lag_seconds: line.measured.lag_seconds,
        free: line.measured.storage.map(|storage| storage.free),
        capacity: line.measured.storage.map(|storage| storage.capacity),
    }
}

/// What became of a command, in one word.
fn word(outcome: &Result<Outcome, CallError>) -> &'static str {
    match outcome {
        Ok(Outcome::Obeyed(_)) => "obeyed",
        Ok(Outcome::Refused(_)) => "refused",
        Err(error) => error.word(),
    }
}
