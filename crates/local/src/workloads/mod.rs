//! What Kubernetes' controller manager does for workloads: `StatefulSets`, Deployments and their `ReplicaSets`, as the real one does.
//!
//! ```text
//! StatefulSet ─▶ ControllerRevisions, claims, Pods
//! Deployment ─▶ ReplicaSets ─▶ Pods
//! ```
//!
//! Every pass reads what it decides on from the API server, not from a cache: a Pod that was made a moment ago is not made twice.
//! Left out: claims are never deleted with a scale-down (`persistentVolumeClaimRetentionPolicy`), and a Pod that no longer fits its
//! owner's selector keeps its owner.

mod deployments;
pub(crate) mod hash;
pub(crate) mod ownership;
pub(crate) mod pods;
mod replica_sets;
mod stateful;

use kube::Client;

/// Keeps all workloads until dropped. Not beside a real controller manager: it does the same.
pub async fn run(client: Client) {
    tokio::join!(stateful::run(client.clone()), replica_sets::run(client.clone()), deployments::run(client),);
}
