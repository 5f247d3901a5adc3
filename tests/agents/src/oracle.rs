//! What must hold in a fleet at every moment, judged by what really is on the disks.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_core::manager::command::{Action, Command};
use muster_core::manager::stamp::Stamp;
use muster_test_model::App;

use crate::state::{Key, Kind, State};

/// What agents were told and did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Obeyed {
    /// The highest epoch that each volume's agent has heard of.
    epochs: BTreeMap<String, u64>,
    /// Who was told to begin which term, by cluster.
    terms: BTreeMap<(Key, Stamp), String>,
}

impl Obeyed {
    /// The agent of this volume has heard of this epoch.
    pub(crate) fn heard(&mut self, volume: String, epoch: u64) {
        let highest = self.epochs.entry(volume).or_default();
        *highest = epoch.max(*highest);
    }
}

impl State {
    /// What an agent obeys is not of an older leader than it has heard of, and begins no term that another one began.
    pub(crate) fn check_obeyed(&mut self, key: &Key, volume: String, command: &Command) {
        let (stamp, name) = (command.stamp, &key.1);
        let known = self.obeyed.epochs.get(&volume).copied().unwrap_or_default();
        if stamp.epoch < known {
            self.violations.push(format!("{name} obeyed {stamp} though it had heard of epoch {known}"));
        }
        self.obeyed.heard(volume, stamp.epoch);
        let begins = matches!(
            command.action,
            Action::Seed { .. } | Action::Lead | Action::Promote | Action::Bootstrap
        );
        let Some(cluster) = self.members.get(key).map(|extra| (key.0.clone(), extra.cluster.clone())) else {
            return;
        };
        if begins {
            let first = self.obeyed.terms.entry((cluster, stamp)).or_insert_with(|| name.clone());
            if first != name {
                self.violations.push(format!("{first} and {name} were both told to lead in {stamp}"));
            }
        }
    }

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
