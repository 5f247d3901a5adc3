//! The stream of one agent, kept open: told the epoch first, lost after three missed heartbeats, opened anew with pauses.

use std::time::Duration;

use muster_protocol::Epoch;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::call::{Agent, CallError};
use super::events::{Events, News};
use super::limits::{FIRST_PAUSE, LONGEST_PAUSE, STEADY};
use super::lines::{Lines, Said};

/// Why an agent is not heard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// It said nothing for too long.
    #[error("silent for {} s", .0.as_secs())]
    Silent(Duration),
    /// It ended the stream: it stops, or restarts.
    #[error("it ended the stream")]
    Ended,
    /// It cannot be asked, or what it says does not count.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A stream that is kept open. Dropped, it ends at once, and what it said that nobody has read is forgotten.
pub struct Watch {
    id: u64,
    events: Events,
    task: JoinHandle<()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
        self.events.close(self.id);
    }
}

/// Watches this agent under this epoch. `chance` spreads the tries to connect.
pub fn watch(agent: Agent, epoch: u64, events: &Events, chance: u64) -> Watch {
    let id = events.open(&agent.peer().member);
    let chance = StdRng::seed_from_u64(chance);
    let watcher =
        Watcher { agent, epoch, id, events: events.clone(), pauses: Pauses { next: FIRST_PAUSE, chance } };
    let task = tokio::spawn(watcher.run());
    Watch { id, events: events.clone(), task }
}

struct Watcher {
    agent: Agent,
    epoch: u64,
    id: u64,
    events: Events,
    pauses: Pauses,
}

impl Watcher {
    async fn run(mut self) {
        let mut said = None;
        loop {
            let mut heard = None;
            let lost = match self.follow(&mut heard).await {
                Ok(lost) => lost,
                Err(error) => Lost::Call(error),
            };
            // While it stays away for the same reason, that is no news.
            if heard.is_some() || said.as_ref() != Some(&lost) {
                self.events.push(self.id, News::Lost(lost.clone()));
            }
            said = Some(lost);
            if heard.is_some_and(|since: Instant| since.elapsed() >= STEADY) {
                self.pauses.start_over();
            }
            let pause = self.pauses.take();
            tokio::time::sleep(pause).await;
        }
    }

    /// One stream from its opening to its end; `heard` is set when the agent has said something.
    async fn follow(&self, heard: &mut Option<Instant>) -> Result<Lost, CallError> {
        let line = self.agent.epoch(Epoch { epoch: self.epoch, round: 0 }).await?;
        *heard = Some(Instant::now());
        self.events.push(self.id, News::Line(Box::new(line)));
        let mut lines = Lines::new(self.agent.open_watch().await?.into_body());
        let silence = self.agent.limits().silence;
        loop {
            let Ok(line) = tokio::time::timeout(silence, lines.next()).await else {
                return Ok(Lost::Silent(silence));
            };
            let Some(line) = line? else { return Ok(Lost::Ended) };
            match line {
                Said::Line(line) => {
                    let line = self.agent.believe(*line)?;
                    self.events.push(self.id, News::Line(Box::new(line)));
                }
                Said::Nothing => self.events.confirm(self.id),
            }
        }
    }
}

/// The pauses between tries: each twice as long as the one before, spread by chance so that a thousand agents that were
/// lost together do not return together.
struct Pauses {
    next: Duration,
    chance: StdRng,
}

impl Pauses {
    fn start_over(&mut self) {
        self.next = FIRST_PAUSE;
    }

    fn take(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST_PAUSE);
        whole.mul_f64(self.chance.random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_start_over() {
        let mut pauses = Pauses { next: FIRST_PAUSE, chance: StdRng::seed_from_u64(1) };
        let taken: Vec<Duration> = (0..10).map(|_| pauses.take()).collect();
        let mut whole = FIRST_PAUSE;
        for pause in &taken {
            assert!(*pause >= whole / 2 && *pause <= whole, "{taken:?}");
            whole = (whole * 2).min(LONGEST_PAUSE);
        }
        pauses.start_over();
        assert!(pauses.take() <= FIRST_PAUSE);
    }
}
