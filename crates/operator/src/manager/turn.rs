//! One turn of a manager: look, decide, act.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use muster_core::manager::command::{Action, Command};
use muster_core::manager::decide::{Decision, Effect, Order, Rule, decide};
use muster_core::manager::election::Winner;
use muster_core::manager::endpoints::endpoints;
use muster_core::manager::fencing::{Fence, FenceKind, Proof};
use muster_core::manager::observed::{Seen, serves_as_primary};
use muster_core::manager::roster::Roster;
use muster_core::manager::wanted::Wanted;
use muster_core::pause::Manager;
use muster_protocol::{Instruction, Neighbour};

use super::facts::{Surroundings, main_runs, out_of_service};
use super::task::{Sent, Task};
use super::view::Sight;
use crate::events::{Occasion, Tone};
use crate::key::Name;

/// How soon a roster is handed out once it is made; long enough that one made again and again, for whatever reason, does not
/// keep a core busy.
const HAND_OUT: SignedDuration = SignedDuration::from_millis(10);

impl Task {
    /// Looks around, decides, and acts on it.
    pub(super) fn turn(&mut self) {
        let Some(intent) = self.ears.intent.borrow_and_update().clone() else { return };
        let surroundings = Surroundings::of(&self.context.caches, &self.cluster);
        let keys = self.ears.keys.borrow_and_update().clone();
        for member in self.streams.follow(&self.context, &surroundings, keys.as_ref()) {
            self.lose(&member);
        }
        self.take_proofs(&surroundings);
        let ready = self.ready_to_act(&expected(&surroundings));
        let restore = self.persons_count();
        let wanted = surroundings.wanted(&self.cluster.name, &intent, restore);
        let now = self.now();
        self.observed.look_around(&wanted, now);
        if !ready {
            self.wake = Some(self.began + super::task::START_LIMIT);
            return;
        }
        let decision = decide(&self.observed, &wanted, now);
        if decision.rule == Rule::Outranked {
            let newest = self.observed.members.values().filter_map(|seen| Some(seen.report.as_ref()?.epoch));
            self.context.door.authority().outranked(newest.max().unwrap_or(0));
        }
        self.act(&surroundings, &wanted, &decision);
        // Nobody tells of a roster that was just made, and it is to be handed out.
        let made = decision.roster.as_ref().map(|_| now + HAND_OUT);
        self.wake_at(made.into_iter().chain(decision.wake).min());
        self.remember(wanted, decision);
    }

    /// Takes in who surely does not run, and takes back what does not hold any more. Whoever is heard needs no proof.
    fn take_proofs(&mut self, surroundings: &Surroundings) {
        let mut proofs = surroundings.proofs(&self.observed, &self.lines);
        proofs.extend(self.kept_proofs(surroundings));
        let silent = |member: &str| !self.observed.members.get(member).is_some_and(|seen| seen.connected);
        let proofs: Vec<_> = proofs.into_iter().filter(|proof| silent(&proof.member)).collect();
        self.out_of_service = self.nodes_of(&proofs, surroundings);
        let proven: BTreeSet<&str> = proofs.iter().map(|proof| proof.member.as_str()).collect();
        let lapsed: Vec<String> = self
            .observed
            .members
            .iter()
            .filter(|(name, seen)| {
                !proven.contains(name.as_str()) && seen.fence.as_ref().is_some_and(is_seen)
            })
            .map(|(name, _)| name.clone())
            .collect();
        for member in lapsed {
            self.observed.lift_fence(&member);
            self.touched.insert(member);
        }
        if !proofs.is_empty() {
            let round = self.observed.round;
            self.observed.take_proofs(proofs.clone());
            if self.observed.round != round {
                self.touched.extend(proofs.into_iter().map(|proof| proof.member));
            }
        }
    }

    /// Of a member whose node is out of service Kubernetes removes the Pod, and then makes another one. The proof is the taint:
    /// it holds for as long as that is there, until a Pod of this member was given to another node.
    fn kept_proofs(&self, surroundings: &Surroundings) -> Vec<Proof> {
        let kept = self.out_of_service.iter().filter(|(member, _)| surroundings.node(member).is_none());
        let nodes = &self.context.caches.nodes;
        let proof =
            |(member, node): (&String, &String)| out_of_service(member, &*nodes.get(&Name::new("", node))?);
        // Whoever was heard since is not in there: that takes the fence away.
        kept.filter(|(member, _)| self.observed.members.get(*member).is_some_and(is_out_of_service))
            .filter_map(proof)
            .collect()
    }

    /// The nodes by which these are proven.
    fn nodes_of(&self, proofs: &[Proof], surroundings: &Surroundings) -> BTreeMap<String, String> {
        let by_node = proofs.iter().filter(|proof| proof.kind == FenceKind::OutOfService);
        let node = |member: &str| {
            let now = surroundings.node(member).map(str::to_owned);
            now.or_else(|| self.out_of_service.get(member).cloned())
        };
        by_node.filter_map(|proof| Some((proof.member.clone(), node(&proof.member)?))).collect()
    }

    fn act(&mut self, surroundings: &Surroundings, wanted: &Wanted, decision: &Decision) {
        let roles = endpoints(&self.observed, decision);
        self.writes.label(&self.context, &self.cluster, surroundings, &roles);
        let reached = self.writes.reached(surroundings);
        if reached != self.next.reached {
            self.next.reached = reached;
            self.touched.insert(String::new());
        }
        if let Some(change) = decision.roster.clone() {
            let version = self.context.numbers.next(self.observed.epoch);
            self.observed.issue(change.issue(version));
        }
        for order in &decision.orders {
            // A primary is withdrawn from clients before it is told to stop or to step down.
            let withdraws = matches!(order.action, Action::Stop | Action::Demote);
            if withdraws && self.writes.is_reachable(&order.member) {
                continue;
            }
            self.send(order);
        }
        for effect in &decision.effects {
            self.carry_out(surroundings, effect);
        }
        self.replace_what_never_ran(surroundings, wanted);
        let staying = |member: &String| wanted.stays(member);
        self.given_up.retain(staying);
        for member in &self.given_up {
            self.writes.give_up(&self.context, &self.cluster, surroundings, member);
        }
        let parked = wanted.parked && decision.effects.contains(&Effect::Parked)
            || (self.next.parked && wanted.parked && self.observed.running().next().is_none());
        if parked != self.next.parked {
            // The workloads of all of them go to 0 by this, also of one of which there is nothing else to tell.
            self.touched.extend(wanted.members.keys().cloned());
        }
        self.next.parked = parked;
        self.next.released.retain(|member| wanted.members.get(member).is_some_and(|member| member.leaving));
        if decision.ask {
            self.ask_everyone();
        }
    }

    /// Sends a command, with the newest roster if it carries one.
    fn send(&mut self, order: &Order) {
        let Some(agent) = self.streams.agent(&order.member).cloned() else { return };
        let epoch = self.work.epoch();
        let Ok(act) = self.context.door.authority().act_under(epoch) else { return };
        let now = self.now();
        let stamp = self.context.numbers.next(self.observed.epoch);
        let roster = self.observed.roster().filter(|_| order.action.carries_roster()).cloned();
        tracing::info!(cluster = %self.cluster, member = order.member, %stamp, action = order.action.word(), "commands");
        self.observed.note_sent(&order.member, stamp, order.instance, &order.action, now);
        let command = Command {
            stamp,
            instance: order.instance,
            member: order.member.clone(),
            roster,
            action: order.action.clone(),
        };
        let instruction = Instruction { peers: self.neighbours(&order.member), command };
        let action = order.action.word();
        let member = order.member.clone();
        self.touched.insert(member.clone());
        self.sent.spawn(async move {
            // A command that would begin after the mandate has ended is never begun.
            let begun = tokio::time::timeout_at(act.until(), agent.command(&instruction));
            let outcome = match begun.await {
                Ok(outcome) => outcome,
                Err(_) => Err(crate::agents::CallError::TimedOut(std::time::Duration::ZERO)),
            };
            if !outcome.as_ref().is_err_and(crate::agents::CallError::may_have_been_obeyed) {
                act.answered();
            }
            Sent { member, stamp, action, outcome }
        });
    }

    /// Where the application finds the others.
    fn neighbours(&self, member: &str) -> Vec<Neighbour> {
        let names: BTreeSet<&str> = self.observed.roster().into_iter().flat_map(Roster::names).collect();
        let others = names.into_iter().filter(|name| *name != member);
        others
            .filter_map(|name| {
                let address = host(self.streams.address(name)?).to_owned();
                let primary = self.observed.report_of(name).is_some_and(serves_as_primary);
                Some(Neighbour { member: name.to_owned(), address, primary })
            })
            .collect()
    }

    fn carry_out(&mut self, surroundings: &Surroundings, effect: &Effect) {
        match effect {
            Effect::MarkFormed(mark) => self.writes.mark(&self.context, &self.cluster, surroundings, mark),
            Effect::Release(member) => {
                if self.next.released.insert(member.clone()) {
                    self.touched.insert(member.clone());
                }
            }
            Effect::Replace(member) => {
                let reporting = self.lines.get(member).and_then(|line| line.pod_uid.clone());
                self.writes.delete_pod(
                    &self.context,
                    &self.cluster,
                    surroundings,
                    member,
                    reporting.as_deref(),
                );
            }
            Effect::Parked => {}
            Effect::WarnOfLoss(winner) => self.warn_of_loss(winner),
            Effect::RequestEnded(result) => self.end_request(result),
            Effect::LeaveFailed(member) => {
                let why = self.lines.get(member).and_then(|line| line.measured.failure.clone());
                let why = why.map_or_else(|| "its leave failed".to_owned(), |failure| failure.how);
                self.next.leave_failed.insert(member.clone(), why);
            }
        }
    }

    /// A Pod of an outdated workload whose container does not run has nothing that could be stopped.
    fn replace_what_never_ran(&mut self, surroundings: &Surroundings, wanted: &Wanted) {
        for (member, pod) in &surroundings.pods {
            let heard = self.observed.members.get(member).is_some_and(|seen| seen.connected);
            if !heard && wanted.outdated(member) && !main_runs(pod) {
                let uid = kube::ResourceExt::uid(pod.as_ref());
                self.writes.delete_pod(&self.context, &self.cluster, surroundings, member, uid.as_deref());
            }
        }
    }

    fn warn_of_loss(&mut self, winner: &Winner) {
        let without = muster_core::conditions::names(&winner.without);
        let said = self.persons_count().filter(|_| self.observed.directive.is_none());
        let why =
            said.map(|count| format!(" because restoreReplicas was set to {count}")).unwrap_or_default();
        let message = format!(
            "{} goes on from sequence {}{why}; what only {without} hold, or held, may be lost",
            winner.member, winner.place.sequence
        );
        self.context.herald.say(
            &self.context.caches,
            &self.cluster,
            &Occasion { tone: Tone::Warning, reason: "DataMayBeLost", message },
        );
    }

    /// Asks everyone who is connected and was not asked in this round yet.
    fn ask_everyone(&mut self) {
        let round = self.observed.round;
        let connected = self.observed.members.iter().filter(|(_, seen)| seen.connected);
        let names: Vec<String> = connected.map(|(name, _)| name.clone()).collect();
        for member in names {
            if self.asking.get(&member) == Some(&round) {
                continue;
            }
            let Some(agent) = self.streams.agent(&member).cloned() else { continue };
            self.asking.insert(member.clone(), round);
            self.reports.spawn(async move {
                let answer = agent.report(round).await;
                (member, answer)
            });
        }
    }

    /// Keeps what was decided, for status.
    fn remember(&mut self, wanted: Wanted, decision: Decision) {
        let changed = self.next.sight.as_ref().is_none_or(|old| {
            old.decision != decision
                || !same_wanted(&old.wanted, &wanted)
                || old.observed.round != self.observed.round
        });
        if !self.next.leave_failed.is_empty() {
            let failed = |member: &String| decision.effects.contains(&Effect::LeaveFailed(member.clone()));
            self.next.leave_failed.retain(|member, _| failed(member));
        }
        if self.next.manager != Manager::Running {
            // Only now can anything be said of anyone.
            self.touched.extend(wanted.members.keys().cloned());
        }
        if changed || self.next.manager != Manager::Running {
            self.touched.insert(String::new());
        }
        self.next.manager = Manager::Running;
        if !self.touched.is_empty() {
            let (observed, now) = (self.observed.clone(), self.now());
            let sight = Sight { observed, wanted, decision, now };
            let anew = self.next.sight.as_ref().map(|before| sight.judges_anew(before));
            self.touched.extend(anew.into_iter().flatten());
            self.next.sight = Some(sight);
        }
    }
}

/// The members from whom a report can be expected: those that can be reached.
fn expected(surroundings: &Surroundings) -> BTreeSet<String> {
    let reachable = surroundings.members.iter().filter(|member| surroundings.address(member).is_some());
    reachable.map(|member| kube::ResourceExt::name_any(member.as_ref())).collect()
}

fn is_out_of_service(seen: &Seen) -> bool {
    seen.fence.as_ref().is_some_and(|fence| fence.kind == FenceKind::OutOfService)
}

/// Whether a fence was seen in Kubernetes, and may so be seen to have gone.
fn is_seen(fence: &Fence) -> bool {
    matches!(fence.kind, FenceKind::Terminated | FenceKind::OutOfService)
}

fn same_wanted(old: &Wanted, new: &Wanted) -> bool {
    old.members == new.members
        && old.parked == new.parked
        && old.primaries == new.primaries
        && old.allow_loss == new.allow_loss
        && old.restore == new.restore
        && old.formed == new.formed
}

/// The host in `host[:port]`.
fn host(address: &str) -> &str {
    if let Some(rest) = address.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(host, _)| host);
    }
    match address.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => address,
    }
}
