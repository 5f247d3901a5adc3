//! A command from its arrival to its answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use muster_core::manager::command::{Action, Answer, Command, Verdict};
use muster_core::manager::stamp::Stamp;
use muster_protocol::{Instruction, Outcome};
use tokio::sync::{Notify, watch};

use super::agent::{Agent, Inner};
use super::live::{Live, Stage};
use super::task::{Beside, Task, beside};
use crate::log::say;
use crate::memory::command::{Now, Plan, Work, done, latest, plan};
use crate::memory::store::StoreError;

/// Why a command is not even judged, or cannot be obeyed now. Nothing of it was done.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Something of an earlier run may live.
    #[error("it looks for what an earlier run left")]
    Looking,
    /// The agent is about to end.
    #[error("it is about to end")]
    Ending,
    /// Another command is being done.
    #[error("it is still busy with command {0}")]
    Busy(Stamp),
    /// What the application left is not known yet.
    #[error("its application has just ended, and what that left is not known yet")]
    Settling,
    /// It could not be written down.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It ended without an answer, which does not happen.
    #[error("it was cut off")]
    CutOff,
}

/// What judging a command leads to.
enum Next {
    /// It is answered.
    Answer(Outcome),
    /// It is being done already.
    Wait(Task),
    /// It is being done, and this is what came of it when it needed nothing more.
    Doing(Task),
}

impl Agent {
    /// Judges a command and, if it is to be obeyed, does it. It is done to its end even if nobody waits for it.
    pub async fn command(&self, instruction: Instruction) -> Result<Outcome, CommandError> {
        let inner = Arc::clone(&self.0);
        let stamp = instruction.command.stamp;
        let obeying = tokio::spawn(async move { inner.obey(instruction).await });
        let next = obeying.await.map_err(|_| CommandError::CutOff)??;
        match next {
            Next::Answer(outcome) => {
                let counter = match outcome {
                    Outcome::Obeyed(_) => &self.0.counters.obeyed,
                    Outcome::Refused(_) => &self.0.counters.refused,
                };
                counter.fetch_add(1, Ordering::Relaxed);
                Ok(outcome)
            }
            Next::Wait(task) | Next::Doing(task) => {
                let answer = task.answered().await.ok_or(CommandError::CutOff)?;
                self.0.counters.obeyed.fetch_add(1, Ordering::Relaxed);
                // Another command may have taken it over since.
                Ok(Outcome::Obeyed(Answer { stamp, succeeded: answer.succeeded }))
            }
        }
    }
}

impl Inner {
    async fn obey(self: &Arc<Self>, instruction: Instruction) -> Result<Next, CommandError> {
        let Instruction { command, peers } = instruction;
        self.wanted.notify_waiters();
        if matches!(command.action, Action::Promote | Action::Bootstrap) {
            // A term begins behind the last that was received.
            self.ask_status().await;
        }
        let _judging = self.judging.lock().await;
        let before = {
            let live = self.live();
            if live.ending {
                return Err(CommandError::Ending);
            }
            if live.stage == Stage::Looking {
                return Err(CommandError::Looking);
            }
            let same = |task: &&Task| {
                let meant = command.member == self.settings.member && command.instance == self.instance;
                task.stamp == command.stamp && meant
            };
            if let Some(task) = live.task.as_ref().filter(same) {
                return Ok(Next::Wait(task.clone()));
            }
            match self.now(&live, |now| now.judge(&live.memory, &command)) {
                Verdict::Refuse(refusal) => return Ok(Next::Answer(Outcome::Refused(refusal))),
                Verdict::Repeat(answer) => return Ok(Next::Answer(Outcome::Obeyed(answer))),
                Verdict::Obey => {}
            }
            live.task.clone()
        };
        if let Some(task) = before {
            match beside(task.leaves, &command.action) {
                Beside::AtOnce => {}
                Beside::TakeOver => return self.take_over(&command).await,
                Beside::Wait => return Err(CommandError::Busy(task.stamp)),
                Beside::CutOff => {
                    task.cut.notify_one();
                    task.answered().await;
                }
            }
        }
        let settling = self.live().app.is_none() && self.live().stage != Stage::Settled;
        if settling && command.action.starts() {
            return Err(CommandError::Settling);
        }
        self.change(|live| live.peers = peers);
        self.write_down(command).await
    }

    fn now<T>(&self, live: &Live, with: impl FnOnce(&Now<'_>) -> T) -> T {
        with(&Now {
            member: &self.settings.member,
            instance: self.instance,
            running: live.app.is_some(),
            data: &live.data,
            unwritten: live.unwritten,
        })
    }

    /// Writes a command down, and begins to do it.
    async fn write_down(self: &Arc<Self>, command: Command) -> Result<Next, CommandError> {
        let (stamp, stops) = (command.stamp, command.action == Action::Stop);
        let inner = Arc::clone(self);
        let again = command.clone();
        let written = self
            .commit_with(move |live| {
                let fresh = crate::fresh_name();
                let Plan { memory, work } = inner.now(live, |now| plan(&live.memory, now, &again, &fresh));
                (Some(memory), work)
            })
            .await;
        let work = match written {
            Ok(work) => work,
            // It is obeyed all the same, and remembered for as long as the agent lives.
            Err(error) if stops => {
                say!("stopping all the same: {error}");
                Work::Stop
            }
            Err(error) => return Err(error.into()),
        };
        say!("command {stamp}: {}", command.action.word());
        if let Action::Follow(follow) = &command.action {
            self.change_app(|app| app.term = Some(follow.term));
        }
        if let Work::Done(answer) = work {
            self.hurry.notify_one();
            return Ok(Next::Answer(Outcome::Obeyed(answer)));
        }
        Ok(Next::Doing(self.begin(stamp, work)))
    }

    /// Begins to do what was written down.
    fn begin(self: &Arc<Self>, stamp: Stamp, work: Work) -> Task {
        let (answers, answer) = watch::channel(None);
        let task = Task { stamp, leaves: work == Work::Leave, cut: Arc::new(Notify::new()), answer };
        let cut = Arc::clone(&task.cut);
        self.change(|live| live.task = Some(task.clone()));
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let succeeded = tokio::select! {
                succeeded = inner.work(&work) => succeeded,
                () = cut.notified() => {
                    inner.after_cut().await;
                    false
                }
            };
            let answer = inner.remember_answer(&work, succeeded).await;
            answers.send_replace(Some(answer));
        });
        task
    }

    /// What was cut off may have been a start: nothing of it lives when this returns.
    async fn after_cut(self: &Arc<Self>) {
        let stopped = {
            let live = self.live();
            live.app.is_none() && live.stage == Stage::Settled
        };
        if stopped {
            self.change(|live| live.stage = Stage::Clearing);
            let inner = Arc::clone(self);
            // Reading the data may have to wait for what was thrown away; whoever wants it stopped does not.
            tokio::spawn(async move { inner.settle().await });
            self.is_cleared().await;
        }
    }

    /// Remembers what came of it, for the command that asked for it last.
    async fn remember_answer(self: &Arc<Self>, work: &Work, succeeded: bool) -> Answer {
        loop {
            let stamp = self.live().task.as_ref().map(|task| task.stamp).unwrap_or_default();
            let answer = Answer { stamp, succeeded };
            let work = work.clone();
            let written = self.commit(move |live| Some(done(&live.memory, &work, answer))).await;
            let ended = self.change(|live| {
                if written.is_err() {
                    live.unwritten = latest(live.unwritten, Some(answer));
                }
                let ended = live.task.as_ref().is_none_or(|task| task.stamp == stamp);
                if ended {
                    live.task = None;
                }
                ended
            });
            if ended {
                return answer;
            }
        }
    }

    /// A later command asks for what is being done: its number is the one that is answered.
    async fn take_over(self: &Arc<Self>, command: &Command) -> Result<Next, CommandError> {
        let stamp = command.stamp;
        let again = command.clone();
        let inner = Arc::clone(self);
        self.commit(move |live| {
            let volume = &live.memory.volume;
            Some(inner.now(live, |now| plan(&live.memory, now, &again, volume)).memory)
        })
        .await?;
        let task = self.change(|live| {
            let task = live.task.as_mut()?;
            task.stamp = stamp;
            Some(task.clone())
        });
        match task {
            Some(task) => Ok(Next::Doing(task)),
            // It ended while this was written down.
            None => Ok(Next::Doing(self.begin(stamp, Work::Leave))),
        }
    }
}
