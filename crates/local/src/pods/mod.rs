//! What a kubelet does, with plain processes: the Pods of this node are started, watched over, reported on and ended.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | which Pods are ours; one keeper for each |
//! | `waiting.rs`, `scheduling.rs` | Pods that have no node yet get this one, if they fit it |
//! | `keeper.rs`, `containers.rs` | the life of one Pod and of its containers |
//! | `state.rs` | what a Pod's status says |
//! | `sources.rs`, `volumes.rs`, `environment.rs`, `paths.rs`, `order.rs` | what a container sees |
//! | `spawner.rs`, `logs.rs`, `probes.rs` | its process, what it says, and how it is |
//! | `left.rs` | what of its processes is left when it, or the node, has ended |

mod addresses;
mod containers;
mod environment;
mod keeper;
mod left;
mod logs;
mod order;
mod paths;
mod probes;
mod scheduling;
mod sources;
mod spawner;
mod state;
mod trial;
mod volumes;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{PersistentVolume, Pod};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::addresses::Addresses;
use self::keeper::{Keeper, Wish};
pub use self::spawner::Launcher;
use self::spawner::Spawner;
pub use self::trial::isolation;
use self::waiting::Waiting;
use crate::logs::Growing;

/// How containers are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Each has a mount and a process namespace of its own; needs root.
    Namespaces,
    /// They are plain processes, and paths at which something is mounted are translated in what they are told.
    Paths,
}

/// What a node is made of.
pub struct Options {
    /// How the API server is called.
    pub client: Client,
    /// The node's name.
    pub node: String,
    /// Where Pods have their volumes and logs.
    pub directory: PathBuf,
    /// Where Muster's own programs are; first in every container's `PATH`.
    pub programs: PathBuf,
    /// How a sandbox is started.
    pub launcher: Launcher,
    /// How containers are kept apart.
    pub isolation: Isolation,
    /// Where a volume is on this machine, if it is here.
    pub directory_of: fn(&PersistentVolume) -> Option<PathBuf>,
    /// Whether Pods without a node are given this one: where there is no scheduler.
    pub schedules: bool,
    /// Which logs are being written.
    pub growing: Growing,
}

/// What all keepers share.
struct Around {
    client: Client,
    place: PathBuf,
    programs: PathBuf,
    spawner: Spawner,
    isolation: Isolation,
    directory_of: fn(&PersistentVolume) -> Option<PathBuf>,
    growing: Growing,
}

struct Kept {
    wish: watch::Sender<Wish>,
    address: String,
}

/// The Pods of this node.
struct Pods {
    around: Arc<Around>,
    node: String,
    /// Those without a node, if it is ours to give them one.
    waiting: Option<Waiting>,
    kept: BTreeMap<String, Kept>,
    keepers: JoinSet<String>,
    addresses: Addresses,
}

/// Where the Pods of a node have their directories, below its own.
pub(crate) fn place(directory: &Path) -> PathBuf {
    directory.join("pods")
}

/// Keeps the Pods of this node until `stop` says so; then their containers are ended, and the Pods stay for the next start.
pub async fn run(options: Options, mut stop: watch::Receiver<bool>) {
    let Some(addresses) = Addresses::claim(&options.directory) else {
        tracing::error!("every network for Pods on this machine is taken by another node");
        return;
    };
    let around = Around {
        client: options.client.clone(),
        place: place(&options.directory),
        programs: options.programs,
        spawner: Spawner::new(options.launcher),
        isolation: options.isolation,
        directory_of: options.directory_of,
        growing: options.growing,
    };
    // Apart from the rest: whoever waits for the API server here holds up nobody. It ends when this does.
    let mut scheduler = JoinSet::new();
    let waiting = options.schedules.then(|| Waiting::new(options.client.clone(), options.node.clone()));
    let waiting = waiting.map(|(waiting, trying)| {
        scheduler.spawn(trying);
        waiting
    });
    let mut pods = Pods {
        around: Arc::new(around),
        node: options.node,
        waiting,
        kept: BTreeMap::new(),
        keepers: JoinSet::new(),
        addresses,
    };
    let api: Api<Pod> = Api::all(options.client.clone());
    let mut events = watcher(api, watcher::Config::default()).default_backoff().boxed();
    // What a list shows; what it does not show is gone.
    let mut listed = Vec::new();
    while !*stop.borrow() {
        tokio::select! {
            biased;
            changed = stop.changed() => if changed.is_err() { break },
            Some(ended) = pods.keepers.join_next(), if !pods.keepers.is_empty() => pods.ended(ended.ok()),
            Some(event) = events.next() => match event {
                Ok(Event::Init) => listed.clear(),
                Ok(Event::InitApply(pod)) => listed.push(pod),
                Ok(Event::InitDone) => pods.listed(std::mem::take(&mut listed)),
                Ok(Event::Apply(pod)) => pods.seen(pod),
                Ok(Event::Delete(pod)) => pods.gone(&pod.uid().unwrap_or_default()),
                Err(error) => tracing::warn!(%error, "the watch on Pods broke off and is opened again"),
            },
        }
    }
    // No new ones while the others end.
    drop(scheduler);
    pods.stop().await;
}

impl Pods {
    fn listed(&mut self, pods: Vec<Pod>) {
        let there: BTreeSet<String> = pods.iter().filter_map(kube::ResourceExt::uid).collect();
        let gone: Vec<String> = self.kept.keys().filter(|uid| !there.contains(*uid)).cloned().collect();
        for uid in gone {
            self.gone(&uid);
        }
        if let Some(waiting) = &self.waiting {
            waiting.retain(|uid| there.contains(uid));
        }
        // Those that have an address first: it stays theirs.
        let (with, without): (Vec<Pod>, Vec<Pod>) =
            pods.into_iter().partition(|pod| address_of(pod).is_some());
        for pod in with.into_iter().chain(without) {
            self.seen(pod);
        }
    }

    fn seen(&mut self, pod: Pod) {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        let waits = node.is_none() && pod.metadata.deletion_timestamp.is_none();
        let is_ours = node == Some(self.node.as_str());
        match &self.waiting {
            Some(waiting) if waits => return waiting.add(pod),
            Some(waiting) => waiting.remove(&pod.uid().unwrap_or_default()),
            None => {}
        }
        if is_ours {
            self.keep(pod);
        }
    }

    fn keep(&mut self, pod: Pod) {
        let uid = pod.uid().unwrap_or_default();
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let over = matches!(phase, Some("Succeeded" | "Failed"));
        let pod = Arc::new(pod);
        if let Some(kept) = self.kept.get(&uid) {
            kept.wish.send_replace(Wish::Keep(pod));
            return;
        }
        if over && pod.metadata.deletion_timestamp.is_none() {
            return;
        }
        let Some(address) = self.addresses.take(address_of(&pod)) else {
            tracing::error!(pod = %pod.name_any(), "there is no address left for it");
            return;
        };
        let around = Arc::clone(&self.around);
        let (wish, mut wishes) = watch::channel(Wish::Keep(Arc::clone(&pod)));
        self.kept.insert(uid.clone(), Kept { wish, address: address.clone() });
        self.keepers.spawn(async move {
            let left = around.place.join(&uid);
            // Before anything is said of it: that a container has ended is what others act on.
            let nothing_is_left = tokio::select! {
                biased;
                () = left::end_pod(&left) => true,
                () = keeper::node_stops(&mut wishes) => false,
            };
            if nothing_is_left {
                Keeper::new(around, pod, address).keep(wishes).await;
            }
            uid
        });
    }

    fn gone(&mut self, uid: &str) {
        if let Some(waiting) = &self.waiting {
            waiting.remove(uid);
        }
        if let Some(kept) = self.kept.get(uid) {
            kept.wish.send_replace(Wish::Gone);
        }
    }

    fn ended(&mut self, uid: Option<String>) {
        if let Some(kept) = uid.and_then(|uid| self.kept.remove(&uid)) {
            self.addresses.give_back(&kept.address);
        }
    }

    async fn stop(mut self) {
        for kept in self.kept.values() {
            kept.wish.send_replace(Wish::NodeStops);
        }
        while self.keepers.join_next().await.is_some() {}
    }
}

fn address_of(pod: &Pod) -> Option<String> {
    pod.status.as_ref().and_then(|status| status.pod_ip.clone())
}
