//! When a cluster is looked at again if nothing happens.

use std::time::Duration;

use muster_core::scaling;

use super::Pass;
use super::size::{self, Sized};
use crate::memory::lock;
use crate::queue::Then;

impl Pass<'_> {
    /// When to look again if nothing happens: soon, where sizing waits for newer reports.
    pub(super) fn next_look(&self, sized: &Sized) -> Then {
        let waits = |pool: &scaling::PoolAdvice| {
            matches!(&pool.decision, scaling::Decision::Hold(scaling::Hold::AwaitingReports(_)))
        };
        if !sized.advice.pools.iter().any(waits) {
            return Then::Again(
                self.next_figure(sized).map_or(self.seen.next_check, |next| next.min(self.seen.next_check)),
            );
        }
        if let Some(manager) = &self.manager {
            manager.refresh();
        }
        Then::Again(Duration::from_secs(1))
    }

    /// When a figure of free storage that has moved may be shown.
    fn next_figure(&self, sized: &Sized) -> Option<Duration> {
        let memory = lock(&self.memory);
        let pools = self.seen.cluster.spec.pools.iter().zip(&sized.advice.pools);
        let moved = pools.filter_map(|(pool, advice)| {
            let shown = memory.shown_free.get(&pool.name)?;
            let scaling::Free::Known(bytes) = advice.free else { return None };
            (bytes < shown.bytes || bytes - shown.bytes >= size::step(&self.seen, sized, &pool.name))
                .then(|| shown.at + scaling::PUBLISH_INTERVAL)
        });
        let wait = moved.min()?.duration_since(self.seen.now);
        Some(Duration::try_from(wait).unwrap_or_default().max(Duration::from_secs(1)))
    }
}
