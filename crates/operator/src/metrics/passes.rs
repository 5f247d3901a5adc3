//! What the controllers did: passes, how long they took, what failed, what waits, and what was written to status.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::labels::{KindLabels, ReasonLabels, ResultLabels, Written, words};
use super::{Metrics, whole};

/// The bounds of durations in seconds: from a pass that finds nothing to do to one that waits for a slow API server.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

pub(super) struct Passes {
    ended: Family<ResultLabels, Counter>,
    durations: Family<KindLabels, Histogram, fn() -> Histogram>,
    errors: Family<ReasonLabels, Counter>,
    waiting: Family<KindLabels, Gauge>,
    status_writes: Family<ResultLabels, Counter>,
    conflicts: Family<KindLabels, Counter>,
    commands: Family<ResultLabels, Counter>,
}

fn durations() -> Histogram {
    Histogram::new(SECONDS)
}

impl Passes {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let new = Self {
            ended: Family::default(),
            durations: Family::new_with_constructor(durations as fn() -> Histogram),
            errors: Family::default(),
            waiting: Family::default(),
            status_writes: Family::default(),
            conflicts: Family::default(),
            commands: Family::default(),
        };
        registry.register("reconcile", "Passes of the controllers", new.ended.clone());
        registry.register_with_unit(
            "reconcile_duration",
            "How long passes took",
            Unit::Seconds,
            new.durations.clone(),
        );
        registry.register("reconcile_errors", "What kept passes from succeeding", new.errors.clone());
        registry.register("queue_depth", "Objects that wait for a pass", new.waiting.clone());
        registry.register(
            "status_writes",
            "What became of statuses that were to be written",
            new.status_writes.clone(),
        );
        registry.register("conflicts", "Writes that someone else's came before", new.conflicts.clone());
        registry.register("agent_commands", "What became of commands to agents", new.commands.clone());
        new
    }
}

impl Metrics {
    /// A pass over an object of this kind ended; `failed` is the reason in one word.
    pub fn passed(&self, kind: &'static str, took: Duration, failed: Option<&'static str>) {
        let passes = &self.0.passes;
        let result = if failed.is_some() { words::FAILED } else { words::SUCCEEDED };
        passes.ended.get_or_create(&ResultLabels { kind, result }).inc();
        passes.durations.get_or_create(&KindLabels { kind }).observe(took.as_secs_f64());
        if let Some(reason) = failed {
            passes.errors.get_or_create(&ReasonLabels { kind, reason }).inc();
        }
    }

    /// So many objects of this kind wait for a pass.
    pub(super) fn waiting(&self, kind: &'static str, depth: usize) {
        self.0.passes.waiting.get_or_create(&KindLabels { kind }).set(whole(depth as u64));
    }

    /// What became of the status of an object of this kind.
    pub fn status_written(&self, kind: &'static str, written: Written) {
        let result = written.word();
        self.0.passes.status_writes.get_or_create(&ResultLabels { kind, result }).inc();
        if written == Written::Conflict {
            self.conflicted(kind);
        }
    }

    /// A write to an object of this kind came after someone else's.
    pub fn conflicted(&self, kind: &'static str) {
        self.0.passes.conflicts.get_or_create(&KindLabels { kind }).inc();
    }

    /// A command to an agent ended like this: `obeyed`, `refused`, or the word of a
    /// [`CallError`](crate::agents::CallError).
    pub fn commanded(&self, action: &'static str, result: &'static str) {
        self.0.passes.commands.get_or_create(&ResultLabels { kind: action, result }).inc();
    }
}
