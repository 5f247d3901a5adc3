//! After the application has ended: nothing of it lives, and its data is read. Until both are so, the agent says that it does not know.

use std::sync::Arc;
use std::time::Duration;

use muster_api::names::Action;
use tokio::time::Instant;

use super::agent::{Agent, Inner};
use super::live::Stage;
use crate::engine::words;
use crate::memory::Known;
use crate::process::leftovers;

/// The first pause before data that could not be read is read again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How often it is looked whether something is to be done.
const TICK: Duration = Duration::from_secs(1);

impl Inner {
    /// Makes sure that nothing lives, then reads the data; to its end, even if nobody waits for it.
    pub(super) async fn settle(self: &Arc<Self>) {
        let inner = Arc::clone(self);
        let settling = tokio::spawn(async move {
            inner.change(|live| live.stage = Stage::Clearing);
            inner.clear().await;
            inner.change(|live| live.stage = Stage::Reading);
            inner.read_data().await;
            inner.change(|live| live.stage = Stage::Settled);
        });
        // It breaks off only when the agent ends.
        let _ = settling.await;
    }

    /// Asks the engine what the data is.
    pub(super) async fn read_data(&self) {
        let _hands = self.hands.lock().await;
        let done = self.run(Action::Sequence, true, Vec::new()).await;
        let directory = self.settings.data.clone();
        let no_files = move || std::fs::read_dir(directory).is_ok_and(|mut files| files.next().is_none());
        let no_files = tokio::task::spawn_blocking(no_files).await.unwrap_or(false);
        let position = done.filter(crate::engine::action::Done::succeeded).and_then(|done| {
            let position = words::sequence(&done.said.text, no_files);
            if position.is_none() {
                self.note_failure();
                let how = "what it said makes no sense".to_owned();
                let mut failure = done.failure(Action::Sequence);
                failure.how = how;
                self.change(|live| live.note_failure(failure));
            }
            position
        });
        self.change(|live| live.data = position.map_or(Known::Unreadable, Known::Position));
    }
}

impl Agent {
    /// Keeps the house, for as long as the agent lives: reaps what came to it, and reads again what could not be read.
    pub async fn keep_house(&self) {
        let inner = &self.0;
        let (mut pause, mut due) = (FIRST_PAUSE, None);
        loop {
            tokio::time::sleep(TICK).await;
            if inner.settings.alone {
                leftovers::orphans(|pid| inner.family.has(pid), false);
            }
            let unread = {
                let live = inner.live();
                live.app.is_none() && live.stage == Stage::Settled && live.data == Known::Unreadable
            };
            if !unread {
                (pause, due) = (FIRST_PAUSE, None);
            } else if *due.get_or_insert_with(|| Instant::now() + pause) <= Instant::now() {
                inner.read_again().await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                due = None;
            }
        }
    }
}

impl Inner {
    /// Reads the data again, unless a command comes first: no command is obeyed meanwhile.
    async fn read_again(&self) {
        let Ok(_judging) = self.judging.try_lock() else { return };
        let free = {
            let live = self.live();
            live.task.is_none() && live.app.is_none() && live.stage == Stage::Settled
        };
        if free {
            tokio::select! {
                () = self.read_data() => {}
                () = self.wanted.notified() => {}
            }
        }
    }
}
