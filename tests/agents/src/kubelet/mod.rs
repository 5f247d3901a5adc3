//! What a Kubernetes cluster does with the operator's objects, in miniature: the controllers of stateful sets, deployments and
//! daemon sets, the binder of claims, and a kubelet that runs the fleet's agents.
//!
//! ```text
//! watches → seen → (after a while) workloads, claims, pods → API
//!                                                   └────→ the fleet: agents start and stop with their Pods
//! ```
//!
//! It is one task, and its chance comes from a seed: on a current-thread runtime with paused time a run can be repeated.

mod claims;
mod drivers;
mod objects;
mod pods;
mod seen;
mod statefulsets;
mod work;

use std::collections::BTreeSet;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use self::objects::{NODE, client};
use crate::Fleet;
use crate::state::Key;

/// How it goes about its work; can be changed while it runs.
#[derive(Clone, Debug)]
pub struct Knobs {
    /// The longest time between seeing something and doing what follows. How much of it passes is chance, so that things
    /// are done in another order than they were seen in.
    pub delay: Duration,
    /// How long a Pod takes to end when its agent has been told.
    pub grace: Duration,
    /// After how long a container that ended is started again.
    pub restart: Duration,
    /// Members whose Pods never become ready, as (namespace, member).
    pub never_ready: BTreeSet<Key>,
    /// Members whose Pods are never started: no node has room.
    pub never_scheduled: BTreeSet<Key>,
    /// Whether claims that are bound stay as large as they are.
    pub claims_stay: bool,
    /// Drivers that are never rolled out, as (namespace, name).
    pub never_rolled_out: BTreeSet<Key>,
    /// Whether it does anything at all.
    pub stopped: bool,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(20),
            grace: Duration::from_millis(200),
            restart: Duration::from_secs(1),
            never_ready: BTreeSet::new(),
            never_scheduled: BTreeSet::new(),
            claims_stay: false,
            never_rolled_out: BTreeSet::new(),
            stopped: false,
        }
    }
}

/// What of a Kubernetes cluster it plays, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Only the kubelet and the binder of claims: somebody else's controllers make Pods of workloads.
    pub only_kubelet: bool,
    /// Nobody else removes the Pod of a stateful set that is gone: there is no garbage collector.
    pub collects: bool,
}

/// A Kubernetes cluster in miniature. Dropped, it stops; the fleet's agents run on.
pub struct Kubelet {
    knobs: watch::Sender<Knobs>,
    task: JoinHandle<()>,
}

impl Kubelet {
    /// Begins to work on the objects that this client sees.
    pub fn start(client: Client, fleet: Fleet, knobs: Knobs, seed: u64) -> Self {
        Self::part(client, fleet, knobs, seed, Part::default())
    }

    /// The same for a part of it.
    pub fn part(client: Client, fleet: Fleet, knobs: Knobs, seed: u64, part: Part) -> Self {
        let (knobs, turned) = watch::channel(knobs);
        let task = tokio::spawn(work::run(client, fleet, turned, seed, part));
        Self { knobs, task }
    }

    /// Changes how it works. Everything is looked at again.
    pub fn turn(&self, change: impl FnOnce(&mut Knobs)) {
        self.knobs.send_modify(change);
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.task.abort();
    }
}
