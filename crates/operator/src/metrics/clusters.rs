//! The figures of clusters: the two pauses of each, and how many are in each phase.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use muster_api::names::Phase;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Metrics;
use super::labels::{ObjectLabels, PhaseLabels};
use crate::key::Name;

/// What is measured of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterFigures {
    /// Its phase.
    pub phase: Phase,
    /// Whether clustering is stopped.
    pub clustering_stopped: bool,
    /// Whether reconciliation is stopped.
    pub reconciliation_stopped: bool,
}

pub(super) struct Clusters {
    known: Mutex<BTreeMap<Name, Phase>>,
    phases: Family<PhaseLabels, Gauge>,
    clustering_stopped: Family<ObjectLabels, Gauge>,
    reconciliation_stopped: Family<ObjectLabels, Gauge>,
}

impl Clusters {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let new = Self {
            known: Mutex::default(),
            phases: Family::default(),
            clustering_stopped: Family::default(),
            reconciliation_stopped: Family::default(),
        };
        registry.register("clusters", "Clusters in each phase", new.phases.clone());
        let help = "Whether clustering of this cluster is stopped";
        registry.register("cluster_clustering_stopped", help, new.clustering_stopped.clone());
        let help = "Whether reconciliation of this cluster is stopped";
        registry.register("cluster_reconciliation_stopped", help, new.reconciliation_stopped.clone());
        new
    }

    /// Counts a cluster in its new phase and no longer in its old one.
    fn count(&self, cluster: &Name, phase: Option<Phase>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match phase {
            Some(phase) => known.insert(cluster.clone(), phase),
            None => known.remove(cluster),
        };
        let gauge = |phase: Phase| self.phases.get_or_create_owned(&PhaseLabels { phase: phase.as_str() });
        if let Some(before) = before {
            gauge(before).dec();
        }
        if let Some(phase) = phase {
            gauge(phase).inc();
        }
    }
}

impl Metrics {
    /// What is measured of this cluster now.
    pub fn cluster(&self, cluster: &Name, figures: ClusterFigures) {
        let clusters = &self.0.clusters;
        clusters.count(cluster, Some(figures.phase));
        let labels = labels(cluster);
        clusters.clustering_stopped.get_or_create(&labels).set(figures.clustering_stopped.into());
        clusters.reconciliation_stopped.get_or_create(&labels).set(figures.reconciliation_stopped.into());
    }

    /// Nothing is known of any cluster any more.
    pub(super) fn forget_clusters(&self) {
        let known = self.0.clusters.known.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<Name> = known.keys().cloned().collect();
        drop(known);
        for cluster in all {
            self.forget_cluster(&cluster);
        }
    }

    /// The cluster is gone, and its members with it.
    pub fn forget_cluster(&self, cluster: &Name) {
        let clusters = &self.0.clusters;
        clusters.count(cluster, None);
        clusters.clustering_stopped.remove(&labels(cluster));
        clusters.reconciliation_stopped.remove(&labels(cluster));
        self.forget_members(cluster);
    }
}

fn labels(cluster: &Name) -> ObjectLabels {
    ObjectLabels { name: cluster.name.clone(), namespace: cluster.namespace.clone() }
}
