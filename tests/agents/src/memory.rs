//! A fleet as it is at one moment, from which others can begin: so that what came before need not happen again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use muster_core::manager::roster::Copies;
use muster_protocol::Measured;
use muster_test_model::Nodes;

use crate::fleet::Fleet;
use crate::oracle::Obeyed;
use crate::pace::Pace;
use crate::state::{Cluster, Extra, Key, Kind, State};

/// A fleet as it is at one moment. What was about to happen, and what goes wrong, is not part of it.
#[derive(Clone, Debug)]
pub struct Memory {
    at: Timestamp,
    counted: (u64, u64),
    obeyed: Obeyed,
    clusters: BTreeMap<Key, (Kind, Copies, Nodes, Vec<u64>)>,
    members: BTreeMap<Key, Kept>,
}

/// What is kept of a member besides what the model knows.
#[derive(Clone, Debug)]
struct Kept {
    cluster: String,
    pod_uid: Option<String>,
    started: Timestamp,
    measured: Measured,
    ip: Option<String>,
}

impl Memory {
    /// The time of day in that fleet.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

impl Fleet {
    /// This fleet as it is now.
    pub fn memory(&self) -> Memory {
        let state = self.0.state();
        let clusters = state.clusters.iter().map(|(key, cluster)| {
            let acknowledged = cluster.acknowledged.iter().copied().collect();
            (key.clone(), (cluster.kind, cluster.copies, cluster.nodes.clone(), acknowledged))
        });
        let members = state.members.iter().map(|(key, extra)| {
            let kept = Kept {
                cluster: extra.cluster.clone(),
                pod_uid: extra.pod_uid.clone(),
                started: extra.started,
                measured: extra.measured.clone(),
                ip: extra.ip.clone(),
            };
            (key.clone(), kept)
        });
        Memory {
            at: state.now(),
            counted: state.counted(),
            obeyed: state.obeyed.clone(),
            clusters: clusters.collect(),
            members: members.collect(),
        }
    }

    /// A fleet that goes on from there, with other chances and at this pace. To be made within a runtime.
    pub fn resumed(memory: &Memory, seed: u64, pace: Pace) -> Self {
        let fleet = Self::with_pace(seed, pace);
        fleet.set_time(memory.at);
        fleet.0.change(|state| state.remember(memory));
        fleet
    }
}

impl State {
    fn remember(&mut self, memory: &Memory) {
        self.count_from(memory.counted);
        self.obeyed = memory.obeyed.clone();
        for (key, (kind, copies, nodes, acknowledged)) in &memory.clusters {
            let cluster = Cluster {
                kind: *kind,
                copies: *copies,
                nodes: nodes.clone(),
                acknowledged: acknowledged.iter().copied().collect(),
                loss_accepted: false,
            };
            self.clusters.insert(key.clone(), cluster);
            self.touched.insert(key.clone());
        }
        for (key, kept) in &memory.members {
            let extra = Extra {
                pod_uid: kept.pod_uid.clone(),
                started: kept.started,
                measured: kept.measured.clone(),
                ip: kept.ip.clone(),
                ..Extra::new(&kept.cluster)
            };
            self.members.insert(key.clone(), extra);
        }
    }
}
