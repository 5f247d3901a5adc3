//! Every status that anyone could have seen, in order.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use muster_api::ReplicatedCluster;
use tokio::task::JoinHandle;

/// What one version of a cluster said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The cluster.
    pub name: String,
    /// The version.
    pub version: u64,
    /// The spec's generation.
    pub generation: i64,
    /// The generation that status speaks of.
    pub observed: i64,
    /// What Ready was, and of which generation; "" while there was none.
    pub ready: (String, i64),
    /// And why.
    pub reason: String,
}

impl Said {
    fn of(cluster: &ReplicatedCluster) -> Self {
        let status = cluster.status.clone().unwrap_or_default();
        let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready");
        Self {
            name: cluster.name_any(),
            version: cluster.resource_version().and_then(|version| version.parse().ok()).unwrap_or(0),
            generation: cluster.metadata.generation.unwrap_or(0),
            observed: status.observed_generation.unwrap_or(0),
            ready: ready
                .map_or_else(Default::default, |it| (it.status.clone(), it.observed_generation.unwrap_or(0))),
            reason: ready.map(|it| format!("{}: {}", it.reason, it.message)).unwrap_or_default(),
        }
    }

    /// What a script takes for "live".
    pub fn is_live(&self) -> bool {
        self.ready == ("True".to_owned(), self.generation)
    }
}

/// The statuses of all clusters of a namespace.
pub struct History {
    said: Arc<Mutex<Vec<Said>>>,
    task: JoinHandle<()>,
}

impl History {
    /// Watches from now on.
    pub fn of(client: &Client, namespace: &str) -> Self {
        let said: Arc<Mutex<Vec<Said>>> = Arc::default();
        let (notes, api) = (said.clone(), Api::<ReplicatedCluster>::namespaced(client.clone(), namespace));
        let task = tokio::spawn(async move {
            let mut events = watcher(api, watcher::Config::default()).boxed();
            while let Some(event) = events.next().await {
                if let Ok(Event::Apply(cluster) | Event::InitApply(cluster)) = event {
                    notes.lock().unwrap_or_else(PoisonError::into_inner).push(Said::of(&cluster));
                }
            }
        });
        Self { said, task }
    }

    /// All so far.
    pub fn said(&self) -> Vec<Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where a status went back: a generation that was observed is not any more, or a spec that was live is not, though
    /// nobody changed it.
    pub fn flips(&self) -> Vec<String> {
        let said = self.said();
        let mut flips = Vec::new();
        for (at, now) in said.iter().enumerate() {
            let Some(before) = said[..at].iter().rev().find(|before| before.name == now.name) else {
                continue;
            };
            if now.observed < before.observed {
                flips.push(format!("observedGeneration went back: {before:?} then {now:?}"));
            }
            if before.is_live() && before.generation == now.generation && !now.is_live() {
                flips.push(format!("Ready went back: {before:?} then {now:?}"));
            }
        }
        flips
    }
}

impl Drop for History {
    fn drop(&mut self) {
        self.task.abort();
    }
}
