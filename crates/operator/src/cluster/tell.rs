//! What a pass writes into the status of its cluster: the reset of a new generation, and what was found.

use std::sync::Arc;

use muster_api::names::ConditionType;
use muster_core::conditions;
use muster_core::status::ClusterVerdict;

use super::report::{self, Found};
use super::{Pass, withhold};
use crate::memory::lock;
use crate::metrics::ClusterFigures;
use crate::news::{self, ClusterTold};
use crate::pass::PassError;
use crate::status::{self, Reported, Which};

impl Pass<'_> {
    /// Before the first child of a new generation is touched, status says that nothing is known of it yet (R1.1). A status
    /// that is at this generation already was written by whoever operated before us. False: what was seen of the cluster is
    /// not so any more.
    pub(super) async fn reset(&mut self) -> Result<bool, PassError> {
        let stored = self.seen.cluster.status.as_ref().and_then(|status| status.observed_generation);
        if stored == Some(self.seen.generation()) {
            return Ok(true);
        }
        let verdict = report::judge(self.context, &self.seen, &Found::default(), &mut lock(&self.memory));
        let written =
            status::write(self.context, &self.seen.name, &self.seen.cluster, &verdict, Which::Reset).await;
        match written {
            Ok(Reported::Same) => Ok(true),
            Ok(Reported::Written { after, .. }) => {
                // What follows is written over this.
                lock(&self.memory).told = Some(ClusterTold::by(&after));
                self.seen.cluster = Arc::new(*after);
                Ok(true)
            }
            Ok(Reported::ThrownAway | Reported::Gone) => {
                lock(&self.memory).generation = None;
                Ok(false)
            }
            Err(error) => {
                lock(&self.memory).generation = None;
                Err(error.into())
            }
        }
    }

    /// Writes what was found, and tells people what is news in it. False: what was seen of the cluster is not so any more, and
    /// nothing may be done by it that cannot be taken back.
    pub(super) async fn report(&mut self, found: &Found<'_>) -> Result<bool, PassError> {
        let verdict = report::judge(self.context, &self.seen, found, &mut lock(&self.memory));
        self.measure(&verdict);
        self.withheld = withhold::withheld(&self.seen, &lock(&self.memory));
        if self.withheld.is_some() {
            return Ok(true);
        }
        let written =
            status::write(self.context, &self.seen.name, &self.seen.cluster, &verdict, Which::Whole).await?;
        let (before, after) = match written {
            Reported::Written { before, after } => (before, after),
            Reported::Same => return Ok(true),
            Reported::ThrownAway | Reported::Gone => return Ok(false),
        };
        let told = lock(&self.memory).told.replace(ClusterTold::by(&after));
        news::of_cluster(self.context, &told.unwrap_or_else(|| ClusterTold::by(&before)), &after);
        self.seen.cluster = Arc::new(*after);
        lock(&self.memory).shown = true;
        report::remember(&mut lock(&self.memory), &self.seen.cluster);
        Ok(true)
    }

    /// Shows what can be measured of the cluster.
    fn measure(&self, verdict: &ClusterVerdict) {
        let status = verdict.over(self.seen.cluster.status.as_ref(), self.seen.now);
        let stopped = |kind| {
            conditions::get(&status.conditions, kind).is_some_and(|condition| condition.status == "False")
        };
        let Some(phase) = status.phase.as_deref().and_then(|phase| phase.parse().ok()) else { return };
        let figures = ClusterFigures {
            phase,
            clustering_stopped: stopped(ConditionType::ClusteringActive),
            reconciliation_stopped: stopped(ConditionType::ReconciliationActive),
        };
        self.context.metrics.cluster(&self.seen.name, figures);
    }
}
