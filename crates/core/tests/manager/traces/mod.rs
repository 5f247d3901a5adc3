//! The traces that broke earlier wordings of the rules, each by its name, and those that the histories added.
//!
//! A trace is played as it was found; it ends where the rule that stops it must have stopped it. That nothing
//! acknowledged is lost, and that there is one primary, is checked by the world itself at every step.

mod accounting;
mod found;
mod membership;
mod people;
mod terms;

use std::collections::BTreeSet;

use muster_api::names::BlockedBy;
use muster_core::manager::fencing::FenceKind;
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::Term;

use super::world::{Message, World};

pub(super) const PERSON: FenceKind = FenceKind::Person;

/// A formed cluster with `a` as its primary.
fn formed(members: usize, copies: Copies) -> World {
    let mut world = World::new(members, copies);
    world.settle(&BTreeSet::new());
    world
}

impl World {
    fn log(&self, name: &str) -> &[u64] {
        &self.nodes[name].volume.log
    }

    fn last(&self, leader: usize) -> &muster_core::manager::decide::Decision {
        self.leaders[leader].last.as_ref().expect("this leader has decided")
    }

    fn blocked_by(&self, leader: usize) -> Option<BlockedBy> {
        self.last(leader).blocked.as_ref().map(|obstacle| obstacle.by)
    }

    fn orders(&self, leader: usize) -> Vec<(&str, &str)> {
        self.last(leader).orders.iter().map(|order| (order.member.as_str(), order.action.word())).collect()
    }

    fn deliver_all(&mut self) {
        while !self.messages.is_empty() {
            self.deliver(0, false);
        }
    }

    /// Everyone is asked and answers; nothing is decided.
    fn hear(&mut self, leader: usize) {
        self.poll_all(leader);
        self.deliver_all();
    }

    /// The leader decides, and its commands arrive; their answers do not.
    fn command(&mut self, leader: usize) {
        self.lead(leader);
        let (commands, others): (Vec<Message>, Vec<Message>) =
            self.messages.drain(..).partition(|message| matches!(message, Message::Command { .. }));
        self.messages = commands;
        for _ in 0..self.messages.len() {
            self.deliver(0, false);
        }
        self.messages = others;
    }

    /// Asks, hears and decides until an election is ordered, and lets the order arrive.
    fn elect(&mut self, leader: usize) -> String {
        for _ in 0..8 {
            self.hear(leader);
            self.command(leader);
            let elected = self.last(leader).orders.iter().find(|order| order.action.begins_term());
            if let Some(order) = elected {
                return order.member.clone();
            }
        }
        panic!("nobody was elected: {:?}", self.leaders[leader].last);
    }

    fn terms_of(&self, name: &str) -> Option<Term> {
        self.nodes[name].volume.terms.current()
    }
}
