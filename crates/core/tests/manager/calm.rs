//! Calm: no faults any more, one operator, and a person who does what status asks for.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use muster_api::names::{BlockedBy, Role};
use muster_core::manager::election::is_prefix;
use muster_core::manager::fencing::{FenceKind, Proof};
use muster_core::manager::requests::{Directive, REQUEST_LIFETIME};
use muster_core::manager::roster::{Entry, Roster};

use super::world::World;
use muster_test_model::{Node, Volume};

/// How many rounds without faults a cluster may take to settle.
const SETTLING_ROUNDS: usize = 400;
/// How often a person may have to do what status says.
const MOST_INTERVENTIONS: usize = 20;

impl World {
    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes.keys().cloned().collect()
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    pub(crate) fn power_on_if_configured(&mut self, name: &str) {
        if self.wanted.members.contains_key(name) {
            self.power_on(name);
        }
    }

    pub(crate) fn fence_all_that_are_off(&mut self, leader: usize) {
        let off: Vec<String> =
            self.nodes.values().filter(|node| node.agent.is_none()).map(|node| node.name.clone()).collect();
        let proofs: Vec<Proof> = off.iter().map(|name| self.proof(leader, name, FenceKind::Person)).collect();
        self.leaders[leader].observed.take_proofs(proofs);
    }

    /// One round in which everything works.
    pub(crate) fn calm_round(&mut self) {
        let leader = self.leaders.len() - 1;
        self.poll_all(leader);
        while !self.messages.is_empty() {
            self.deliver(0, false);
        }
        self.lead(leader);
        while !self.messages.is_empty() {
            self.deliver(0, false);
        }
        for name in self.names() {
            self.begin_serving(&name);
            self.replicate(&name, usize::MAX);
        }
        self.pass(10);
        self.check_one_primary();
    }

    /// Faults stop: one operator, no partition, and every machine but the dead runs.
    pub(crate) fn calm(&mut self, dead: &BTreeSet<String>) {
        let leader = self.elect_leader();
        self.messages.clear();
        self.wanted.parked = false;
        for boss in &mut self.leaders[..leader] {
            boss.acting = false;
        }
        for name in self.names() {
            if dead.contains(&name) {
                self.power_off(&name);
            } else {
                self.power_on_if_configured(&name);
            }
        }
    }

    /// Whether a primary serves and everyone who may and can follow it does.
    pub(crate) fn settled(&self, dead: &BTreeSet<String>) -> bool {
        let Some(primary) = self.serving().and_then(|name| self.nodes.get(name)) else { return false };
        let roster = primary.volume.newest_roster();
        let in_place = |name: &String| {
            let Some(node) = self.nodes.get(name) else { return false };
            let errant = node.volume.complete && !is_prefix(&node.volume.held(), &primary.volume.held());
            let follows =
                node.app().is_some_and(|app| app.serving || (app.role == Role::Secondary && app.synced));
            let votes = roster
                .and_then(|roster| roster.entry(name))
                .is_some_and(|entry| entry.voter && entry.volume == node.volume.uuid);
            (follows && votes) || (roster.is_some_and(|roster| roster.entry(name).is_none()) && errant)
        };
        let stays = |name: &&String| self.wanted.stays(name) && !dead.contains(*name);
        let outdated =
            self.wanted.members.keys().any(|name| self.wanted.outdated(name) && !dead.contains(name));
        let nothing_pending = !outdated && roster.is_some_and(|roster| roster.before.is_none());
        let leaving =
            self.wanted.members.iter().filter(|(name, member)| member.leaving && !dead.contains(*name));
        nothing_pending && leaving.count() == 0 && self.wanted.members.keys().filter(stays).all(in_place)
    }

    /// Does what status says would unblock. False: nothing is said to be blocked.
    pub(crate) fn intervene(&mut self, dead: &BTreeSet<String>) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(last) = self.leaders[leader].last.clone() else { return false };
        let Some(obstacle) = last.blocked else {
            // Never formed, and a machine is gone for good: its Member is deleted.
            let gone: Vec<&String> = last.waiting.iter().filter(|name| dead.contains(*name)).collect();
            for name in &gone {
                self.remove(name);
            }
            return !gone.is_empty();
        };
        match obstacle.by {
            BlockedBy::MemberMissing | BlockedBy::SeedUnconfirmed => {
                for name in &obstacle.members {
                    let configured = self.wanted.members.contains_key(name) && !dead.contains(name);
                    assert!(!configured, "{name} is on and yet said to be missing");
                }
                self.fence_all_that_are_off(leader);
            }
            BlockedBy::MemberDisabled => {
                for name in &obstacle.members {
                    self.wanted.members.entry(name.clone()).or_default().disabled = false;
                }
            }
            BlockedBy::DataMissing | BlockedBy::HistoryDiffers => {
                // With a fence in force the request has to come at once: fence again, then choose.
                self.fence_all_that_are_off(leader);
                self.loss_accepted = true;
                if let Some(best) = self.best_to_seed() {
                    self.ask_for(leader, best);
                }
            }
            BlockedBy::AllEmpty => {
                let member = obstacle.members.first().cloned().unwrap_or_default();
                self.loss_accepted = true;
                self.ask_for(leader, Directive::Seed { member, accept_data_loss: true });
            }
            BlockedBy::RestoreReplicas => self.wanted.restore = None,
            BlockedBy::EqualTerms => panic!("Muster itself made two primaries"),
        }
        true
    }

    /// Gives up the volumes that exist nowhere any more, or whose machine is dead, and that the roster still counts.
    pub(crate) fn forget(&mut self, dead: &BTreeSet<String>) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(roster) = self.leaders[leader].observed.roster().cloned() else { return false };
        let primary = self.serving().and_then(|name| self.nodes.get(name)).map(|node| node.volume.held());
        let gone = |entry: &&Entry| {
            let lost = |node: &Node| {
                let unreadable = node.volume.unreadable && !self.wanted.stays(&entry.member);
                node.volume.uuid != entry.volume || unreadable || node.agent.is_none()
            };
            dead.contains(&entry.member) || self.nodes.get(&entry.member).is_none_or(lost)
        };
        // Data that is errant, or cannot be read, stands in the way of giving up anyone else's.
        let errs = |entry: &&Entry| {
            let strays = |volume: &Volume| {
                let errant = primary.as_ref().is_some_and(|held| !is_prefix(&volume.held(), held));
                volume.unreadable || (volume.complete && errant)
            };
            let node = self.nodes.get(&entry.member).filter(|node| node.app().is_none());
            node.is_some_and(|node| strays(&node.volume))
        };
        let known: Vec<&Entry> = roster.entries.iter().chain(roster.before.iter().flatten()).collect();
        let in_the_way: BTreeSet<&str> = known
            .iter()
            .filter(|entry| entry.voter && errs(entry))
            .map(|entry| entry.member.as_str())
            .collect();
        let leaves = in_the_way.iter().any(|name| !self.wanted.stays(name));
        if !known.iter().any(gone) && in_the_way.len() < 2 && !leaves {
            return self.rejoin(&roster);
        }
        let given_up = known.iter().filter(|entry| gone(entry) || errs(entry));
        let members: BTreeSet<String> = given_up.map(|entry| entry.member.clone()).collect();
        self.fence_all_that_are_off(leader);
        let members = members.into_iter().collect();
        self.ask_for(leader, Directive::Forget { members });
        true
    }

    /// A person's request, valid for as long as requests are.
    pub(crate) fn ask_for(&mut self, leader: usize, directive: Directive) {
        let until = self.now + REQUEST_LIFETIME;
        self.leaders[leader].observed.direct(directive, until);
    }

    /// Lets go of what an errant, or unreadable, member holds.
    pub(crate) fn rejoin(&mut self, roster: &Roster) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(primary) = self.serving().and_then(|name| self.nodes.get(name)) else { return false };
        let source = primary.volume.held();
        let errs = |volume: &Volume| volume.complete && !is_prefix(&volume.held(), &source);
        let strays = |node: &&Node| node.volume.unreadable || errs(&node.volume);
        let stopped = self.nodes.values().filter(|node| node.agent.is_some() && node.app().is_none());
        let errant = stopped
            .filter(|node| roster.entry(&node.name).is_some() && self.wanted.stays(&node.name))
            .find(strays);
        let Some(member) = errant.map(|node| node.name.clone()) else { return self.enable_all() };
        self.ask_for(leader, Directive::Rejoin { member });
        true
    }

    /// A primary cannot leave when all that could follow it are disabled.
    pub(crate) fn enable_all(&mut self) -> bool {
        let disabled = self.wanted.members.values_mut().filter(|member| member.disabled);
        disabled.map(|member| member.disabled = false).count() > 0
    }

    /// What a person would choose: the most advanced that may seed, or, failing that, any, accepting the loss.
    pub(crate) fn best_to_seed(&self) -> Option<Directive> {
        let roster = self.leaders.last()?.observed.roster();
        let fit = self.nodes.values().filter(|node| {
            let mut counted = roster.into_iter().flat_map(Roster::voters);
            let votes = counted.any(|voter| voter.volume == node.volume.uuid);
            node.agent.is_some() && votes && node.volume.held().counts() && !node.volume.unreadable
        });
        let best = fit.max_by_key(|node| node.volume.held().place());
        let any =
            self.nodes.values().filter(|node| node.agent.is_some()).max_by_key(|node| node.volume.sequence());
        let accept_data_loss = best.is_none();
        best.or(any).map(|node| Directive::Seed { member: node.name.clone(), accept_data_loss })
    }

    /// Runs without faults until the cluster serves, doing what status asks for.
    pub(crate) fn settle(&mut self, dead: &BTreeSet<String>) {
        let mut interventions = 0;
        for _ in 0..SETTLING_ROUNDS {
            if self.settled(dead) {
                return;
            }
            self.calm_round();
            let leader = self.leaders.len() - 1;
            let idle = self.leaders[leader]
                .last
                .as_ref()
                .is_some_and(|last| last.orders.is_empty() && last.roster.is_none());
            let act = if self.serving().is_none() { Self::intervene } else { Self::forget };
            if idle && act(self, dead) {
                interventions += 1;
                assert!(interventions <= MOST_INTERVENTIONS, "a person acts in vain: {}", self.describe());
            }
        }
        panic!("not settled: {}", self.describe());
    }

    pub(crate) fn describe(&self) -> String {
        let leader = self.leaders.len() - 1;
        let nodes: Vec<String> = self
            .nodes
            .values()
            .map(|node| {
                format!(
                    "{} on={} configured={:?} app={:?} {:?}",
                    node.name,
                    node.agent.is_some(),
                    self.wanted.members.get(&node.name),
                    node.app(),
                    node.volume
                )
            })
            .collect();
        let standing: Vec<_> =
            self.nodes.keys().map(|name| (name, self.leaders[leader].observed.standing(name))).collect();
        format!("{:#?}\n{:?}\n{}", self.leaders[leader].last, standing, nodes.join("\n"))
    }
}
