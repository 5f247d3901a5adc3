//! All that a cluster's status may be made of. The stored status is not among it.

use std::collections::{BTreeMap, BTreeSet};

use muster_api::cluster::{LastRequest, Recovery};
use muster_api::member::DesiredState;
use muster_api::names::Reason;

use super::view::{Picture, View};
use crate::conditions::{self, Finding, Truth};
use crate::generation::Gate;
use crate::manager::decide::Rule;
use crate::pause::{self, Manager, Pause, Stopped};
use crate::scaling::{Advice, Published, Stage};
use crate::validation::Report;

/// A verdict together with the generation of the spec that it is about: it says nothing about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged<T> {
    /// The generation of the spec.
    pub generation: i64,
    /// What was found.
    pub verdict: T,
}

impl<T> Judged<T> {
    /// The verdict, if it is about this generation. No generation, no verdict.
    pub fn at(&self, generation: Option<i64>) -> Option<&T> {
        (Some(self.generation) == generation).then_some(&self.verdict)
    }
}

/// The object itself, without its status.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// Its name.
    pub name: &'a str,
    /// `metadata.generation`.
    pub generation: i64,
    /// Whether `deletionTimestamp` is set.
    pub deleting: bool,
    /// Its annotations.
    pub annotations: Option<&'a BTreeMap<String, String>>,
}

/// What the manager does, and what it sees.
#[derive(Clone, Copy, Debug)]
pub struct Clustering<'a> {
    /// What it does.
    pub manager: &'a Manager,
    /// What it sees. Absent while there is none, and while it starts and has not heard everyone it expects.
    pub view: Option<View<'a>>,
    /// Whom a starting manager has not heard yet.
    pub unheard: &'a [String],
    /// The members to whom clients that write are sent: those whose Pod carries the role, and external ones, which have no Pod.
    pub reached: &'a BTreeSet<String>,
    /// Changes that are held because no manager could start a member again, in words.
    pub held: &'a [String],
}

/// What the gates on a Member's stored status say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGates {
    /// Its `StorageReady`, at what was applied to it.
    pub storage: Gate,
    /// Its `WorkloadReady`, at what was applied to it.
    pub workload: Gate,
    /// Its Ready, at what was applied to it.
    pub ready: Gate,
}

/// What the Member's controller has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberTruths {
    /// Its `StorageReady`.
    pub storage: Truth,
    /// Its `WorkloadReady`.
    pub workload: Truth,
    /// Its Ready.
    pub ready: Truth,
}

impl MemberTruths {
    /// What is left of them once a look has failed: what was so may have changed since, and what was not so has not been seen to be.
    #[must_use]
    pub fn in_doubt(self) -> Self {
        let doubt = |truth| if truth == Truth::True { Truth::Unknown } else { truth };
        Self { storage: doubt(self.storage), workload: doubt(self.workload), ready: doubt(self.ready) }
    }
}

/// A Member as its cluster sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSeen {
    /// Its name.
    pub name: String,
    /// The pool it names.
    pub pool: String,
    /// Its zone.
    pub zone: Option<String>,
    /// Whether it was made from the pool, not by hand.
    pub from_pool: bool,
    /// How far it has come.
    pub stage: Stage,
    /// What its administrator wants of it.
    pub state: DesiredState,
    /// What its stored status says.
    pub stored: StoredGates,
    /// What is known in memory. A Member counts only where both agree.
    pub known: MemberTruths,
    /// Whether its spec is what this cluster's spec builds.
    pub spec_current: bool,
    /// The version it runs, where its workload is ready.
    pub version: Option<String>,
    /// Whether its workload is at 0 and has no Pod left; true of an external member whose application is stopped.
    pub at_zero: bool,
    /// Why its `leave` failed, if it did.
    pub leave_failed: Option<String>,
    /// The size of its storage in bytes.
    pub capacity: Option<u128>,
}

impl MemberSeen {
    /// Whether its storage counts as ready.
    pub fn storage(&self) -> Gate {
        agreed(&self.stored.storage, self.known.storage, "storage is")
    }

    /// Whether its workload counts as ready.
    pub fn workload(&self) -> Gate {
        agreed(&self.stored.workload, self.known.workload, "workload is")
    }

    /// Whether it counts as Ready.
    pub fn ready(&self) -> Gate {
        agreed(&self.stored.ready, self.known.ready, "status is Ready, but it is")
    }
}

/// A stored Ready counts only where memory says the same.
fn agreed(stored: &Gate, known: Truth, what: &str) -> Gate {
    match (stored, known) {
        (Gate::Ready, Truth::True) => Gate::Ready,
        (Gate::Ready, Truth::False | Truth::Unknown) => {
            Gate::NotYet { reason: format!("{what} not ready by what is known now") }
        }
        (other, _) => other.clone(),
    }
}

/// A pool of the spec, beside the advice for it.
#[derive(Clone, Copy, Debug)]
pub struct PoolSeen<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its zone, if it has one.
    pub zone: Option<&'a str>,
    /// Its free storage as it is to be shown.
    pub free: Option<Published>,
}

/// How the cluster is sized.
#[derive(Clone, Copy, Debug)]
pub struct Sizing<'a> {
    /// What pool sizing advises.
    pub advice: &'a Advice,
    /// The pools, in the order of the spec and of the advice.
    pub pools: &'a [PoolSeen<'a>],
}

/// What the engine and the spec say about the software.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineFacts<'a> {
    /// The port that clients use.
    pub client_port: Option<i32>,
    /// The version that the spec asks for.
    pub target_version: Option<&'a str>,
    /// The generation of the ReplicationEngine that was applied.
    pub generation: Option<i64>,
}

/// The Service that clients use, as it was found.
#[derive(Clone, Copy, Debug)]
pub struct ServiceSeen<'a> {
    /// Its name.
    pub name: &'a str,
    /// The host by which clients reach the primary.
    pub host: Option<&'a str>,
    /// The port there.
    pub port: i32,
}

/// How a change goes through the members.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rollout<'a> {
    /// The member that is being changed now.
    pub current: Option<&'a str>,
    /// What it waits for that will not come by itself, in words.
    pub blocked: Option<&'a str>,
}

/// Everything that was observed of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClusterInputs<'a> {
    /// The object.
    pub object: Object<'a>,
    /// What the checks of the spec found.
    pub spec: Option<Judged<&'a Report>>,
    /// How the pools are sized.
    pub sizing: Option<Judged<Sizing<'a>>>,
    /// Every Member of the cluster.
    pub members: &'a [MemberSeen],
    /// The drivers, by name.
    pub drivers: &'a [(String, Gate)],
    /// Objects under wanted names that belong to someone else.
    pub name_taken: &'a [String],
    /// What the API server refuses to have, and why, in words.
    pub refused: &'a [String],
    /// What could not be observed, and why, in words.
    pub unobserved: &'a [String],
    /// What is not as this spec builds it, and will be when it was tried again, in words.
    pub unapplied: &'a [String],
    /// The manager.
    pub clustering: Clustering<'a>,
    /// Set once reconciliation has really stopped.
    pub reconciliation_stopped: Option<&'a Stopped>,
    /// Whether the cluster was formed once.
    pub formed: bool,
    /// The last generation this process applied; none after a restart.
    pub applied: Option<i64>,
    /// Whether the live children equal what this spec builds.
    pub children_equal: bool,
    /// The engine.
    pub engine: EngineFacts<'a>,
    /// The client Service.
    pub service: Option<ServiceSeen<'a>>,
    /// The rollout.
    pub rollout: Rollout<'a>,
    /// The last request, if this process saw one.
    pub last_request: Option<&'a LastRequest>,
    /// `status.recovery` as this process last assembled it, so that figures that only move are not restated.
    pub shown_recovery: Option<&'a Recovery>,
}

impl<'a> ClusterInputs<'a> {
    /// What a person asked to be stopped.
    pub fn pause(&self) -> Pause {
        Pause::from_annotations(self.object.annotations)
    }

    /// The generation that verdicts must be about to count; none when only the stored status could tell it.
    pub fn basis(&self) -> Option<i64> {
        match (self.pause().reconciliation, self.applied) {
            (false, _) => Some(self.object.generation),
            (true, Some(applied)) => Some(applied),
            (true, None) => self.children_equal.then_some(self.object.generation),
        }
    }

    /// The sizing, if it is about the generation that counts.
    pub fn sizing(&self) -> Option<&Sizing<'a>> {
        self.sizing.as_ref()?.at(self.basis())
    }

    /// Whether all pools are at 0.
    pub fn parked(&self) -> bool {
        self.sizing().is_some_and(|sizing| sizing.advice.parked)
    }

    /// Whether nobody looks, because a person asked for it.
    pub fn clustering_is_stopped(&self) -> bool {
        pause::clustering_is_stopped(self.pause(), self.clustering.manager)
    }

    /// What the manager sees, or why nothing is known.
    pub fn looking(&self) -> Result<Picture<'a>, Finding> {
        self.clustering.looking(self.pause())
    }
}

impl<'a> Clustering<'a> {
    /// What the manager sees, or why nothing is known. For a cluster and all its Members it is found out once.
    pub fn looking(&self, pause: Pause) -> Result<Picture<'a>, Finding> {
        if pause::clustering_is_stopped(pause, self.manager) {
            let text = "clustering is stopped, so nobody is looking";
            return Err(Finding::unknown(Reason::ClusteringStopped, text));
        }
        let starting = matches!(self.manager, Manager::Starting);
        let Some(view) = self.view.filter(|_| !starting) else {
            let text = match self.unheard {
                [] => "the manager is starting".to_owned(),
                unheard => format!("the manager is starting and waits for {}", conditions::names(unheard)),
            };
            return Err(Finding::unknown(Reason::Starting, text));
        };
        if view.decision.rule == Rule::Outranked {
            let text = "the agents follow another operator; this one knows nothing";
            return Err(Finding::unknown(Reason::NotObserved, text));
        }
        Ok(Picture::new(view))
    }
}
