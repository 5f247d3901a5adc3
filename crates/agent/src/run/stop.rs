//! Stopping the application: by the engine's `stop` or a signal, and by force when its time is over.

use std::sync::Arc;
use std::time::Duration;

use muster_api::names::Action;
use rustix::process::Signal;
use tokio::time::Instant;

use super::agent::{Agent, Inner};
use super::live::Stage;
use crate::log::say;
use crate::process::spawn::{kill_group, signal};

/// How long a killed process may take to be gone: longer only if the kernel itself waits, for a disk that does not answer.
const DYING: Duration = Duration::from_secs(30);
/// How often it is looked whether nothing is left.
const TICK: Duration = Duration::from_millis(20);

impl Inner {
    /// Stops the application; true when nothing of it lives.
    pub(super) async fn stop(self: &Arc<Self>) -> bool {
        let app = self.change(|live| {
            let app = live.app.as_mut()?;
            app.stopping = true;
            Some((app.pid, app.ended.clone()))
        });
        if let Some((pid, mut ended)) = app {
            let deadline = Instant::now() + self.limit(Action::Stop);
            // The sender is dropped, and nothing else happens to it.
            let end = async { while ended.changed().await.is_ok() {} };
            tokio::pin!(end);
            let in_time = tokio::select! {
                () = &mut end => true,
                () = self.ask_to_stop(pid, deadline) => false,
            };
            if !in_time {
                say!("it did not stop in time, and is killed");
                kill_group(pid);
                if tokio::time::timeout(DYING, end).await.is_err() {
                    return false;
                }
            }
        }
        self.is_cleared().await
    }

    /// Asks the application to stop, and waits until its time is over.
    async fn ask_to_stop(&self, pid: i32, deadline: Instant) {
        let done = tokio::time::timeout_at(deadline, self.run(Action::Stop, false, Vec::new())).await;
        if !matches!(done, Ok(Some(done)) if done.succeeded()) {
            signal(pid, Signal::TERM);
        }
        tokio::time::sleep_until(deadline).await;
    }

    /// Waits until what the application left is gone.
    pub(super) async fn is_cleared(&self) -> bool {
        let deadline = Instant::now() + DYING;
        loop {
            {
                let live = self.live();
                if live.app.is_none() && live.stage != Stage::Clearing {
                    return true;
                }
            }
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(TICK).await;
        }
    }

    /// Waits until the data was read too.
    pub(super) async fn is_settled(&self) -> bool {
        let deadline = Instant::now() + DYING + self.limit(Action::Sequence);
        loop {
            if self.live().stage == Stage::Settled {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(TICK).await;
        }
    }
}

impl Agent {
    /// Ends: takes no more commands, cuts off what is being done, and stops the application.
    pub async fn end(&self) {
        let inner = &self.0;
        let task = inner.change(|live| {
            live.ending = true;
            live.task.clone()
        });
        if let Some(task) = task {
            task.cut.notify_one();
            task.answered().await;
        }
        inner.stop().await;
    }

    /// Passes a signal on to the application.
    pub fn pass_on(&self, number: Signal) {
        if let Some(pid) = self.look(|live| live.app.as_ref().map(|app| app.pid)) {
            signal(pid, number);
        }
    }
}
