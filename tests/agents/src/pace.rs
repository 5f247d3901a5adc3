//! How long things take in a fleet.

use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use tokio::time::Instant;

/// How long things take. Each is the most; how much of it passes is chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A message on its way.
    pub message: Duration,
    /// A starting agent that looks for processes of its previous run.
    pub looking: Duration,
    /// A primary between its start and its first write.
    pub starting: Duration,
    /// A copy of what is new, to a follower.
    pub copying: Duration,
    /// A connection to a host that is not there.
    pub no_route: Duration,
    /// How often an agent says that it lives. None: it need not, and a stream that has fallen silent breaks off when an
    /// operator would have missed it; so an hour in which nothing happens takes no time. The operator's own patience has to
    /// be endless then.
    pub heartbeat: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            message: Duration::from_millis(4),
            looking: Duration::from_millis(300),
            starting: Duration::from_millis(500),
            copying: Duration::from_millis(50),
            no_route: Duration::from_secs(3),
            heartbeat: Some(muster_protocol::HEARTBEAT),
        }
    }
}

/// When something that takes at most this long is done.
pub(crate) fn after(most: Duration, chance: &mut StdRng) -> Instant {
    let whole = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    Instant::now() + Duration::from_micros(chance.random_range(whole / 4..=whole))
}

/// Lets simulated time pass.
pub(crate) async fn until(then: Instant) {
    tokio::time::sleep_until(then).await;
}
