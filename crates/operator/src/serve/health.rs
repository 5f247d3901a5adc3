//! Whether the operator is ready (its caches are filled) and alive (its main loop turns).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long the main loop may not turn. It turns at least every few seconds; a kubelet restarts what does not.
pub const LIVE_WITHIN: Duration = Duration::from_secs(60);

/// How the operator is. Cloning gives another handle to the same.
#[derive(Clone)]
pub struct Health(Arc<Mutex<State>>);

struct State {
    /// The caches that are not filled yet.
    missing: BTreeSet<&'static str>,
    turned: Instant,
    stopping: bool,
}

impl Health {
    /// An operator that just started and needs these caches.
    pub fn new(needs: impl IntoIterator<Item = &'static str>) -> Self {
        let missing = needs.into_iter().collect();
        Self(Arc::new(Mutex::new(State { missing, turned: Instant::now(), stopping: false })))
    }

    /// This cache is filled.
    pub fn synced(&self, cache: &str) {
        self.state().missing.remove(cache);
    }

    /// The main loop has turned.
    pub fn turned(&self) {
        self.state().turned = Instant::now();
    }

    /// The operator ends.
    pub fn stopping(&self) {
        self.state().stopping = true;
    }

    /// Whether it is ready, leader or not; else why not.
    pub fn ready(&self) -> Result<(), String> {
        let state = self.state();
        if state.stopping {
            return Err("it stops".to_owned());
        }
        if state.missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<&str> = state.missing.iter().copied().collect();
        Err(format!("not yet read: {}", missing.join(", ")))
    }

    /// Whether it is alive; else why not.
    pub fn alive(&self) -> Result<(), String> {
        let still = self.state().turned.elapsed();
        if still <= LIVE_WITHIN {
            return Ok(());
        }
        Err(format!("its main loop has not turned for {} s", still.as_secs()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ready_is_who_has_read_everything_and_does_not_stop() {
        let health = Health::new(["clusters", "members"]);
        assert_eq!(health.ready(), Err("not yet read: clusters, members".to_owned()));
        health.synced("members");
        assert_eq!(health.ready(), Err("not yet read: clusters".to_owned()));
        health.synced("clusters");
        assert_eq!(health.ready(), Ok(()));
        health.stopping();
        assert_eq!(health.ready(), Err("it stops".to_owned()));
        assert_eq!(health.alive(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn alive_is_who_turns() {
        let health = Health::new([]);
        tokio::time::advance(LIVE_WITHIN).await;
        assert_eq!(health.alive(), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(health.alive(), Err("its main loop has not turned for 61 s".to_owned()));
        health.turned();
        assert_eq!(health.alive(), Ok(()));
    }
}
