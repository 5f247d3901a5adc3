//! Random histories: members crash, lag, are wiped, disabled, removed and made again; operators forget everything;
//! messages are late, lost and repeated. Nothing acknowledged is lost, and when the faults stop the cluster serves.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use muster_api::names::{BlockedBy, Role};
use muster_core::manager::election::is_prefix;
use muster_core::manager::fencing::FenceKind;
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::roster::{Copies, Roster};
use proptest::prelude::*;

use super::node::{Node, Volume};
use super::world::World;

/// The most members a history configures.
const MOST_MEMBERS: usize = 5;
/// How many rounds without faults a cluster may take to settle.
const SETTLING_ROUNDS: usize = 400;
/// How often a person may have to do what status says.
const MOST_INTERVENTIONS: usize = 12;

/// One step of a history: what, and to whom.
type Step = (u8, u8, u8);

fn pick<T>(items: &[T], by: u8) -> Option<&T> {
    items.get(usize::from(by) % items.len().max(1))
}

impl World {
    fn names(&self) -> Vec<String> {
        self.nodes.keys().cloned().collect()
    }

    fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// One step of what goes right.
    fn work(&mut self, what: u8, who: u8, how: u8) {
        let names = self.names();
        let Some(name) = pick(&names, who) else { return };
        let leader = self.leaders.len() - 1 - usize::from(how % 2).min(self.leaders.len() - 1);
        match what % 13 {
            10..=12 if how % 2 == 0 => self.calm_round(),
            0..=2 | 10..=12 => self.deliver(usize::from(who) % self.messages.len().max(1), how % 16 == 0),
            3 => self.poll(leader, name),
            4 => self.poll_all(leader),
            5 => self.lead(leader),
            6 => drop(self.write(name)),
            7 => self.replicate(name, usize::from(how % 3) + 1),
            8 => self.begin_serving(name),
            _ => self.pass(if how % 8 == 0 { 31 } else { 1 }),
        }
    }

    /// One step of what goes wrong, or of what people change.
    fn disturb(&mut self, what: u8, who: u8, how: u8) {
        if std::env::var("MUSTER_TRACE").is_ok() {
            eprintln!("disturb {} who {} how {}", what % 16, who, how);
        }
        let names = self.names();
        let Some(name) = pick(&names, who) else { return };
        let leader = self.leaders.len() - 1 - usize::from(how % 2).min(self.leaders.len() - 1);
        match what % 16 {
            0 | 1 => self.power_off(name),
            2..=4 => self.power_on_if_configured(name),
            5 => self.kill_application(name),
            6 => drop((how % 4 == 0).then(|| self.elect_leader())),
            7 => drop(self.leaders[leader].cut_off.insert(name.clone())),
            8 => self.leaders[leader].cut_off.clear(),
            9 => self.leaders[leader].lose(name),
            10 => self.see_terminated(leader, name, FenceKind::Terminated),
            11 => self.fence_all_that_are_off(leader),
            12 if !self.messages.is_empty() => {
                let index = usize::from(how) % self.messages.len();
                self.messages.remove(index);
            }
            13 if how % 4 == 0 => self.wipe(name),
            14 => self.change_membership(name, how),
            15 => self.ask_for_switchover(leader, name),
            _ => {}
        }
    }

    fn power_on_if_configured(&mut self, name: &str) {
        if self.wanted.members.contains_key(name) {
            self.power_on(name);
        }
    }

    fn change_membership(&mut self, name: &str, how: u8) {
        match how % 6 {
            0 if self.wanted.members.len() < MOST_MEMBERS => drop(self.configure_next()),
            1 if self.wanted.members.values().filter(|member| !member.leaving).count() > 1 => {
                self.remove(name)
            }
            2 | 3 => {
                if let Some(member) = self.wanted.members.get_mut(name) {
                    member.disabled = !member.disabled;
                }
            }
            4 => {
                if let Some(node) = self.nodes.get_mut(name) {
                    node.volume.unreadable = !node.volume.unreadable && node.agent.is_none();
                }
            }
            _ => {}
        }
    }

    fn ask_for_switchover(&mut self, leader: usize, name: &str) {
        let Some(from) = self.serving().map(str::to_owned) else { return };
        let deadline = self.now + SWITCHOVER_LIMIT;
        self.leaders[leader].observed.directive =
            Some(Directive::Switchover { to: Some(name.to_owned()), from, deadline });
    }

    fn fence_all_that_are_off(&mut self, leader: usize) {
        let off: Vec<&str> =
            self.nodes.values().filter(|node| node.agent.is_none()).map(|node| node.name.as_str()).collect();
        self.leaders[leader].observed.take_fences(off.into_iter().map(|name| (name, FenceKind::Person)));
    }

    /// One round in which everything works.
    fn calm_round(&mut self) {
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
    fn calm(&mut self, dead: &BTreeSet<String>) {
        let leader = self.elect_leader();
        self.messages.clear();
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
    fn settled(&self, dead: &BTreeSet<String>) -> bool {
        let Some(primary) = self.serving().and_then(|name| self.nodes.get(name)) else { return false };
        let roster = primary.volume.roster.as_ref();
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
        self.wanted.members.keys().filter(stays).all(in_place)
    }

    /// Does what status says would unblock. False: nothing is said to be blocked.
    fn intervene(&mut self, dead: &BTreeSet<String>) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(last) = self.leaders[leader].last.clone() else { return false };
        let Some(obstacle) = last.blocked else {
            // Never formed, and a machine is gone for good: its Member is deleted.
            let gone: Vec<&String> = last.waiting.iter().filter(|name| dead.contains(*name)).collect();
            gone.iter().for_each(|name| self.remove(name));
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
                let best = self.best_to_seed();
                self.loss_accepted = true;
                self.leaders[leader].observed.directive = best;
            }
            BlockedBy::AllEmpty => {
                let member = obstacle.members.first().cloned().unwrap_or_default();
                self.loss_accepted = true;
                self.leaders[leader].observed.directive =
                    Some(Directive::Seed { member, accept_data_loss: true });
            }
            BlockedBy::RestoreReplicas => self.wanted.restore = None,
            BlockedBy::EqualTerms => panic!("Muster itself made two primaries"),
        }
        true
    }

    /// Gives up a volume that exists nowhere any more, or whose machine is dead, and that the roster still counts.
    fn forget(&mut self, dead: &BTreeSet<String>) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(roster) = self.leaders[leader].observed.roster().cloned() else { return false };
        let gone = roster.entries.iter().chain(roster.before.iter().flatten()).find(|entry| {
            let node = self.nodes.get(&entry.member);
            let lost = |node: &Node| {
                let unreadable = node.volume.unreadable && !self.wanted.stays(&entry.member);
                node.volume.uuid != entry.volume || unreadable
            };
            dead.contains(&entry.member) || node.is_none_or(lost)
        });
        let Some(member) = gone.map(|entry| entry.member.clone()) else { return self.rejoin(&roster) };
        self.fence_all_that_are_off(leader);
        self.leaders[leader].observed.directive = Some(Directive::Forget { member: member.clone() });
        let without = roster.without(&member).issue(roster.version);
        self.forgive(&without);
        true
    }

    /// Lets go of what an errant, or unreadable, member holds.
    fn rejoin(&mut self, roster: &Roster) -> bool {
        let leader = self.leaders.len() - 1;
        let Some(primary) = self.serving().and_then(|name| self.nodes.get(name)) else { return false };
        let source = primary.volume.held();
        let errs = |volume: &Volume| volume.complete && !is_prefix(&volume.held(), &source);
        let strays = |node: &&Node| node.volume.unreadable || errs(&node.volume);
        let stopped = self.nodes.values().filter(|node| node.agent.is_some() && node.app().is_none());
        let errant = stopped
            .filter(|node| roster.entry(&node.name).is_some() && self.wanted.stays(&node.name))
            .find(strays);
        let Some(member) = errant.map(|node| node.name.clone()) else { return false };
        self.forgive(&roster.with_vote(&member, "", false).issue(roster.version));
        self.leaders[leader].observed.directive = Some(Directive::Rejoin { member });
        true
    }

    /// What a person would choose: the most advanced that may seed, or, failing that, any, accepting the loss.
    fn best_to_seed(&self) -> Option<Directive> {
        let roster = self.leaders.last()?.observed.roster()?;
        let fit = self.nodes.values().filter(|node| {
            let votes = roster.voters().any(|voter| voter.volume == node.volume.uuid);
            node.agent.is_some() && votes && node.volume.held().counts() && !node.volume.unreadable
        });
        let best = fit.max_by_key(|node| node.volume.held().place());
        let any =
            self.nodes.values().filter(|node| node.agent.is_some()).max_by_key(|node| node.volume.sequence());
        let accept_data_loss = best.is_none();
        best.or(any).map(|node| Directive::Seed { member: node.name.clone(), accept_data_loss })
    }

    /// Runs without faults until the cluster serves, doing what status asks for.
    fn settle(&mut self, dead: &BTreeSet<String>) {
        let mut interventions = 0;
        for _ in 0..SETTLING_ROUNDS {
            if self.settled(dead) {
                return;
            }
            self.calm_round();
            let leader = self.leaders.len() - 1;
            let idle = self.leaders[leader].last.as_ref().is_some_and(|last| last.orders.is_empty());
            let act = if self.serving().is_none() { Self::intervene } else { Self::forget };
            if idle && act(self, dead) {
                interventions += 1;
                assert!(interventions <= MOST_INTERVENTIONS, "a person acts in vain: {}", self.describe());
            }
        }
        panic!("not settled: {}", self.describe());
    }

    fn describe(&self) -> String {
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

/// More cases by `PROPTEST_CASES`, for a long look.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn copies() -> impl Strategy<Value = Copies> {
    prop_oneof![Just(Copies::Majority), Just(Copies::Fixed(1)), Just(Copies::Fixed(2))]
}

fn steps(most: usize) -> impl Strategy<Value = Vec<(bool, Step)>> {
    prop::collection::vec((prop::bool::weighted(0.12), any::<Step>()), 0..most)
}

fn play(members: usize, copies: Copies, steps: &[(bool, Step)], allow_loss: bool, dead: u8) {
    let mut world = World::new(members, copies);
    world.wanted.allow_loss = allow_loss;
    // A cluster that has formed is where most can go wrong; the steps may disturb its forming as well.
    if dead % 4 != 3 {
        world.settle(&BTreeSet::new());
    }
    for (disturbs, (what, who, how)) in steps {
        if *disturbs {
            world.disturb(*what, *who, *how)
        } else {
            world.work(*what, *who, *how)
        }
        world.check_one_primary();
    }
    let names = world.names();
    let one_dies = dead % 3 == 0;
    let dead: BTreeSet<String> = pick(&names, dead / 3).into_iter().filter(|_| one_dies).cloned().collect();
    if !world.wanted.members.keys().any(|name| world.wanted.stays(name) && !dead.contains(name)) {
        world.configure_next();
    }
    world.calm(&dead);
    world.settle(&dead);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_acknowledged_write_is_lost_and_faults_end_in_a_serving_cluster(
        members in 1..=4usize, copies in copies(), steps in steps(400), dead in any::<u8>()
    ) {
        play(members, copies, &steps, false, dead);
    }

    #[test]
    fn with_loss_allowed_there_is_still_one_primary(
        members in 1..=4usize, copies in copies(), steps in steps(200), dead in any::<u8>()
    ) {
        play(members, copies, &steps, true, dead);
    }
}

#[test]
fn debug_case() {
    let steps: Vec<(bool, Step)> = vec![
        (false, (55, 20, 0)),
        (false, (211, 11, 0)),
        (false, (62, 0, 0)),
        (false, (0, 0, 0)),
        (false, (0, 0, 0)),
        (false, (36, 0, 66)),
        (false, (36, 0, 50)),
        (false, (36, 0, 2)),
        (false, (88, 0, 188)),
        (false, (36, 0, 48)),
        (false, (49, 0, 44)),
        (true, (238, 8, 49)),
        (false, (0, 0, 0)),
        (false, (0, 0, 0)),
        (false, (140, 0, 68)),
        (true, (88, 0, 0)),
        (false, (62, 0, 158)),
        (true, (101, 30, 0)),
        (true, (48, 7, 0)),
        (false, (0, 0, 0)),
        (true, (2, 5, 0)),
        (false, (10, 0, 20)),
        (false, (36, 0, 20)),
        (false, (253, 19, 0)),
    ];
    play(2, Copies::Fixed(1), &steps, true, 87);
}
