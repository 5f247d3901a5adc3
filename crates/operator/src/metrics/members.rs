//! The figures of members that move all the time, and so are not in status: sequence, lag, free space.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::labels::MemberLabels;
use super::{Metrics, whole};
use crate::key::Name;

/// What is measured of a member; what is not known is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberFigures {
    /// How far its data is.
    pub sequence: Option<u64>,
    /// How many seconds it is behind the primary.
    pub lag_seconds: Option<u64>,
    /// How many bytes are free.
    pub free: Option<u64>,
    /// Of how many.
    pub capacity: Option<u64>,
}

/// The members of each cluster.
type Known = BTreeMap<Name, BTreeSet<String>>;

pub(super) struct Members {
    known: Mutex<Known>,
    sequence: Family<MemberLabels, Gauge>,
    lag: Family<MemberLabels, Gauge>,
    free: Family<MemberLabels, Gauge>,
    capacity: Family<MemberLabels, Gauge>,
}

impl Members {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let new = Self {
            known: Mutex::default(),
            sequence: Family::default(),
            lag: Family::default(),
            free: Family::default(),
            capacity: Family::default(),
        };
        registry.register("member_sequence", "How far the data of this member is", new.sequence.clone());
        let help = "How far this member is behind the primary";
        registry.register_with_unit("member_lag", help, Unit::Seconds, new.lag.clone());
        let help = "What is free on the volumes of this member";
        registry.register_with_unit("member_storage_free", help, Unit::Bytes, new.free.clone());
        let help = "What the volumes of this member can hold";
        registry.register_with_unit("member_storage_capacity", help, Unit::Bytes, new.capacity.clone());
        new
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, labels: &MemberLabels, figures: MemberFigures) {
        let shown = [
            (&self.sequence, figures.sequence),
            (&self.lag, figures.lag_seconds),
            (&self.free, figures.free),
            (&self.capacity, figures.capacity),
        ];
        for (family, figure) in shown {
            match figure {
                Some(figure) => {
                    family.get_or_create(labels).set(whole(figure));
                }
                None => {
                    family.remove(labels);
                }
            }
        }
    }
}

impl Metrics {
    /// What is measured of this member of this cluster now.
    pub fn member(&self, cluster: &Name, member: &str, figures: MemberFigures) {
        let members = &self.0.members;
        let mut known = members.known();
        known.entry(cluster.clone()).or_default().insert(member.to_owned());
        members.show(&labels(cluster, member), figures);
    }

    /// The member is gone, or not heard any more.
    pub fn forget_member(&self, cluster: &Name, member: &str) {
        let members = &self.0.members;
        let mut known = members.known();
        if let Some(all) = known.get_mut(cluster) {
            all.remove(member);
        }
        members.show(&labels(cluster, member), MemberFigures::default());
    }

    /// Nobody hears the members of this cluster any more.
    pub fn forget_members(&self, cluster: &Name) {
        let members = &self.0.members;
        let mut known = members.known();
        for member in known.remove(cluster).unwrap_or_default() {
            members.show(&labels(cluster, &member), MemberFigures::default());
        }
    }
}

fn labels(cluster: &Name, member: &str) -> MemberLabels {
    MemberLabels {
        cluster: cluster.name.clone(),
        name: member.to_owned(),
        namespace: cluster.namespace.clone(),
    }
}
