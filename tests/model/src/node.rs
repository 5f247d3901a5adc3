//! A simulated member, and how its agent obeys.

use muster_api::names::Role;
use muster_core::manager::command::{Action, Answer, Command, Join, Judge, Refusal, Verdict};
use muster_core::manager::report::{Application, Data, Instance, Report};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::{Stamp, Term};

use crate::{App, Volume};

/// What a power-off ends.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The nonce of this run.
    pub instance: Instance,
    /// The serial of its last report.
    pub serial: u64,
    /// Whether it cannot yet exclude that a process of its previous run lives.
    pub looking: bool,
    /// The application, while it runs.
    pub app: Option<App>,
}

impl Agent {
    /// A run that just began, and knows that nothing of an earlier one lives.
    pub fn new(instance: Instance) -> Self {
        Self { instance, serial: 0, looking: false, app: None }
    }
}

/// What does not work on a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// The engine's `leave` fails.
    pub leave_fails: bool,
    /// The application does not start.
    pub start_fails: bool,
    /// The application cannot be promoted while it runs.
    pub promote_fails: bool,
}

/// A member.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What survives a power-off.
    pub volume: Volume,
    /// What does not; none while it is off.
    pub agent: Option<Agent>,
    /// What does not work on it.
    pub quirks: Quirks,
}

impl Node {
    /// A member that is off.
    pub fn new(name: impl Into<String>, volume: Volume) -> Self {
        Self { name: name.into(), volume, agent: None, quirks: Quirks::default() }
    }

    /// Its application, while it runs.
    pub fn app(&self) -> Option<&App> {
        self.agent.as_ref()?.app.as_ref()
    }

    /// The same, to change it.
    pub fn app_mut(&mut self) -> Option<&mut App> {
        self.agent.as_mut()?.app.as_mut()
    }

    /// Whether its application runs as primary.
    pub fn is_primary(&self) -> bool {
        self.app().is_some_and(|app| app.role == Role::Primary)
    }

    /// Whether its application does what its role asks: what a readiness probe finds.
    pub fn is_ready(&self) -> bool {
        self.app().is_some_and(|app| app.serving || (app.synced && !app.isolated && !app.copying))
    }

    /// Answers the question of this round; None when it is off.
    pub fn report(&mut self, round: u64) -> Option<Report> {
        let volume = &self.volume;
        let agent = self.agent.as_mut()?;
        agent.serial += 1;
        let application = match &agent.app {
            _ if agent.looking => Application::Unknown,
            Some(app) => Application::Running(app.running()),
            None => Application::Stopped,
        };
        Some(Report {
            instance: agent.instance,
            serial: agent.serial,
            round,
            epoch: volume.epoch,
            last: volume.last,
            volume: volume.uuid.clone(),
            roster: volume.newest_roster().cloned(),
            application,
            data: if volume.unreadable { Data::Unreadable } else { Data::Held(volume.held()) },
            evacuated: volume.evacuated,
            reserved: volume.reserved,
            covered: volume.covered,
            recorded: volume.recorded.clone(),
            recorded_at: volume.recorded_at,
        })
    }

    /// Judges a command and, if it is to be obeyed, does it. None: off.
    pub fn obey(
        &mut self,
        command: &Command,
        new_name: impl FnOnce() -> String,
    ) -> Option<Result<Answer, Refusal>> {
        let agent = self.agent.as_ref()?;
        let judge = Judge {
            member: &self.name,
            instance: agent.instance,
            epoch: self.volume.epoch,
            last: self.volume.last,
            empty: self.volume.empty() && !self.volume.unreadable,
            left: self.volume.left,
        };
        match judge.judge(command) {
            Verdict::Refuse(refusal) => Some(Err(refusal)),
            Verdict::Repeat(answer) => Some(Ok(answer)),
            Verdict::Obey => {
                self.volume.epoch = self.volume.epoch.max(command.stamp.epoch);
                if matches!(&command.action, Action::Join(join) if join.copy) {
                    // What was there is given up, and with it where it came from.
                    (self.volume.roster, self.volume.ahead) = (None, None);
                }
                self.keep_roster(command);
                let succeeded = self.act(command.stamp, &command.action, new_name);
                let answer = Answer { stamp: command.stamp, succeeded };
                self.volume.last = Some(answer);
                Some(Ok(answer))
            }
        }
    }

    fn keep_roster(&mut self, command: &Command) {
        let known = self.volume.newest_roster();
        let newer = |roster: &&Roster| {
            known.is_none_or(|known| roster.is_at_least(known) && roster.version > known.version)
        };
        if let Some(roster) = command.roster.as_ref().filter(newer) {
            self.volume.ahead = Some(roster.clone());
        }
        if command.action.counts_by_newest() {
            self.volume.roster = self.volume.ahead.take().or_else(|| self.volume.roster.take());
        }
        let used = self.volume.roster.clone();
        if let Some(app) = self.app_mut() {
            app.roster = used;
        }
    }

    fn act(&mut self, stamp: Stamp, action: &Action, new_name: impl FnOnce() -> String) -> bool {
        let running = self.app().is_some();
        let quirks = self.quirks;
        match action {
            Action::Promote | Action::Bootstrap if quirks.promote_fails => return false,
            Action::Leave if quirks.leave_fails => return false,
            starts if starts.starts() && quirks.start_fails => return false,
            Action::Seed { forming } if !running => {
                // Software that finds nothing begins a history of its own.
                if *forming || self.volume.empty() {
                    self.volume.history = new_name();
                    self.volume.torn = false;
                }
                self.reign(stamp);
            }
            Action::Lead if !running => self.reign(stamp),
            Action::Promote | Action::Bootstrap if running => self.reign(stamp),
            Action::Join(join) if !running => self.join(join, new_name),
            Action::Demote if running => {
                if let Some(app) = self.app_mut() {
                    app.role = Role::Secondary;
                    app.serving = false;
                    app.synced = true;
                }
            }
            Action::Stop => self.stop(),
            Action::Start if !running => self.start(),
            Action::Leave => self.volume.evacuated = true,
            Action::MarkLeft => {
                self.volume.left = true;
                self.volume.recorded.clear();
                self.volume.recorded_at = None;
            }
            Action::Follow(follow) if running => {
                self.volume.terms = follow.terms.clone();
                if let Some(app) = self.app_mut() {
                    app.term = Some(follow.term);
                }
            }
            Action::TakeRoster | Action::KeepRoster => {}
            Action::Remember(count) => {
                self.volume.recorded.push(*count);
                self.volume.recorded_at = Some(stamp);
                let excess = self.volume.recorded.len().saturating_sub(2);
                self.volume.recorded.drain(..excess);
            }
            Action::Reserve(reserve) => self.volume.reserved = *reserve,
            _ => return false,
        }
        true
    }

    fn stop(&mut self) {
        if let Some(agent) = self.agent.as_mut() {
            agent.app = None;
        }
    }

    /// Starts to be primary in the term of this command.
    fn reign(&mut self, stamp: Stamp) {
        let term = Term::commanded(stamp);
        let sequence = self.volume.sequence();
        self.volume.terms.begin(term, sequence);
        self.volume.evacuated = false;
        self.volume.covered = false;
        let roster = self.volume.roster.clone();
        if let Some(agent) = self.agent.as_mut() {
            agent.app = Some(App::new(Role::Primary, Some(term), roster));
        }
    }

    /// Starts to find its place by itself: beside whoever serves in the term that the volume knows.
    fn start(&mut self) {
        self.volume.evacuated = false;
        let (term, roster) = (self.volume.terms.current(), self.volume.roster.clone());
        if let Some(agent) = self.agent.as_mut() {
            agent.app = Some(App::new(Role::Secondary, term, roster));
        }
    }

    fn join(&mut self, join: &Join, new_name: impl FnOnce() -> String) {
        if join.copy {
            if self.volume.complete && !self.volume.empty() {
                // Discarded data is another volume's: the voter that it was holds nothing any more.
                self.volume.uuid = new_name();
            }
            self.volume.log.clear();
            self.volume.torn = false;
            self.volume.complete = false;
            self.volume.left = false;
            self.volume.unreadable = false;
            self.volume.history.clone_from(&join.history);
        }
        self.volume.terms = join.terms.clone();
        self.volume.evacuated = false;
        self.volume.covered = true;
        let roster = self.volume.roster.clone();
        // One that takes writes itself has to have everything first.
        let copying = join.copy || join.role == Role::Primary;
        let app = App { copying, ..App::new(join.role, Some(join.term), roster) };
        if let Some(agent) = self.agent.as_mut() {
            agent.app = Some(app);
        }
    }

    /// The software that was started beside a primary cannot do with what it has: it throws that away, and copies everything.
    pub fn throw_away(&mut self) {
        if !self.volume.covered {
            return;
        }
        if let Some(app) = self.agent.as_mut().and_then(|agent| agent.app.as_mut()) {
            (app.copying, app.synced) = (true, false);
            self.volume.log.clear();
            self.volume.torn = true;
        }
    }

    /// A person makes the running application primary by hand; the agent notices.
    pub fn promote_by_hand(&mut self) {
        let id = self
            .volume
            .newest_roster()
            .and_then(|roster| roster.entry(&self.name))
            .map_or(99, |entry| entry.id);
        let last = self.volume.last.map_or(Stamp::default(), |last| last.stamp);
        let term = Term::self_made(last, id);
        let sequence = self.volume.sequence();
        self.volume.terms.begin(term, sequence);
        self.volume.covered = false;
        if let Some(app) = self.app_mut() {
            app.role = Role::Primary;
            app.serving = true;
            app.self_made = true;
            app.term = Some(term);
            app.confirmed.clear();
        }
    }
}
