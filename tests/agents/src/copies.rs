//! Copies of a cluster in other namespaces, to have many without making each of them.

use crate::fleet::{Fleet, key};
use crate::state::{Cluster, Extra};

/// Where the Pod of a member's copy is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The Pod.
    pub pod_uid: String,
    /// Its address.
    pub ip: String,
}

impl Fleet {
    /// Has another cluster of the same name in another namespace, whose members run and hold what those of this one do.
    /// False: there is no such cluster.
    pub fn copy(
        &self,
        namespace: &str,
        cluster: &str,
        to: &str,
        place: impl Fn(&str) -> Option<Place>,
    ) -> bool {
        let mut state = self.0.state();
        let Some(from) = state.clusters.get(&key(namespace, cluster)) else { return false };
        let (nodes, acknowledged) = (from.nodes.clone(), from.acknowledged.clone());
        let (kind, copies) = (from.kind, from.copies);
        for member in nodes.keys() {
            let Some(original) = state.members.get(&key(namespace, member)) else { continue };
            let mut extra = Extra::new(cluster);
            (extra.started, extra.measured) = (original.started, original.measured.clone());
            (extra.said, extra.lived, extra.reached) =
                (original.said.clone(), original.lived, original.reached);
            let place = place(member);
            extra.pod_uid = place.as_ref().map(|place| place.pod_uid.clone());
            state.members.insert(key(to, member), extra);
            state.move_to(&key(to, member), place.map(|place| place.ip));
        }
        let copy = Cluster { kind, copies, nodes, acknowledged, loss_accepted: false };
        state.clusters.insert(key(to, cluster), copy);
        true
    }
}
