//! Decide and apply: a Member's claim, certificate and workload, only where something differs.

use muster_core::build::stateful_set::{self, Presence};
use muster_core::build::{claim, names};

use super::observe::Seen;
use super::pod;
use crate::child::{Child, Put};
use crate::cluster::apply::ApplyError;
use crate::context::Context;
use crate::memory::{Shared, lock};

/// What a Member wants to be there.
#[derive(Default)]
pub(super) struct Wants {
    /// Its objects.
    pub children: Vec<Child>,
    /// A change that is held while clustering is stopped, in words.
    pub held: Option<String>,
    /// Why its workload cannot be said.
    pub unobserved: Option<String>,
}

/// What applying led to.
#[derive(Default)]
pub(super) struct Outcome {
    /// An object under a wanted name that belongs to someone else.
    pub taken: Option<String>,
    /// Whether a name is not free yet.
    pub waits: bool,
    /// What went wrong; everything else was applied all the same.
    pub errors: Vec<ApplyError>,
}

impl Outcome {
    /// Whether all that was wanted is so.
    pub(super) fn is_whole(&self) -> bool {
        self.taken.is_none() && !self.waits && self.errors.is_empty()
    }
}

/// Says what is wanted; `parked` is what the pass of its cluster decided, if there was one.
pub(super) fn want(seen: &Seen, parked: Option<bool>) -> Wants {
    let mut wants = Wants::default();
    let live = seen.claim(&names::claim(&seen.name.name));
    wants.children.extend(claim::of_member(&seen.member, live.map(AsRef::as_ref)).map(Child::from));
    if seen.member.spec.external.is_some() {
        return wants;
    }
    let config = match &seen.config {
        Ok(config) => config,
        Err(why) => {
            wants.unobserved = Some(why.clone());
            return wants;
        }
    };
    match stateful_set::of_member(&seen.member, config, presence(seen, parked)) {
        Ok(set) => wants.set(seen, set.into()),
        Err(error) => wants.unobserved = Some(error.to_string()),
    }
    wants
}

impl Wants {
    /// While nobody could start it again, a workload that runs is not changed.
    fn set(&mut self, seen: &Seen, set: Child) {
        let runs = seen.set.is_some() && seen.pod.is_some();
        if seen.pause.clustering && runs && !same_template(seen, &set) {
            self.held = Some(format!("the workload of {} is to change", seen.name.name));
            return;
        }
        self.children.push(set);
    }
}

/// Whether a workload would go on as it is.
fn same_template(seen: &Seen, wanted: &Child) -> bool {
    let Some(live) = &seen.set else { return false };
    let found = serde_json::to_value(live.as_ref()).unwrap_or_default();
    muster_core::drift::differs(&wanted.desired, &found, muster_api::names::FIELD_MANAGER).is_none()
}

/// Whether its Pod is to be there. A parked cluster's workloads go to 0 once everything has stopped, and stay there. What the
/// spec of its cluster says is not asked: it may be invalid, or not be applied yet.
fn presence(seen: &Seen, parked: Option<bool>) -> Presence {
    let at_zero = seen.set.as_ref().and_then(|set| set.spec.as_ref()?.replicas) == Some(0);
    let rests = match parked.filter(|_| !seen.cluster_goes()) {
        Some(parked) => parked && (seen.view.parked || at_zero),
        // Nobody has decided yet, or it goes with its cluster: it stays as it is.
        None => at_zero,
    };
    if rests { Presence::Parked } else { Presence::Running }
}

/// Puts everything in place.
pub(super) async fn apply(context: &Context, seen: &Seen, wants: &Wants, memory: &Shared) -> Outcome {
    let mut outcome = Outcome::default();
    let uid = seen.member.metadata.uid.clone().unwrap_or_default();
    for child in &wants.children {
        match child.put(context, &seen.of).await {
            Ok(Put::There(applied)) => {
                lock(memory).member(&seen.name.name, &uid).children.insert(child.id(), applied);
            }
            Ok(Put::Taken(why)) => {
                // Nothing of it may be used: a workload that needs a claim waits until it has its own.
                outcome.taken = Some(format!("{} ({why})", child.words()));
                break;
            }
            Ok(Put::NotYet) => {
                outcome.waits = true;
                break;
            }
            Err(error) => {
                // What an earlier spec made of it says nothing about this one.
                lock(memory).member(&seen.name.name, &uid).children.remove(&child.id());
                outcome.errors.push(ApplyError::Call { what: child.words(), error });
            }
        }
    }
    if outcome.is_whole() {
        match pod::keep_labels(context, seen).await {
            Ok(taken) => outcome.taken = taken,
            Err(error) => {
                outcome.errors.push(ApplyError::Call { what: "the labels of its Pod".to_owned(), error });
            }
        }
    }
    outcome
}
