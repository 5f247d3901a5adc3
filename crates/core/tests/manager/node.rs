//! A simulated member: a volume that survives, and an agent with an application that do not.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_core::manager::command::{Action, Answer, Command, Join, Judge, Refusal, Verdict};
use muster_core::manager::report::{Activity, Application, Data, Held, Instance, Report, Running};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::{Stamp, Term};
use muster_core::manager::terms::TermList;

/// What survives a power-off.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks, as an agent keeps them")]
pub(crate) struct Volume {
    pub(crate) uuid: String,
    /// The writes it holds; a write is a number that was never used before.
    pub(crate) log: Vec<u64>,
    pub(crate) history: String,
    pub(crate) terms: TermList,
    pub(crate) complete: bool,
    pub(crate) left: bool,
    pub(crate) unreadable: bool,
    pub(crate) epoch: u64,
    pub(crate) last: Option<Answer>,
    pub(crate) roster: Option<Roster>,
    pub(crate) evacuated: bool,
    pub(crate) recorded: Vec<usize>,
    pub(crate) recorded_at: Option<Stamp>,
}

impl Volume {
    pub(crate) fn new(uuid: String) -> Self {
        Self { uuid, ..Self::default() }
    }

    pub(crate) fn empty(&self) -> bool {
        self.history.is_empty()
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.log.len() as u64
    }

    pub(crate) fn held(&self) -> Held {
        Held {
            history: self.history.clone(),
            terms: self.terms.clone(),
            sequence: self.sequence(),
            position: String::new(),
            empty: self.empty(),
            complete: self.complete,
            left: self.left,
        }
    }
}

/// A running application.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a process")]
pub(crate) struct App {
    pub(crate) role: Role,
    pub(crate) serving: bool,
    pub(crate) term: Option<Term>,
    pub(crate) synced: bool,
    pub(crate) copying: bool,
    pub(crate) self_made: bool,
    pub(crate) roster: Option<Roster>,
    /// What each volume is known to hold, by the copies this primary was told of.
    pub(crate) confirmed: BTreeMap<String, u64>,
}

impl App {
    fn new(role: Role, term: Option<Term>, roster: Option<Roster>) -> Self {
        let confirmed = BTreeMap::new();
        Self {
            role,
            serving: false,
            term,
            synced: false,
            copying: false,
            self_made: false,
            roster,
            confirmed,
        }
    }
}

/// What a power-off ends.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) instance: Instance,
    pub(crate) serial: u64,
    pub(crate) app: Option<App>,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) volume: Volume,
    pub(crate) agent: Option<Agent>,
}

impl Node {
    pub(crate) fn app(&self) -> Option<&App> {
        self.agent.as_ref()?.app.as_ref()
    }

    pub(crate) fn app_mut(&mut self) -> Option<&mut App> {
        self.agent.as_mut()?.app.as_mut()
    }

    pub(crate) fn is_primary(&self) -> bool {
        self.app().is_some_and(|app| app.role == Role::Primary)
    }

    /// Answers the question of this round; None when it is off.
    pub(crate) fn report(&mut self, round: u64) -> Option<Report> {
        let volume = &self.volume;
        let agent = self.agent.as_mut()?;
        agent.serial += 1;
        let application = agent.app.as_ref().map_or(Application::Stopped, |app| {
            Application::Running(Running {
                role: app.role,
                activity: if app.copying {
                    Activity::Joining
                } else if app.serving || app.role == Role::Secondary {
                    Activity::Serving
                } else {
                    Activity::Starting
                },
                view: None,
                term: app.term,
                roster: app.roster.as_ref().map(|roster| roster.version),
                synced: app.synced || app.serving,
                progress: 0,
            })
        });
        Some(Report {
            instance: agent.instance,
            serial: agent.serial,
            round,
            epoch: volume.epoch,
            last: volume.last,
            volume: volume.uuid.clone(),
            roster: volume.roster.clone(),
            application,
            data: if volume.unreadable { Data::Unreadable } else { Data::Held(volume.held()) },
            evacuated: volume.evacuated,
            recorded: volume.recorded.clone(),
            recorded_at: volume.recorded_at,
        })
    }

    /// Judges a command and, if it is to be obeyed, does it. None: off.
    pub(crate) fn obey(
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
                    self.volume.roster = None;
                }
                self.keep_roster(command.roster.as_ref());
                let succeeded = self.act(command.stamp, &command.action, new_name);
                let answer = Answer { stamp: command.stamp, succeeded };
                self.volume.last = Some(answer);
                Some(Ok(answer))
            }
        }
    }

    fn keep_roster(&mut self, roster: Option<&Roster>) {
        let newer = |roster: &&Roster| {
            self.volume
                .roster
                .as_ref()
                .is_none_or(|known| roster.is_at_least(known) && roster.version > known.version)
        };
        if let Some(roster) = roster.filter(newer) {
            self.volume.roster = Some(roster.clone());
        }
        let newest = self.volume.roster.clone();
        if let Some(app) = self.app_mut() {
            app.roster = newest;
        }
    }

    fn act(&mut self, stamp: Stamp, action: &Action, new_name: impl FnOnce() -> String) -> bool {
        let running = self.app().is_some();
        match action {
            Action::Seed { forming } if !running => {
                // Software that finds nothing begins a history of its own.
                if *forming || self.volume.empty() {
                    self.volume.history = new_name();
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
            Action::Leave => self.volume.evacuated = true,
            Action::MarkLeft => self.volume.left = true,
            Action::Follow(follow) if running => {
                self.volume.terms = follow.terms.clone();
                if let Some(app) = self.app_mut() {
                    app.term = Some(follow.term);
                }
            }
            Action::TakeRoster => {}
            Action::Remember(count) => {
                self.volume.recorded.push(*count);
                self.volume.recorded_at = Some(stamp);
                let excess = self.volume.recorded.len().saturating_sub(2);
                self.volume.recorded.drain(..excess);
            }
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
        let roster = self.volume.roster.clone();
        if let Some(agent) = self.agent.as_mut() {
            agent.app = Some(App::new(Role::Primary, Some(term), roster));
        }
    }

    fn join(&mut self, join: &Join, new_name: impl FnOnce() -> String) {
        if join.copy {
            if self.volume.complete && !self.volume.empty() {
                // Discarded data is another volume's: the voter that it was holds nothing any more.
                self.volume.uuid = new_name();
            }
            self.volume.log.clear();
            self.volume.complete = false;
            self.volume.left = false;
            self.volume.unreadable = false;
            self.volume.history.clone_from(&join.history);
        }
        self.volume.terms = join.terms.clone();
        self.volume.evacuated = false;
        let roster = self.volume.roster.clone();
        let app = App { copying: join.copy, ..App::new(join.role, Some(join.term), roster) };
        if let Some(agent) = self.agent.as_mut() {
            agent.app = Some(app);
        }
    }

    /// A person makes the running application primary by hand; the agent notices.
    pub(crate) fn promote_by_hand(&mut self) {
        let id = self
            .volume
            .roster
            .as_ref()
            .and_then(|roster| roster.entry(&self.name))
            .map_or(99, |entry| entry.id);
        let last = self.volume.last.map_or(Stamp::default(), |last| last.stamp);
        let term = Term::self_made(last, id);
        let sequence = self.volume.sequence();
        self.volume.terms.begin(term, sequence);
        if let Some(app) = self.app_mut() {
            app.role = Role::Primary;
            app.serving = true;
            app.self_made = true;
            app.term = Some(term);
            app.confirmed.clear();
        }
    }
}
