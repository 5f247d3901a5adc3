//! What an agent knows at this moment, and the report that it makes of that.

use std::time::Duration;

use muster_api::names::{Action, Role};
use muster_core::manager::command::Answer;
use muster_core::manager::report::{Activity, Application, Data, Held, Instance, Report, Running};
use muster_core::manager::stamp::{Stamp, Term};
use muster_protocol::{Failure, Measured, Neighbour};
use tokio::sync::watch;
use tokio::time::Instant;

use super::task::Task;
use crate::engine::words::{Component, Said};
use crate::memory::command::latest;
use crate::memory::{Known, Memory};

/// What is known of processes when no application runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A process of an earlier run may live.
    Looking,
    /// The application has ended; what it left is being ended.
    Clearing,
    /// Nothing lives; the data is being read.
    Reading,
    /// Nothing lives, and the data was read, as far as it can be.
    Settled,
}

/// All that an agent knows.
pub struct Live {
    /// What is on disk.
    pub memory: Memory,
    /// What was obeyed and could not be written down.
    pub unwritten: Option<Answer>,
    /// What is known of processes.
    pub stage: Stage,
    /// The application, while it runs.
    pub app: Option<App>,
    /// What is known of the data.
    pub data: Known,
    /// The other members, as the last command named them.
    pub peers: Vec<Neighbour>,
    /// The command that is being done.
    pub task: Option<Task>,
    /// What is measured.
    pub measured: Measured,
    /// The serial of the last report.
    pub serial: u64,
    /// The agent is about to end.
    pub ending: bool,
    /// The roster that the application can read.
    pub handed: Option<Stamp>,
    /// What was said last, apart from what moves all the time.
    pub said: Option<(Report, Measured)>,
}

/// A running application.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a process")]
pub struct App {
    /// The action that started it.
    pub action: Action,
    /// Its process.
    pub pid: i32,
    /// The role it has.
    pub role: Role,
    /// Whether it takes writes in a term that is its own.
    pub leads: bool,
    /// Whether it was seen as primary since it leads.
    pub led: bool,
    /// The term of a promotion that is under way.
    pub offered: Option<Term>,
    /// The term it serves in, or that of the primary it was started for.
    pub term: Option<Term>,
    /// What it is busy with.
    pub activity: Activity,
    /// What it said last.
    pub said: Said,
    /// The last component in which it had a quorum.
    pub component: Option<Component>,
    /// Whether it has been without a quorum since.
    pub cut_off: bool,
    /// The roster it uses.
    pub roster: Option<Stamp>,
    /// The roster it was told of, and when it is told again if that failed.
    pub told: Option<Stamp>,
    /// See there.
    pub tell_at: Instant,
    /// Until when it may not be seen by `status`.
    pub patience: Instant,
    /// Whether `status` has seen it.
    pub seen: bool,
    /// How often `status` failed since it was seen.
    pub failures: u32,
    /// The question to which it answered last.
    pub answered: u64,
    /// Whether it owed an answer to someone who counts on how far it is: what it said before may have been overtaken.
    pub overtaken: bool,
    /// Moves with every change of role that was commanded: what was asked before says nothing after.
    pub turn: u64,
    /// Whether it was told to stop.
    pub stopping: bool,
    /// Closed when its process has ended.
    pub ended: watch::Receiver<()>,
}

impl App {
    /// Whether it has all that the primary has.
    pub fn synced(&self) -> bool {
        let serves = matches!(self.activity, Activity::Serving | Activity::Donor);
        serves && (self.said.synced || self.role == Role::Primary)
    }

    /// Whether it does what its role asks: what a readiness probe finds.
    pub fn is_ready(&self) -> bool {
        self.seen && !self.stopping && self.synced()
    }

    /// Whether it was given a quorum that nobody here commanded, and others may have gone on without it.
    pub fn was_re_formed(&self, said: &Said) -> bool {
        let rivals = |(before, now): (&Component, &Component)| {
            (self.cut_off || now.interruptions != before.interruptions) && now.may_rival(before)
        };
        let rivals = self.component.as_ref().zip(said.quorum()).is_some_and(rivals);
        rivals && self.leads && self.offered.is_none()
    }

    fn running(&self) -> Running {
        Running {
            role: self.role,
            activity: self.activity,
            view: self.said.view.clone(),
            term: self.term,
            roster: self.roster,
            synced: self.seen && self.synced(),
            progress: self.said.progress,
        }
    }

    /// How long it lives at least before what it does not say counts against it.
    pub fn is_patient(&self, now: Instant) -> bool {
        !self.seen && now < self.patience
    }
}

impl Live {
    /// Of an agent that just began.
    pub fn new(memory: Memory) -> Self {
        Self {
            memory,
            unwritten: None,
            stage: Stage::Looking,
            app: None,
            data: Known::Unreadable,
            peers: Vec::new(),
            task: None,
            measured: Measured::default(),
            serial: 0,
            ending: false,
            handed: None,
            said: None,
        }
    }

    /// What it reports, in answer to this round.
    pub fn report(&self, instance: Instance, round: u64) -> Report {
        let memory = &self.memory;
        let application = match (&self.app, self.stage) {
            (Some(app), _) => Application::Running(app.running()),
            (None, Stage::Settled) => Application::Stopped,
            (None, _) => Application::Unknown,
        };
        Report {
            instance,
            serial: self.serial,
            round,
            epoch: memory.epoch,
            last: latest(memory.last, self.unwritten),
            volume: memory.volume.clone(),
            roster: memory.newest_roster().cloned(),
            application,
            data: self.data(),
            recorded: memory.recorded.clone(),
            recorded_at: memory.recorded_at,
            evacuated: memory.evacuated,
            reserved: memory.reserved,
            covered: memory.covered,
        }
    }

    fn data(&self) -> Data {
        let overtaken = self.app.as_ref().is_some_and(|app| app.overtaken);
        let position = self.data.position().filter(|_| !self.memory.lost && !overtaken);
        position.map_or(Data::Unreadable, |position| {
            Data::Held(Held {
                history: position.history.clone(),
                terms: self.memory.terms.clone(),
                sequence: position.sequence,
                position: position.position.clone(),
                empty: position.empty,
                complete: self.memory.complete,
                left: self.memory.left,
            })
        })
    }

    /// Whether there is something to say that was not said; what moves all the time is not.
    pub fn has_news(&mut self, instance: Instance) -> bool {
        let mut report = self.report(instance, 0);
        report.serial = 0;
        if let Data::Held(held) = &mut report.data {
            (held.sequence, held.position) = (0, String::new());
        }
        if let Application::Running(running) = &mut report.application {
            running.progress = 0;
        }
        let mut measured = self.measured.clone();
        measured.lag_seconds = None;
        measured.storage = None;
        for device in &mut measured.devices {
            device.free = 0;
        }
        let new = Some((report, measured));
        let changed = self.said != new;
        self.said = new;
        changed
    }

    /// An action failed.
    pub fn note_failure(&mut self, failure: Failure) {
        crate::log::say!("{} failed: {}", failure.action, failure.how);
        self.measured.failure = Some(failure);
    }

    /// An action succeeded: it is not failed any more.
    pub fn note_success(&mut self, action: Action) {
        let same = |failure: &Failure| failure.action == action.to_string();
        self.measured.failure.take_if(|failure| same(failure));
    }

    /// The history of the data, as far as it is known.
    pub fn history(&self) -> String {
        self.data.position().map(|position| position.history.clone()).unwrap_or_default()
    }
}

/// In seconds, as engines have it.
pub fn seconds(count: i32) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(1).max(1))
}
