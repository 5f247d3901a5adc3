//! The Pods that have no node yet: when they are tried. Each is when it is new or changed, all of them are when the Node or a claim
//! changes, and after a while all the same: a call may have failed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, PersistentVolumeClaim, Pod};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, watcher};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;

use super::scheduling;
use crate::control::{Error, bounded};

/// After how long those that still wait are tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// The Pods that wait, by their uids.
pub(super) struct Waiting(watch::Sender<BTreeMap<String, Arc<Pod>>>);

impl Waiting {
    /// Nobody; and what tries those who come, for as long as it is polled.
    pub(super) fn new(client: Client, node: String) -> (Self, impl Future<Output = ()> + Send) {
        let (all, heard) = watch::channel(BTreeMap::new());
        (Self(all), keep_trying(client, node, heard))
    }

    /// This one waits, as it is now.
    pub(super) fn add(&self, pod: Pod) {
        self.0.send_modify(|all| drop(all.insert(pod.uid().unwrap_or_default(), Arc::new(pod))));
    }

    /// This one does not wait any more.
    pub(super) fn remove(&self, uid: &str) {
        self.0.send_if_modified(|all| all.remove(uid).is_some());
    }

    /// Only those wait of whom this is true.
    pub(super) fn retain(&self, test: impl Fn(&str) -> bool) {
        self.0.send_modify(|all| all.retain(|uid, _| test(uid)));
    }
}

async fn keep_trying(client: Client, node: String, mut waiting: watch::Receiver<BTreeMap<String, Arc<Pod>>>) {
    let nodes: Api<Node> = Api::all(client.clone());
    let only = watcher::Config::default().fields(&format!("metadata.name={node}"));
    let mut node_events = watcher(nodes.clone(), only).default_backoff().boxed();
    let claims: Api<PartialObjectMeta<PersistentVolumeClaim>> = Api::all(client.clone());
    let mut claim_events = watcher(claims, watcher::Config::default()).default_backoff().boxed();
    loop {
        let pods: Vec<Arc<Pod>> = waiting.borrow_and_update().values().cloned().collect();
        if !pods.is_empty()
            && let Err(error) = try_all(&client, &nodes, &node, &pods).await
        {
            tracing::warn!(%error, "Pods wait for this node, which cannot be read");
        }
        tokio::select! {
            changed = waiting.changed() => if changed.is_err() { return },
            // What it says is read again; also what breaks off may have been a change.
            Some(_) = node_events.next() => {}
            Some(_) = claim_events.next() => {}
            () = tokio::time::sleep(AGAIN), if !pods.is_empty() => {}
        }
    }
}

async fn try_all(client: &Client, nodes: &Api<Node>, node: &str, pods: &[Arc<Pod>]) -> Result<(), Error> {
    let Some(node) = bounded(nodes.get_opt(node)).await? else { return Ok(()) };
    for pod in pods {
        if let Err(error) = scheduling::schedule(client, pod, &node).await {
            tracing::warn!(pod = %pod.name_any(), %error, "a Pod could not be given a node");
        }
    }
    Ok(())
}
