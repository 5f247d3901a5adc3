//! What the running application says of itself, asked every second, and what follows from that.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use muster_api::engine::Election;
use muster_api::names::{Action, Role};
use muster_core::manager::report::Activity;
use muster_core::manager::stamp::Stamp;
use muster_protocol::Failure;
use tokio::time::Instant;

use super::agent::{Agent, Inner};
use super::live::{App, Live};
use crate::engine::action::{self, Done};
use crate::engine::words::{self, Said, Status};
use crate::memory::{Known, Position};

/// How long after one question the next is asked.
const PAUSE: Duration = Duration::from_secs(1);
/// How long whoever asks how far the application is waits for it: less than the operator waits for the agent.
const HOW_FAR: Duration = Duration::from_secs(4);
/// How often an application that was seen may fail to answer before it counts as failed: a busy machine is not a failure.
const TOLERATED: u32 = 3;
/// How long a `join` that failed is not tried again.
const TELL_PAUSE: Duration = Duration::from_secs(5);

/// A question, and whom it was about.
#[derive(Clone, Copy)]
struct Asked {
    pid: i32,
    turn: u64,
    /// The roster that it had been told of when it was asked.
    told: Option<Stamp>,
}

impl Agent {
    /// Asks again and again, for as long as the agent lives.
    pub async fn watch_application(&self) {
        let inner = &self.0;
        loop {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = inner.hurry.notified() => {}
            }
            let number = inner.asking.fetch_add(1, Ordering::Relaxed) + 1;
            inner.ask().await;
            inner.asked.send_replace(number);
        }
    }
}

impl Inner {
    /// Asks at once, and waits for what came of it.
    pub(super) async fn ask_status(&self) {
        let limit = (self.limit(Action::Status) + PAUSE) * 2;
        // Without an answer what was known before still is.
        let _ = self.ask_within(limit).await;
    }

    /// Asks how far the application is, for someone who decides by it who leads. What it said before is not repeated: a copy that was
    /// acknowledged since would be missed. An application that does not answer in time could be anywhere until it does.
    pub(super) async fn ask_how_far(&self) {
        let asked = self.ask_within(HOW_FAR).await;
        self.change_app(|app| app.overtaken = asked.is_some_and(|question| app.answered < question));
    }

    /// The number of a question that began after this call, once it is over or that long has passed; None if nothing runs.
    async fn ask_within(&self, limit: Duration) -> Option<u64> {
        self.live().app.as_ref()?;
        // One that is under way may have begun too early.
        let enough = self.asking.load(Ordering::Relaxed) + 1;
        let mut asked = self.asked.subscribe();
        self.hurry.notify_one();
        let _ = tokio::time::timeout(limit, asked.wait_for(|number| *number >= enough)).await;
        Some(enough)
    }

    async fn ask(self: &Arc<Self>) {
        self.tell_roster().await;
        let asked = {
            let live = self.live();
            let app = live.app.as_ref().filter(|app| !app.stopping);
            app.map(|app| Asked { pid: app.pid, turn: app.turn, told: app.told })
        };
        let (Some(asked), Some(recipe)) = (asked, self.recipe(Action::Status, false, Vec::new())) else {
            return;
        };
        let done = action::run(&recipe, &self.family, self.limit(Action::Status)).await;
        let status = if done.said.cut {
            Status::Failed("it says too much".to_owned())
        } else {
            words::status(done.code, &done.said.text)
        };
        match status {
            Status::Runs(role, said) => self.take_in(asked, role, said).await,
            Status::Stopped => self.doubt(asked, &done, "it says that nothing runs"),
            Status::Failed(message) => self.doubt(asked, &done, &message),
        }
    }

    /// Tells the running application of a new roster: by a file, and by `join` where the engine has that. Until that has worked the
    /// application goes on with the one it has, and so does the report.
    async fn tell_roster(self: &Arc<Self>) {
        let again = Instant::now() + self.limit(Action::Join) + TELL_PAUSE;
        let due = self.change(|live| {
            let newest = live.memory.roster.as_ref().map(|roster| roster.version);
            let app = live.app.as_mut().filter(|app| !app.stopping && app.told != newest)?;
            (app.tell_at <= Instant::now()).then(|| {
                app.tell_at = again;
                app.pid
            })
        });
        let Some(pid) = due else { return };
        let handed = self.hand_out_roster().await.is_ok();
        let version = self.live().handed;
        if handed && self.engine.actions.get(Action::Join).is_some() {
            // It may take a while, and what the application does is asked meanwhile.
            let inner = Arc::clone(self);
            tokio::spawn(async move {
                let done = inner.run(Action::Join, true, Vec::new()).await;
                inner.has_told(pid, version, done.is_some_and(|done| done.succeeded()));
            });
        } else {
            self.has_told(pid, version, handed);
        }
    }

    fn has_told(&self, pid: i32, version: Option<Stamp>, succeeded: bool) {
        self.change_app(|app| {
            if app.pid == pid && succeeded {
                app.told = version;
                app.tell_at = Instant::now();
            } else if app.pid == pid {
                app.tell_at = Instant::now() + TELL_PAUSE;
            }
        });
    }

    /// The application answered.
    async fn take_in(self: &Arc<Self>, asked: Asked, role: Role, said: Said) {
        let about =
            |live: &Live| live.app.as_ref().is_some_and(|app| (app.pid, app.turn) == (asked.pid, asked.turn));
        if !about(&self.live()) {
            return;
        }
        let decides = self.engine.topology.election == Election::Manager;
        // What it wrote since it was last asked may be of a term that nobody commanded.
        let known = self.live().data.sequence();
        self.change(|live| {
            take_position(&mut live.data, role, &said, decides);
            // Whoever hears of a new term knows in which component it began, and does not take the one before for it.
            live.app.iter_mut().for_each(|app| app.said.view.clone_from(&said.view));
        });
        if role == Role::Primary {
            let re_formed = self.live().app.as_ref().is_some_and(|app| app.was_re_formed(&said));
            self.see_primary(known, re_formed).await;
        }
        self.see_whole(role, &said).await;
        // An engine without `join` was asked with this roster in its environment.
        let by_status = self.engine.actions.get(Action::Join).is_none().then_some(asked.told);
        self.change(|live| {
            if !about(live) {
                return;
            }
            (live.measured.lag_seconds, live.measured.message) = (said.lag_seconds, said.message.clone());
            let Some(app) = live.app.as_mut() else { return };
            app.roster = said.roster().or(by_status.unwrap_or(app.told));
            app.take_in(role, said);
            (app.answered, app.overtaken) = (self.asking.load(Ordering::Relaxed), false);
            let started_by = app.action;
            live.note_success(Action::Status);
            live.note_success(started_by);
            // Whatever could not be read when it was stopped: now it tells by itself.
            live.note_success(Action::Sequence);
        });
    }

    /// The application is primary. If nobody told it to be, that is a term of its own, on disk before anyone hears of it; also if it was,
    /// and then lost its quorum and was given one by hand (`re_formed`): the others may have gone on without it. Such a term begins behind
    /// what was `known` before, so that nothing that it wrote by itself passes for what all have.
    async fn see_primary(self: &Arc<Self>, known: u64, re_formed: bool) {
        let offered = {
            let live = self.live();
            let Some(app) = live.app.as_ref().filter(|app| !app.leads || re_formed) else { return };
            app.offered
        };
        if let Some(term) = offered {
            self.change_app(|app| app.take_lead(term));
        } else if self.engine.topology.election == Election::Manager {
            let made = self
                .commit_with(move |live| {
                    let (memory, term) = live.memory.with_self_made_term(known.min(live.data.sequence()));
                    (Some(memory), term)
                })
                .await;
            self.change_app(|app| {
                if let Ok(term) = made {
                    app.take_lead(term);
                } else {
                    // In a term that nobody can tell; tried again with the next answer.
                    (app.term, app.leads) = (None, false);
                }
            });
        }
    }

    /// The application has all that the primary has: its data counts from now on.
    async fn see_whole(self: &Arc<Self>, role: Role, said: &Said) {
        let serves = matches!(said.activity(), Activity::Serving | Activity::Donor);
        let leads = role == Role::Primary;
        if serves && (leads || said.synced) {
            // On a full disk it does not count yet; tried again with the next answer.
            let _ = self.commit(move |live| live.memory.with_whole_data(leads)).await;
        }
    }

    /// The application did not answer, or says that it has failed.
    fn doubt(&self, asked: Asked, done: &Done, why: &str) {
        self.change(|live| {
            let Some(app) = live.app.as_mut().filter(|app| (app.pid, app.turn) == (asked.pid, asked.turn))
            else {
                return;
            };
            if app.is_patient(Instant::now()) {
                return;
            }
            app.failures = app.failures.saturating_add(1);
            if app.seen && app.failures < TOLERATED {
                return;
            }
            app.activity = Activity::Failed;
            let how = if why.is_empty() { done.how.clone() } else { format!("{}: {why}", done.how) };
            let failure = Failure { action: Action::Status.to_string(), how, output: done.tail.clone() };
            if live.measured.failure.as_ref() != Some(&failure) {
                self.note_failure();
                live.note_failure(failure);
            }
        });
    }
}

impl App {
    fn take_in(&mut self, role: Role, said: Said) {
        self.activity = said.activity();
        self.role = role;
        match role {
            Role::Primary => self.led = self.leads,
            Role::Secondary if self.leads && self.led => {
                // Someone took the role from it.
                (self.leads, self.led) = (false, false);
            }
            Role::Secondary if self.leads => {
                // It was told to lead, and does not yet.
                self.role = Role::Primary;
                if self.activity == Activity::Serving || self.activity == Activity::Donor {
                    self.activity = Activity::Starting;
                }
            }
            Role::Secondary => {}
        }
        if let Some(component) = said.quorum() {
            (self.component, self.cut_off) = (Some(component.clone()), false);
        }
        self.cut_off |= self.activity == Activity::Isolated;
        self.said = said;
        self.seen = true;
        self.failures = 0;
    }
}

/// What the application says of its data.
///
/// A secondary that serves and does not say how far it is could be anywhere: where Muster elects, it is not taken for what it was.
fn take_position(data: &mut Known, role: Role, said: &Said, decides: bool) {
    let serves = matches!(said.activity(), Activity::Serving | Activity::Donor);
    if decides && serves && role == Role::Secondary && said.sequence.is_none() {
        *data = Known::Unreadable;
        return;
    }
    if *data == Known::Unreadable && said.sequence.is_none() {
        return;
    }
    let known = data.position().cloned().unwrap_or_default();
    *data = Known::Position(Position {
        history: said.history.clone().unwrap_or(known.history),
        sequence: said.sequence.unwrap_or(known.sequence),
        position: said.position.clone().unwrap_or(known.position),
        empty: known.empty && !serves,
    });
}
