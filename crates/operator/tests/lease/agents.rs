//! Agents that follow the highest epoch they have seen, and the work of a leader that commands them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use muster_operator::lease::{Authority, Epoch};
use tokio::time::{MissedTickBehavior, interval, sleep_until};

/// Between two commands.
const EVERY: Duration = Duration::from_millis(700);

/// What the agents know.
#[derive(Default)]
pub(crate) struct Agents(Mutex<Known>);

#[derive(Default)]
struct Known {
    epoch: Epoch,
    /// Who commanded last.
    by: String,
    obeyed: u64,
    wrongs: Vec<String>,
}

impl Agents {
    /// A command; the epoch that the agent follows if that is higher.
    fn command(&self, epoch: Epoch, by: &str) -> Result<(), Epoch> {
        let mut known = self.0.lock().unwrap();
        if epoch < known.epoch {
            let wrong = format!("{by} came with {epoch}, which is below {}", known.epoch);
            known.wrongs.push(wrong);
            return Err(known.epoch);
        }
        if epoch == known.epoch && known.by != by {
            let wrong = format!("epoch {epoch} is of {} and of {by}", known.by);
            known.wrongs.push(wrong);
        }
        (known.epoch, known.by) = (epoch, by.to_owned());
        known.obeyed += 1;
        Ok(())
    }

    /// How many commands were obeyed.
    pub(crate) fn obeyed(&self) -> u64 {
        self.0.lock().unwrap().obeyed
    }

    /// Where one epoch was used by two, or was lower than one before.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        self.0.lock().unwrap().wrongs.clone()
    }
}

/// Commands the agents as long as there is a mandate. What is under way when it ends takes a while to end.
pub(crate) async fn work(authority: Authority, agents: Arc<Agents>, me: String, ending: Duration) {
    let mut epochs = authority.epochs();
    loop {
        let Ok(epoch) = epochs.wait_for(Option::is_some).await.map(|epoch| epoch.unwrap()) else { return };
        if let Ok(work) = authority.begin(epoch) {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while authority.still(epoch).is_ok() {
                if let Err(seen) = agents.command(epoch, &me) {
                    authority.outranked(seen);
                }
                tokio::select! {
                    biased;
                    _ = epochs.changed() => {}
                    _ = ticks.tick() => {}
                }
            }
            sleep_until(tokio::time::Instant::now() + ending).await;
            drop(work);
        }
        // The next epoch.
        let other = epochs.wait_for(|now| *now != Some(epoch)).await.is_ok();
        if !other {
            return;
        }
    }
}
