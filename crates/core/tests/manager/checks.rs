//! What must hold at every step, judged by what really is on the disks.

use muster_core::manager::command::{Action, Command};
use muster_core::manager::decide::{Decision, Effect};
use muster_core::manager::requests::Directive;
use muster_core::manager::roster::{Entry, voters};
use muster_test_model::Node;

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
            // What has left refuses to lead, whenever the mark came.
            // A forming seed that never served holds all there is.
            let alone = volume.newest_roster().is_some_and(|roster| roster.entries.len() == 1);
            let fit = (volume.complete || alone) && !volume.empty() && !volume.unreadable;
            assert!(fit, "{} is made primary from {volume:?}", command.member);
        }
    }

    /// A member that is heard goes only through its gate: it does not run, cannot be elected, and nobody waits for it.
    pub(crate) fn check_release(&self, leader: usize, name: &str) {
        let heard = self.leaders[leader].observed.report_of(name).is_some();
        let Some(node) = self.nodes.get(name).filter(|node| heard && node.agent.is_some()) else { return };
        let volume = &node.volume;
        assert!(node.app().is_none(), "{name} goes while it runs");
        let stranger = volume.newest_roster().is_none_or(|roster| roster.names().all(|known| known != name));
        assert!(stranger, "{name} goes while its own roster names it: {:?}", volume.newest_roster());
        let harmless = volume.left || !volume.complete || volume.unreadable || volume.empty();
        assert!(harmless, "{name} goes without a mark: {volume:?}");
    }

    /// Enough voters were read, counted here by hand: in the roster, and in the one before. Where all have to be read, a disk that
    /// was exchanged since is read where its member has its data now. A seed that never served is all there is. Who went through the gate,
    /// and is not back, is not read. Of those whose data was thrown away beside a primary that had it nothing is there to read.
    fn check_read_set(&self, leader: usize, elected: &str) {
        let observed = &self.leaders[leader].observed;
        let Some(roster) = observed.roster().filter(|_| !self.wanted.allow_loss) else { return };
        for entries in [Some(&roster.entries), roster.before.as_ref()].into_iter().flatten() {
            let gone = |voter: &&Entry| {
                let back = roster.entries.iter().any(|now| now.member == voter.member);
                let left = |node: &Node| node.volume.uuid == voter.volume && node.volume.left;
                !back && self.nodes.values().any(left)
            };
            let stay: Vec<&Entry> = voters(entries).filter(|voter| !gone(voter)).collect();
            let count = stay.len();
            let written = self.wanted.engine.copies.written(count);
            let read = stay.iter().filter(|voter| {
                let all = self.wanted.engine.copies.read(count) == count;
                let now = roster.voters().find(|now| now.id == voter.id).filter(|_| all);
                let sole = roster.entries.len() == 1 && roster.before.is_none();
                observed.reporting().any(|(name, report)| {
                    let counts = report
                        .held()
                        .is_some_and(|held| held.counts() || (sole && !held.empty && !held.left));
                    let same =
                        report.volume == voter.volume || now.is_some_and(|now| report.volume == now.volume);
                    counts && same && observed.standing(name).accounted()
                })
            });
            let torn = |node: &Node| node.volume.covered && (node.volume.torn || !node.volume.complete);
            let thrown_away = stay.iter().filter(|voter| {
                self.nodes
                    .values()
                    .any(|node| node.volume.uuid == voter.volume && torn(node) && node.app().is_none())
            });
            let there = count - thrown_away.count();
            let needed = (count + 1 - written).min(there).max(1);
            assert!(read.count() >= needed, "{elected} is elected on too few voters of {entries:?}");
        }
    }

    /// What a leader decides, against what it knows.
    pub(crate) fn check_decision(&self, leader: usize, decision: &Decision) {
        let observed = &self.leaders[leader].observed;
        let asked = matches!(observed.directive, Some(Directive::Seed { .. }));
        let warned = decision.effects.iter().any(|effect| matches!(effect, Effect::WarnOfLoss(_)));
        assert!(!warned || asked || self.wanted.allow_loss, "data is given up and nobody said so");
        for order in &decision.orders {
            let elects =
                matches!(order.action, Action::Seed { forming: false } | Action::Lead | Action::Promote);
            if !elects || asked {
                continue;
            }
            self.check_read_set(leader, &order.member);
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
}
