//! What time it is: the system's, or in tests the runtime's own, which can be paused.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Tells the time of day. Durations are measured by tokio's clock, which no administrator can set back.
pub trait Clock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;
}

/// A clock that everyone shares.
pub type SharedClock = Arc<dyn Clock>;

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A time of day that moves with tokio's clock: in a test with paused time, the same in every run.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    at: Timestamp,
    began: Instant,
}

impl RuntimeClock {
    /// A clock that shows `at` now. To be made within a runtime.
    pub fn starting_at(at: Timestamp) -> Self {
        Self { at, began: Instant::now() }
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.began.elapsed()).unwrap_or(SignedDuration::MAX);
        self.at.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_runtimes_clock_moves_with_paused_time() {
        let clock = RuntimeClock::starting_at(Timestamp::UNIX_EPOCH);
        tokio::time::advance(std::time::Duration::from_secs(90)).await;
        assert_eq!(clock.now(), "1970-01-01T00:01:30Z".parse().unwrap());
    }
}
