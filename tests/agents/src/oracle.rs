//! What must hold in a fleet at every moment, judged by what really is on the disks.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_test_model::App;

use crate::state::{Key, Kind, State};

impl State {
    /// A member that begins to serve holds every acknowledged write, unless someone accepted the loss.
    pub(crate) fn check_serving(&mut self, key: &Key, left: bool) {
        let Some(cluster) = self.cluster_of(key) else { return };
        let Some(log) = cluster.nodes.get(&key.1).map(|node| node.volume.log.clone()) else { return };
        if cluster.loss_accepted {
            cluster.acknowledged.retain(|write| log.contains(write));
            return;
        }
        let lost: Vec<u64> =
            cluster.acknowledged.iter().filter(|write| !log.contains(write)).copied().collect();
        let name = &key.1;
        if !lost.is_empty() {
            self.violations
                .push(format!("{name} serves without the acknowledged writes {lost:?}; it holds {log:?}"));
        } else if left {
            self.violations.push(format!("{name} leads from a volume that left"));
        }
    }

    /// One history is served by one primary, or by many that are one.
    pub(crate) fn check_primaries(&mut self, key: &Key) {
        let Some(cluster) = self.clusters.get(key) else { return };
        let mut serving: BTreeMap<&str, Vec<(&str, _)>> = BTreeMap::new();
        for node in cluster.nodes.values() {
            let serves = |app: &&App| app.serving && app.role == Role::Primary && !app.self_made;
            if let Some(app) = node.app().filter(serves) {
                serving.entry(&node.volume.history).or_default().push((&node.name, app.term));
            }
        }
        let split = |primaries: &Vec<(&str, _)>| match cluster.kind {
            Kind::OnePrimary | Kind::SelfElecting => primaries.len() > 1,
            Kind::ManyPrimaries => primaries.iter().any(|(_, term)| *term != primaries[0].1),
        };
        if let Some(primaries) = serving.into_values().find(split) {
            let violation = format!("{}/{} has two primaries: {primaries:?}", key.0, key.1);
            if self.violations.last() != Some(&violation) {
                self.violations.push(violation);
            }
        }
    }
}
