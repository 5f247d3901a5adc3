//! The agent as a whole: its parts, how it remembers, and how it says what changed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use muster_api::names::Action;
use muster_core::manager::report::Instance;
use muster_protocol::{Epoch, Line};
use tokio::sync::{Notify, watch};

use super::live::{Live, seconds};
use crate::engine::Engine;
use crate::engine::action::{self, Done};
use crate::engine::environment::Told;
use crate::log::say;
use crate::memory::Memory;
use crate::memory::store::{Store, StoreError};
use crate::process::lock;
use crate::process::spawn::{Family, Recipe};
use crate::settings::Settings;

/// What an agent counts, for metrics.
#[derive(Debug, Default)]
pub struct Counters {
    /// Commands that were obeyed.
    pub obeyed: AtomicU64,
    /// Commands that were refused.
    pub refused: AtomicU64,
    /// Requests that made no sense or came at a bad time.
    pub faults: AtomicU64,
    /// Actions that failed.
    pub failed_actions: AtomicU64,
    /// Writes of state that failed.
    pub failed_writes: AtomicU64,
    /// Connections that were turned away.
    pub turned_away: AtomicU64,
}

/// A running agent. Cloning gives another handle to it.
#[derive(Clone)]
pub struct Agent(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) engine: Engine,
    pub(super) instance: Instance,
    started: Timestamp,
    live: Mutex<Live>,
    /// Who writes; none until this agent is the only one on the volume.
    store: tokio::sync::Mutex<Option<Arc<Store>>>,
    /// Held for as long as the agent lives.
    pub(super) alone: Mutex<Option<lock::Held>>,
    /// Commands are judged and written down one after the other.
    pub(super) judging: tokio::sync::Mutex<()>,
    /// Whoever works on the data while no application runs.
    pub(super) hands: Arc<tokio::sync::Mutex<()>>,
    pub(super) family: Family,
    news: watch::Sender<u64>,
    /// `status` is to be asked at once.
    pub(super) hurry: Notify,
    /// A command has come.
    pub(super) wanted: Notify,
    /// How often `status` was asked.
    pub(super) asking: AtomicU64,
    /// Which of these has been taken in.
    pub(super) asked: watch::Sender<u64>,
    pub(super) counters: Counters,
    /// Where the application finds the roster, and what holds the data.
    pub(super) roster_path: String,
    pub(super) process_lock: std::path::PathBuf,
}

impl Agent {
    /// An agent that knows nothing yet, on this volume.
    pub fn new(settings: Settings, engine: Engine, store: &Store, instance: Instance) -> Self {
        let live = Live::new(Memory::default());
        Self(Arc::new(Inner {
            settings,
            engine,
            instance,
            started: Timestamp::now(),
            live: Mutex::new(live),
            store: tokio::sync::Mutex::new(None),
            alone: Mutex::new(None),
            judging: tokio::sync::Mutex::new(()),
            hands: Arc::new(tokio::sync::Mutex::new(())),
            family: Family::default(),
            news: watch::channel(0).0,
            hurry: Notify::new(),
            wanted: Notify::new(),
            asking: AtomicU64::new(0),
            asked: watch::channel(0).0,
            counters: Counters::default(),
            roster_path: store.roster_path().display().to_string(),
            process_lock: store.process_lock(),
        }))
    }

    /// What it was told.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What it counts.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Its run.
    pub fn instance(&self) -> Instance {
        self.0.instance
    }

    /// Looks at what it knows.
    pub fn look<T>(&self, look: impl FnOnce(&Live) -> T) -> T {
        look(&self.0.live())
    }

    /// Moves when there is something new to say.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.0.news.subscribe()
    }

    /// What it says now, in answer to this round.
    pub fn line(&self, round: u64) -> Line {
        let inner = &self.0;
        let mut live = inner.live();
        live.serial += 1;
        Line {
            cluster: inner.settings.cluster.clone(),
            member: inner.settings.member.clone(),
            pod_uid: inner.settings.pod_uid.clone(),
            started: Some(inner.started),
            report: live.report(inner.instance, round),
            measured: live.measured.clone(),
        }
    }

    /// A new leader; what it then says, once that is on disk.
    pub async fn take_epoch(&self, epoch: Epoch) -> Result<Line, StoreError> {
        self.0.commit(move |live| live.memory.with_epoch(epoch.epoch)).await?;
        Ok(self.answer(epoch.round).await)
    }

    /// What it says when it is asked: in a round the application is asked first.
    pub async fn answer(&self, round: u64) -> Line {
        if round > 0 {
            self.0.ask_how_far().await;
        }
        self.line(round)
    }
}

impl Inner {
    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and says so if it is news.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Live) -> T) -> T {
        let mut live = self.live();
        let result = change(&mut live);
        if live.has_news(self.instance) {
            self.news.send_modify(|news| *news += 1);
        }
        result
    }

    /// From now on this is where it remembers.
    pub(super) async fn own(&self, store: Store) {
        *self.store.lock().await = Some(Arc::new(store));
    }

    /// Remembers what this makes of what is known; None leaves all as it is. It is done to its end even if nobody waits for it.
    pub(super) async fn commit(
        self: &Arc<Self>,
        change: impl FnOnce(&Live) -> Option<Memory> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.commit_with(|live| (change(live), ())).await
    }

    /// The same, with something that is known once it is remembered.
    pub(super) async fn commit_with<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&Live) -> (Option<Memory>, T) + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(self);
        finish(async move {
            let store = inner.store.lock().await;
            let (next, result) = change(&inner.live());
            let Some(next) = next else { return Ok(result) };
            let place = store.as_ref().map(Arc::clone).ok_or(StoreError::NotOurs)?;
            let memory = next.clone();
            let written = tokio::task::spawn_blocking(move || place.commit(&memory)).await;
            if let Err(error) = written.map_err(lost)? {
                inner.counters.failed_writes.fetch_add(1, Ordering::Relaxed);
                say!("{error}");
                return Err(error);
            }
            inner.change(|live| live.memory = next);
            Ok(result)
        })
        .await
    }

    /// Lets the application read the newest roster, if it cannot yet.
    pub(super) async fn hand_out_roster(self: &Arc<Self>) -> Result<(), StoreError> {
        let inner = Arc::clone(self);
        finish(async move {
            let store = inner.store.lock().await;
            let roster = {
                let live = inner.live();
                live.memory.roster.clone().filter(|roster| live.handed != Some(roster.version))
            };
            let Some(roster) = roster else { return Ok(()) };
            let version = roster.version;
            let place = store.as_ref().map(Arc::clone).ok_or(StoreError::NotOurs)?;
            tokio::task::spawn_blocking(move || place.hand_out(&roster)).await.map_err(lost)??;
            inner.change(|live| live.handed = Some(version));
            Ok(())
        })
        .await
    }

    /// How to run an action; None if the engine has none. `works`: on the data, so that it holds the lock.
    pub(super) fn recipe(&self, action: Action, works: bool, more: Vec<(String, String)>) -> Option<Recipe> {
        let command = self.engine.actions.get(action)?.command.clone();
        let live = self.live();
        let history = live.history();
        let told = Told {
            action,
            memory: &live.memory,
            roster: self.roster_path.clone(),
            copies: self.engine.copies(),
            peers: &live.peers,
            role: live.app.as_ref().map(|app| app.role),
            term: live.app.as_ref().and_then(|app| app.offered.or(app.term)),
            history: &history,
        };
        let mut environment = told.variables();
        environment.extend(more);
        let program = self.settings.program.clone();
        Some(Recipe { program, command, environment, lock: works.then(|| self.process_lock.clone()) })
    }

    /// How long an action may take.
    pub(super) fn limit(&self, action: Action) -> Duration {
        seconds(self.engine.actions.timeout_seconds(action))
    }

    /// Runs an action to its end, and notes whether it failed; None if the engine has none.
    pub(super) async fn run(&self, action: Action, works: bool, more: Vec<(String, String)>) -> Option<Done> {
        let recipe = self.recipe(action, works, more)?;
        let done = action::run(&recipe, &self.family, self.limit(action)).await;
        self.change(|live| {
            if done.succeeded() {
                live.note_success(action);
            } else {
                self.note_failure();
                live.note_failure(done.failure(action));
            }
        });
        Some(done)
    }

    pub(super) fn note_failure(&self) {
        self.counters.failed_actions.fetch_add(1, Ordering::Relaxed);
    }
}

/// Does this to its end, even if nobody waits for it.
async fn finish<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::spawn(work).await.map_err(lost)?
}

/// Work that broke off, which it does only when the agent ends.
fn lost(error: tokio::task::JoinError) -> StoreError {
    StoreError::Disk(std::io::Error::other(error))
}
