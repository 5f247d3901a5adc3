//! Random histories: members crash, lag, are wiped, disabled, removed and made again; operators forget everything;
//! messages are late, lost and repeated. Nothing acknowledged is lost, and when the faults stop the cluster serves.

use std::collections::BTreeSet;

use muster_core::manager::fencing::FenceKind;
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::roster::Copies;
use proptest::prelude::*;

use super::world::World;

/// The most members a history configures.
const MOST_MEMBERS: usize = 5;

/// One step of a history: what, and to whom.
type Step = (u8, u8, u8);

fn pick<T>(items: &[T], by: u8) -> Option<&T> {
    items.get(usize::from(by) % items.len().max(1))
}

impl World {
    /// One step of what goes right.
    fn work(&mut self, what: u8, who: u8, how: u8) {
        let names = self.names();
        let Some(name) = pick(&names, who) else { return };
        let leader = self.leaders.len() - 1 - usize::from(how % 2).min(self.leaders.len() - 1);
        match what % 13 {
            10..=12 if how.is_multiple_of(2) => self.calm_round(),
            0..=2 | 10..=12 => {
                self.deliver(usize::from(who) % self.messages.len().max(1), how.is_multiple_of(16));
            }
            3 => self.poll(leader, name),
            4 => self.poll_all(leader),
            5 => self.lead(leader),
            6 => {
                let primary = self.serving().unwrap_or(name).to_owned();
                self.write(&primary);
            }
            7 => self.replicate(name, usize::from(how % 3) + 1),
            8 => self.begin_serving(name),
            _ => self.pass(if how.is_multiple_of(8) { 31 } else { 1 }),
        }
    }

    /// One step of what goes wrong, or of what people change.
    fn disturb(&mut self, what: u8, who: u8, how: u8) {
        let names = self.names();
        let Some(name) = pick(&names, who) else { return };
        let leader = self.leaders.len() - 1 - usize::from(how % 2).min(self.leaders.len() - 1);
        match what % 20 {
            0 => self.power_off(name),
            1 => {
                let primary = self.serving().unwrap_or(name).to_owned();
                self.power_off(&primary);
                if how.is_multiple_of(2) {
                    self.fence_all_that_are_off(leader);
                }
            }
            2..=4 => self.power_on_if_configured(name),
            5 => self.kill_application(name),
            6 => drop(how.is_multiple_of(4).then(|| self.elect_leader())),
            7 => drop(self.leaders[leader].cut_off.insert(name.clone())),
            8 => self.leaders[leader].cut_off.clear(),
            9 => self.leaders[leader].lose(name),
            10 => self.see_terminated(leader, name, FenceKind::Terminated),
            11 => self.fence_all_that_are_off(leader),
            12 if !self.messages.is_empty() => {
                let index = usize::from(how) % self.messages.len();
                self.messages.remove(index);
            }
            13 if how.is_multiple_of(4) => self.wipe(name),
            14 => self.change_membership(name, how),
            15 => self.ask_for_switchover(leader, name),
            17..=19 => {
                if let Some(name) = self.covered() {
                    self.throw_away(&name);
                }
            }
            16 => self.wanted.members.values_mut().for_each(|member| member.outdated = true),
            _ => {}
        }
    }

    fn change_membership(&mut self, name: &str, how: u8) {
        match how % 6 {
            0 if self.wanted.members.len() < MOST_MEMBERS => drop(self.configure_next()),
            1 if self.wanted.members.values().filter(|member| !member.leaving).count() > 1 => {
                self.remove(name);
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
            5 => {
                self.wanted.parked = !self.wanted.parked;
                let back: Vec<String> = self.names().into_iter().filter(|_| !self.wanted.parked).collect();
                for name in &back {
                    self.power_on_if_configured(name);
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
            world.disturb(*what, *who, *how);
        } else {
            world.work(*what, *who, *how);
        }
        world.check_one_primary();
    }
    let names = world.names();
    let one_dies = dead.is_multiple_of(3);
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
