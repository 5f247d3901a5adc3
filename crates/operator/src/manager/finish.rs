//! How a manager stops when a person asks for it: what it began is ended or named, and who serves is left to its clients.

use std::collections::BTreeMap;
use std::time::Duration;

use muster_api::names::Role;
use muster_core::conditions::names;
use muster_core::manager::decide::decide;
use muster_core::manager::endpoints::endpoints;
use muster_core::manager::observed::{Seen, serves_as_primary};
use muster_core::pause::Manager;
use tokio::time::Instant;

use super::facts::Surroundings;
use super::task::Task;

/// How long a manager that is to stop waits for the answers to what it sent, and for what it has to write.
pub const STOP_LIMIT: Duration = Duration::from_secs(30);

impl Task {
    /// Stops: sends nothing any more, and waits for the answers to what it sent. False: it has to end before it is done.
    pub(super) async fn finish(&mut self) -> bool {
        self.ears.requests.close();
        let until = Instant::now() + STOP_LIMIT;
        while let Some(waiting_for) = self.settle().filter(|_| Instant::now() < until) {
            let stopping = Manager::Stopping { waiting_for };
            if self.next.manager != stopping {
                self.next.manager = stopping;
                self.touched.insert(String::new());
            }
            self.tell();
            let wake = self.writes.retry_at().unwrap_or(until).min(until);
            let mut epochs = self.context.door.authority().epochs();
            tokio::select! {
                biased;
                _ = epochs.wait_for(|epoch| *epoch != Some(self.work.epoch())) => return false,
                _ = self.ears.stop.changed() => return false,
                event = self.streams.events().next() => drop(self.hear(event)),
                Some(sent) = self.sent.join_next() => self.note(sent.ok()),
                Some(done) = self.writes.next() => self.note_write(done),
                () = self.ears.changed.notified() => {}
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        let unfinished = self.unfinished();
        self.end_requests();
        let members: Vec<String> = self.observed.members.keys().cloned().collect();
        self.touched.extend(members);
        self.touched.insert(String::new());
        self.next = self.next.clone().stopped(unfinished);
        self.lines.clear();
        self.context.metrics.forget_members(&self.cluster);
        self.tell();
        true
    }

    /// Gives every member the role by which it is reached while nobody manages it; what that, and all else, still waits for.
    ///
    /// A primary is withdrawn from its clients before it is told to step down. One that was not told any more serves on, and
    /// without its role nobody would be sent to it for as long as the pause lasts.
    fn settle(&mut self) -> Option<String> {
        let surroundings = Surroundings::of(&self.context.caches, &self.cluster);
        if let Some(roles) = self.roles() {
            self.writes.label(&self.context, &self.cluster, &surroundings, &roles);
        }
        let owing = self.owing();
        if !owing.is_empty() {
            return Some(names(&owing));
        }
        // One whose Pod goes, or is not seen, cannot be given a role.
        let stays = |member: &String| {
            surroundings.pods.get(member).is_some_and(|pod| pod.metadata.deletion_timestamp.is_none())
        };
        let cut_off: Vec<String> = self.cut_off(&surroundings).into_iter().filter(stays).collect();
        if !cut_off.is_empty() {
            return Some(format!("clients to be sent to {} again", names(&cut_off)));
        }
        self.writes.is_busy().then(|| "its last writes".to_owned())
    }

    /// The role of each member when nobody is told anything any more; none while nothing was decided yet.
    fn roles(&self) -> Option<BTreeMap<String, Role>> {
        let sight = self.next.sight.as_ref()?;
        let mut decision = decide(&self.observed, &sight.wanted, self.now());
        decision.orders.clear();
        Some(endpoints(&self.observed, &decision))
    }

    /// The members that serve writes and to whom clients are not sent.
    fn cut_off(&self, surroundings: &Surroundings) -> Vec<String> {
        let reached = self.writes.reached(surroundings);
        let primary = |(member, role): (String, Role)| (role == Role::Primary).then_some(member);
        let primaries = self.roles().unwrap_or_default().into_iter().filter_map(primary);
        primaries.filter(|member| !reached.contains(member)).collect()
    }

    /// The members that owe an answer.
    fn owing(&self) -> Vec<String> {
        let owes = |seen: &Seen| seen.connected && seen.pending.is_some();
        let members = self.observed.members.iter();
        members.filter(|(_, seen)| owes(seen)).map(|(name, _)| name.clone()).collect()
    }

    /// What a stop leaves unfinished, in words.
    fn unfinished(&self) -> Option<String> {
        let mut said = Vec::new();
        let owing = self.owing();
        if !owing.is_empty() {
            said.push(format!("{} did not answer", names(&owing)));
        }
        let sight = self.next.sight.as_ref()?;
        let served = self.observed.reporting().any(|(_, report)| serves_as_primary(report));
        if !served && !sight.wanted.parked && self.observed.has_served {
            said.push("no primary".to_owned());
        }
        let cut_off = self.cut_off(&Surroundings::of(&self.context.caches, &self.cluster));
        if !cut_off.is_empty() {
            said.push(format!("{} can serve, and clients are not sent there", names(&cut_off)));
        }
        if self.observed.directive.is_some() {
            said.push("a request was under way".to_owned());
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}
