//! Starting the application: what must be on disk first, and what is known of it from its first moment.

use std::path::Path;
use std::sync::Arc;

use muster_api::names::{Action, Role};
use muster_core::manager::report::Activity;
use muster_protocol::Failure;
use tokio::sync::watch;
use tokio::time::Instant;

use super::agent::Inner;
use super::live::App;
use crate::engine::action::{LAST_WORDS, describe};
use crate::engine::environment::pair;
use crate::engine::words::Said;
use crate::log::say;
use crate::memory::command::Start;
use crate::memory::{Known, Memory, Position};
use crate::process::output::{Tail, forward};
use crate::process::spawn::Running;

/// Why the application was not started.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("what it held cannot be thrown away: {0}")]
    Emptying(std::io::Error),
    #[error("{0}")]
    State(#[from] crate::memory::store::StoreError),
    #[error("it could not be started: {0}")]
    Process(#[from] std::io::Error),
    #[error("the engine has no such action")]
    NoAction,
}

impl Inner {
    /// Starts the application; true when its process runs. Otherwise nothing of it lives, and the data was read again.
    pub(super) async fn start(self: &Arc<Self>, start: &Start) -> bool {
        match self.try_start(start).await {
            Ok(()) => return true,
            Err(error) => {
                self.note_failure();
                let (action, how) = (start.action.to_string(), error.to_string());
                self.change(|live| live.note_failure(Failure { action, how, output: String::new() }));
            }
        }
        self.settle().await;
        false
    }

    async fn try_start(self: &Arc<Self>, start: &Start) -> Result<(), StartError> {
        if start.copy {
            self.empty_data().await.map_err(StartError::Emptying)?;
        }
        let hands = self.hands.lock().await;
        self.hand_out_roster().await?;
        let recipe = self.recipe(start.action, true, told(start)).ok_or(StartError::NoAction)?;
        let waiting = recipe.spawn(&self.family)?;
        let process = waiting.identity();
        self.commit(move |live| Some(Memory { process, ..live.memory.clone() })).await?;
        let running = waiting.go().await?;
        self.adopt(start, running);
        drop(hands);
        Ok(())
    }

    /// From here on the application is the agent's: nothing is awaited between its start and this.
    fn adopt(self: &Arc<Self>, start: &Start, running: Running) {
        let (ends, ended) = watch::channel(());
        let pid = running.pid();
        say!("{} started as process {pid}", start.action);
        self.change(|live| {
            if start.copy {
                let history = start.history.clone();
                live.data = Known::Position(Position { history, ..Position::default() });
            } else if start.forming {
                // Whose history it is the application says when it serves.
                live.data = Known::Position(Position::default());
            }
            live.app = Some(App {
                action: start.action,
                pid,
                role: start.role,
                leads: start.leads,
                led: false,
                offered: None,
                term: start.term,
                activity: Activity::Starting,
                said: Said::default(),
                component: None,
                cut_off: false,
                roster: live.handed,
                told: live.handed,
                tell_at: Instant::now(),
                patience: Instant::now() + self.limit(start.action),
                seen: false,
                failures: 0,
                answered: 0,
                overtaken: false,
                turn: 0,
                stopping: false,
                ended,
            });
        });
        self.hurry.notify_one();
        let inner = Arc::clone(self);
        tokio::spawn(async move { inner.accompany(running, ends).await });
    }

    /// Passes on what the application says, until its end; then makes sure of it.
    async fn accompany(self: Arc<Self>, mut running: Running, ends: watch::Sender<()>) {
        let tail = Tail::default();
        let (out, err) = running.output();
        let out = out.map(|out| tokio::spawn(forward(out, tokio::io::stdout(), tail.clone())));
        let err = err.map(|err| tokio::spawn(forward(err, tokio::io::stderr(), tail.clone())));
        let how = match running.wait().await {
            Ok(status) => describe(status),
            Err(error) => format!("its end is not known: {error}"),
        };
        drop(running);
        let said_all = async {
            for forwarding in [out, err].into_iter().flatten() {
                let _ = forwarding.await;
            }
        };
        // Whoever still holds its output open is passed on, but not waited for.
        let _ = tokio::time::timeout(LAST_WORDS, said_all).await;
        self.change(|live| {
            live.stage = super::live::Stage::Clearing;
            let Some(app) = live.app.take() else { return };
            say!("{}: {how}", app.action);
            if !app.stopping {
                self.note_failure();
                let failure = Failure { action: app.action.to_string(), how, output: tail.text() };
                live.note_failure(failure);
            }
        });
        drop(ends);
        self.settle().await;
    }

    /// Throws away what the data directory holds. Nobody else works on the data before that has ended, even if nobody waits for it.
    async fn empty_data(&self) -> std::io::Result<()> {
        let hands = Arc::clone(&self.hands).lock_owned().await;
        let directory = self.settings.data.clone();
        let emptying = tokio::task::spawn_blocking(move || {
            let result = empty(&directory);
            drop(hands);
            result
        });
        emptying.await.map_err(std::io::Error::other)?
    }
}

/// Removes all that is in this directory; links are removed, not followed.
fn empty(directory: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::File::open(directory)?.sync_all()
}

/// What a start is told beside what every action is.
fn told(start: &Start) -> Vec<(String, String)> {
    let mut told = vec![
        pair("ROLE", start.role.to_string()),
        pair("HISTORY", start.history.clone()),
        pair("FORMING", start.forming.to_string()),
        pair("COPY", start.copy.to_string()),
    ];
    told.extend(start.term.map(|term| pair("TERM", term.to_string())));
    told
}

/// How an application that was stopped to change its role is started again.
pub(super) fn again(role: Role, memory: &Memory, history: String) -> Start {
    Start {
        action: if role == Role::Primary { Action::Primary } else { Action::Secondary },
        role,
        leads: role == Role::Primary,
        term: memory.terms.current(),
        history,
        forming: false,
        copy: false,
    }
}
