//! What the operator can be measured by, as Prometheus reads it.
//!
//! What is about an object is kept by object and vanishes with it ([`Metrics::forget_cluster`]); every other label has few
//! values, which the code names itself.

mod clusters;
mod labels;
mod members;
mod passes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::encoding::text;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

pub use self::clusters::ClusterFigures;
pub use self::labels::{Written, words};
pub use self::members::MemberFigures;

use self::clusters::Clusters;
use self::members::Members;
use self::passes::Passes;
use crate::queue::Queue;

/// The `Content-Type` of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// What every name begins with.
const PREFIX: &str = "muster";

/// The figures. Cloning gives another handle to the same ones.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    leader: Gauge,
    epoch: Gauge,
    streams_alive: Gauge,
    streams_wanted: Gauge,
    /// What waits is counted when it is asked for: whoever is stuck in a pass does not say what piles up behind it.
    queue: Mutex<Option<Queue>>,
    passes: Passes,
    clusters: Clusters,
    members: Members,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All figures at nothing.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let leader = gauge("leader", "Whether this process is the leader");
        let epoch = gauge("epoch", "The epoch under which this process leads, or led last");
        let streams_alive = gauge("agent_streams", "Agents whose streams are alive");
        let streams_wanted = gauge("agent_streams_wanted", "Agents whose streams are kept open or tried for");
        let passes = Passes::register(&mut registry);
        let clusters = Clusters::register(&mut registry);
        let members = Members::register(&mut registry);
        Self(Arc::new(Inner {
            registry,
            leader,
            epoch,
            streams_alive,
            streams_wanted,
            queue: Mutex::new(None),
            passes,
            clusters,
            members,
        }))
    }

    /// All of it, as text.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let queue = self.queue().clone();
        for (kind, depth) in queue.iter().flat_map(Queue::depths) {
            self.waiting(kind, depth);
        }
        let mut said = String::new();
        text::encode(&mut said, &self.0.registry)?;
        Ok(said)
    }

    /// This is the queue that is measured from now on.
    pub fn measure(&self, queue: &Queue) {
        *self.queue() = Some(queue.clone());
    }

    fn queue(&self) -> MutexGuard<'_, Option<Queue>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This process leads under this epoch, or does not lead any more: then others show how clusters are.
    pub fn leads(&self, epoch: Option<u64>) {
        self.0.leader.set(i64::from(epoch.is_some()));
        match epoch {
            Some(epoch) => {
                self.0.epoch.set(whole(epoch));
            }
            None => self.forget_clusters(),
        }
    }

    /// So many more streams are wanted, and so many more are alive. Fewer: below zero.
    pub fn streams_changed(&self, wanted: i64, alive: i64) {
        self.0.streams_wanted.inc_by(wanted);
        self.0.streams_alive.inc_by(alive);
    }
}

/// As Prometheus' gauges hold it.
fn whole(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
