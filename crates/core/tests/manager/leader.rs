//! A simulated operator process: it polls, decides, sends, and forgets everything when it ends.

use std::collections::{BTreeMap, BTreeSet};

use muster_core::manager::command::Command;
use muster_core::manager::decide::{Decision, Effect, Rule, decide};
use muster_core::manager::fencing::{FenceKind, Proof};
use muster_core::manager::observed::Observed;
use muster_core::manager::stamp::Stamp;

use super::world::{Message, World};

pub(crate) struct Leader {
    pub(crate) observed: Observed,
    pub(crate) acting: bool,
    pub(crate) last: Option<Decision>,
    n: u64,
    connections: BTreeMap<String, u64>,
    pub(crate) cut_off: BTreeSet<String>,
}

impl Leader {
    fn new(epoch: u64) -> Self {
        Self {
            observed: Observed::new(epoch),
            acting: true,
            last: None,
            n: 0,
            connections: BTreeMap::new(),
            cut_off: BTreeSet::new(),
        }
    }

    /// The stream of this member breaks; what is still under way on it is dropped.
    pub(crate) fn lose(&mut self, member: &str) {
        *self.connections.entry(member.to_owned()).or_default() += 1;
        self.observed.lose_stream(member);
    }

    fn connection(&self, member: &str) -> u64 {
        self.connections.get(member).copied().unwrap_or_default()
    }

    fn stamp(&mut self) -> Stamp {
        self.n += 1;
        Stamp::new(self.observed.epoch, self.n)
    }
}

impl World {
    /// A new operator process takes over; earlier ones may not know it yet.
    pub(crate) fn elect_leader(&mut self) -> usize {
        let epoch = self.leaders.len() as u64 + 1;
        self.leaders.push(Leader::new(epoch));
        self.leaders.len() - 1
    }

    /// Tells an agent the leader's epoch and asks it for a report of the present round; the answer gets under way.
    pub(crate) fn poll(&mut self, leader: usize, member: &str) {
        let boss = &self.leaders[leader];
        if boss.cut_off.contains(member) {
            return;
        }
        let (epoch, round, connection) = (boss.observed.epoch, boss.observed.round, boss.connection(member));
        let Some(node) = self.nodes.get_mut(member) else { return };
        if node.agent.is_some() && node.volume.epoch < epoch {
            node.volume.epoch = epoch;
        }
        let Some(report) = node.report(round) else { return };
        let report = Box::new(report);
        self.messages.push(Message::Report { leader, member: member.to_owned(), report, connection });
    }

    /// Delivers one message; `keep` a copy of it under way.
    pub(crate) fn deliver(&mut self, index: usize, keep: bool) {
        if index >= self.messages.len() {
            return;
        }
        let message = if keep { self.messages[index].clone() } else { self.messages.remove(index) };
        let now = self.now;
        match message {
            Message::Command { leader, command } => {
                if self.leaders[leader].cut_off.contains(&command.member) {
                    return;
                }
                self.check_command(&command);
                let fresh = self.new_name();
                let Some(node) = self.nodes.get_mut(&command.member) else { return };
                match node.obey(&command, || fresh) {
                    Some(Ok(answer)) => {
                        self.messages.push(Message::Answer { leader, member: command.member, answer });
                    }
                    Some(Err(_)) => {
                        let (member, stamp) = (command.member, command.stamp);
                        self.messages.push(Message::Refusal { leader, member, stamp });
                    }
                    None => {}
                }
            }
            Message::Answer { leader, member, answer } => {
                self.leaders[leader].observed.note_answer(&member, answer, now);
            }
            Message::Refusal { leader, member, stamp } => {
                self.leaders[leader].observed.note_refusal(&member, stamp, now);
            }
            Message::Report { leader, member, report, connection } => {
                let boss = &mut self.leaders[leader];
                if boss.connection(&member) == connection && !boss.cut_off.contains(&member) {
                    boss.observed.take_report(&member, *report, now);
                }
            }
        }
    }

    /// The leader looks at the machines that are off and notes the proof.
    pub(crate) fn see_terminated(&mut self, leader: usize, member: &str, kind: FenceKind) {
        let off = self.nodes.get(member).is_none_or(|node| node.agent.is_none());
        if off {
            let proof = self.proof(leader, member, kind);
            self.leaders[leader].observed.take_proofs([proof]);
        }
    }

    /// A proof that this member, which is off, does not run. A person's word is new each time.
    pub(crate) fn proof(&mut self, leader: usize, member: &str, kind: FenceKind) -> Proof {
        let last = self.leaders[leader].observed.members.get(member).and_then(|seen| seen.report.as_ref());
        let instance = last.map(|report| report.instance).filter(|_| kind == FenceKind::Terminated);
        let ended = self.power_offs;
        let evidence = if kind == FenceKind::Person { self.new_name() } else { format!("{kind:?} {ended}") };
        Proof { member: member.to_owned(), kind, instance, evidence }
    }

    /// The leader decides, and gets its commands under way.
    pub(crate) fn lead(&mut self, leader: usize) {
        if !self.leaders[leader].acting {
            return;
        }
        self.refresh_marks();
        let now = self.now;
        self.leaders[leader].observed.look_around(&self.wanted, now);
        let decision = decide(&self.leaders[leader].observed, &self.wanted, now);
        self.check_decision(leader, &decision);
        if decision.rule == Rule::Outranked {
            self.leaders[leader].acting = false;
            return;
        }
        let boss = &mut self.leaders[leader];
        if let Some(change) = decision.roster.clone() {
            let version = boss.stamp();
            boss.observed.issue(change.issue(version));
        }
        for order in decision.orders.clone() {
            let boss = &mut self.leaders[leader];
            let stamp = boss.stamp();
            let roster = boss.observed.roster().filter(|_| order.action.carries_roster()).cloned();
            boss.observed.note_sent(&order.member, stamp, order.instance, &order.action, now);
            let command = Command {
                stamp,
                instance: order.instance,
                member: order.member,
                roster,
                action: order.action,
            };
            self.messages.push(Message::Command { leader, command });
        }
        for effect in decision.effects.clone() {
            self.carry_out(leader, effect);
        }
        if decision.ask {
            self.poll_all(leader);
        }
        self.leaders[leader].last = Some(decision);
    }

    pub(crate) fn poll_all(&mut self, leader: usize) {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        for name in names {
            self.poll(leader, &name);
        }
    }

    /// Effects are writes to the API, which the Lease keeps a replaced leader from; its commands may still be under way.
    fn carry_out(&mut self, leader: usize, effect: Effect) {
        let replaced = leader + 1 < self.leaders.len();
        match effect {
            Effect::MarkFormed(_) | Effect::Release(_) | Effect::Replace(_) | Effect::Parked if replaced => {}
            Effect::MarkFormed(mark) => {
                for value in self.marks.values_mut().filter(|value| value.is_none()) {
                    *value = Some(mark.clone());
                }
            }
            Effect::Release(member) => {
                self.check_release(leader, &member);
                self.release(&member);
            }
            Effect::Replace(member) => self.replace(&member),
            Effect::Parked => {
                let names: Vec<String> = self.nodes.keys().cloned().collect();
                for name in &names {
                    self.power_off(name);
                }
            }
            Effect::WarnOfLoss(_) => self.loss_accepted = true,
            Effect::RequestEnded(_) => {
                self.leaders[leader].observed.directive = None;
                self.leaders[leader].observed.mandate = None;
            }
            Effect::LeaveFailed(_) => {}
        }
    }
}
