//! Software that elects by itself: more than half of the voters choose the one that has the newest write.
//!
//! Writes are numbered in the order in which they were made, so the highest last write is what such software finds by its
//! own terms and indexes.

use std::collections::BTreeSet;

use muster_api::names::Role;
use muster_core::manager::roster::{Copies, Roster};
use muster_test_model::{App, Node};

use crate::state::{Key, Kind, State};

impl State {
    /// What the members of this cluster do by themselves, given who hears whom.
    pub(crate) fn hold_elections(&mut self, key: &Key) {
        let Some(cluster) = self.clusters.get(key).filter(|it| it.kind == Kind::SelfElecting) else { return };
        let reached: BTreeSet<String> = cluster
            .nodes
            .values()
            .filter(|node| node.app().is_some() && !self.is_cut_off(&(key.0.clone(), node.name.clone())))
            .map(|node| node.name.clone())
            .collect();
        let Some(cluster) = self.clusters.get_mut(key) else { return };
        let rosters = cluster.nodes.values().filter_map(|node| node.app()?.roster.as_ref());
        let Some(mut voters) = rosters.max_by_key(|roster| roster.version).map(volumes) else { return };
        // Whoever left was taken out of the software's own membership before anyone stops it.
        for node in cluster.nodes.values().filter(|node| node.volume.evacuated) {
            voters.remove(&node.volume.uuid);
        }
        let counts = |node: &Node| reached.contains(&node.name) && voters.contains(&node.volume.uuid);
        let quorum = cluster.nodes.values().filter(|node| counts(node)).count()
            >= Copies::Majority.written(voters.len());
        for node in cluster.nodes.values_mut() {
            let heard = quorum && reached.contains(&node.name);
            if let Some(app) = node.app_mut() {
                hear(app, heard);
            }
        }
        let led = cluster.nodes.values().any(Node::is_primary);
        let fit = cluster.nodes.values().filter(|node| counts(node) && node.volume.complete);
        let best =
            fit.max_by_key(|node| (node.volume.log.last().copied(), std::cmp::Reverse(node.name.clone())));
        if let Some(best) = best.map(|node| node.name.clone()).filter(|_| quorum && !led)
            && let Some(app) = cluster.nodes.get_mut(&best).and_then(Node::app_mut)
        {
            app.role = Role::Primary;
            app.confirmed.clear();
        }
    }

    /// Whether no message reaches this member.
    pub(crate) fn is_cut_off(&self, key: &Key) -> bool {
        self.members.get(key).is_some_and(|extra| extra.isolated)
    }
}

/// One that hears fewer than half of the voters takes no writes, and leads nobody.
fn hear(app: &mut App, heard: bool) {
    app.isolated = !heard;
    if !heard {
        app.role = Role::Secondary;
        app.serving = false;
    }
}

fn volumes(roster: &Roster) -> BTreeSet<String> {
    roster.voters().map(|voter| voter.volume.clone()).collect()
}
