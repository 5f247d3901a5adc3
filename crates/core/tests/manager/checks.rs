//! What must hold at every step, judged by what really is on the disks.

use muster_core::manager::command::{Action, Command};
use muster_core::manager::decide::Decision;
use muster_core::manager::election::is_prefix;
use muster_core::manager::requests::Directive;
use muster_core::manager::roster::Roster;

use super::world::World;

impl World {
    /// At most the wanted number of members are primary by Muster's command.
    pub(crate) fn check_one_primary(&self) {
        let primaries: Vec<&str> = self
            .nodes
            .values()
            .filter(|node| node.app().is_some_and(|app| !app.self_made) && node.is_primary())
            .map(|node| node.name.as_str())
            .collect();
        assert!(primaries.len() <= self.wanted.primaries, "two primaries: {primaries:?}");
    }

    /// A member that begins to serve holds every acknowledged write, unless someone accepted the loss.
    pub(crate) fn check_nothing_lost(&mut self, name: &str, log: &[u64]) {
        if self.loss_accepted || self.wanted.allow_loss {
            self.acknowledged.retain(|write| log.contains(write));
            self.loss_accepted = false;
        }
        let lost: Vec<&u64> = self.acknowledged.iter().filter(|write| !log.contains(write)).collect();
        assert!(lost.is_empty(), "{name} serves without the acknowledged writes {lost:?}; it holds {log:?}");
    }

    /// What arrives at an agent: nothing is started from data that must not be started from.
    pub(crate) fn check_command(&self, command: &Command) {
        let Some(node) = self.nodes.get(&command.member) else { return };
        let current = node.agent.as_ref().is_some_and(|agent| agent.instance == command.instance);
        let newer = node.volume.last.is_none_or(|last| command.stamp > last.stamp);
        let obeyed = current && newer && command.stamp.epoch >= node.volume.epoch;
        let elects =
            matches!(command.action, Action::Seed { forming: false } | Action::Lead | Action::Promote);
        if obeyed && elects && !self.loss_accepted {
            let volume = &node.volume;
            let fit = volume.complete && !volume.empty() && !volume.left && !volume.unreadable;
            assert!(fit, "{} is made primary from {volume:?}", command.member);
        }
    }

    /// A member goes only through its gate: it does not run, cannot be elected, and nobody waits for it.
    pub(crate) fn check_release(&self, name: &str) {
        let Some(node) = self.nodes.get(name) else { return };
        let volume = &node.volume;
        assert!(node.app().is_none(), "{name} goes while it runs");
        let stranger = volume.roster.as_ref().is_none_or(|roster| roster.names().all(|known| known != name));
        assert!(stranger, "{name} goes while its own roster names it: {:?}", volume.roster);
        let harmless = volume.left || !volume.complete || volume.unreadable || volume.empty();
        let primary = self.serving().and_then(|primary| self.nodes.get(primary));
        let given_up = primary.is_none_or(|primary| !is_prefix(&volume.held(), &primary.volume.held()));
        assert!(
            harmless || given_up || self.forgiven.contains(name),
            "{name} goes without a mark: {volume:?}"
        );
    }

    /// What a leader decides, against what it knows.
    pub(crate) fn check_decision(&self, leader: usize, decision: &Decision) {
        let observed = &self.leaders[leader].observed;
        let asked = matches!(observed.directive, Some(Directive::Seed { .. }));
        for order in &decision.orders {
            let elects =
                matches!(order.action, Action::Seed { forming: false } | Action::Lead | Action::Promote);
            if !elects || asked {
                continue;
            }
            let Some(roster) = observed.roster() else { panic!("{} elected without a roster", order.member) };
            let unaccounted: Vec<&str> =
                roster.names().filter(|name| !observed.standing(name).accounted()).collect();
            assert!(
                unaccounted.is_empty(),
                "{} elected while {unaccounted:?} are unaccounted for",
                order.member
            );
            let place = |name: &str| Some(observed.report_of(name)?.held()?.place());
            let eligible = |name: &str| {
                observed
                    .report_of(name)
                    .and_then(|r| r.held())
                    .is_some_and(muster_core::manager::report::Held::counts)
            };
            for voter in roster.voters().filter(|voter| eligible(&voter.member)) {
                let same =
                    observed.report_of(&voter.member).is_some_and(|report| report.volume == voter.volume);
                let higher = same && place(&voter.member) > place(&order.member);
                assert!(!higher, "{} elected though {} is ahead", order.member, voter.member);
            }
        }
    }

    /// After a person gave a member up: a write is only safe where every read set still finds it.
    pub(crate) fn forgive(&mut self, roster: &Roster) {
        let voters: Vec<String> = roster.voters().map(|voter| voter.volume.clone()).collect();
        let needed = (voters.len() + 1).saturating_sub(self.wanted.engine.copies.read(voters.len())).max(1);
        let holders = |write: &u64| {
            self.nodes
                .values()
                .filter(|node| voters.contains(&node.volume.uuid) && node.volume.log.contains(write))
                .count()
        };
        let kept = self.acknowledged.iter().copied().filter(|write| holders(write) >= needed).collect();
        self.acknowledged = kept;
    }
}
