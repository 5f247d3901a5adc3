//! The end of a Member: decommissioned through the manager's gate, or stopped with its cluster; then what retention says.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use muster_api::Member;
use muster_api::common::Retention;
use muster_api::names::FINALIZER_MEMBER;
use serde_json::json;

use super::observe::Seen;
use super::pod::was_let_go;
use crate::context::Context;
use crate::door::CallError;

/// Whether nothing holds it any more: the manager let it go, or it is stopped with its cluster.
pub(super) fn may_go(seen: &Seen) -> bool {
    if seen.cluster.is_none() || !seen.member.finalizers().iter().any(|one| one == FINALIZER_MEMBER) {
        return true;
    }
    if seen.cluster_goes() {
        return seen.view.parked || seen.pause.clustering || !seen.managed || waited(seen);
    }
    !seen.pause.clustering && seen.view.released.contains(&seen.name.name)
}

fn waited(seen: &Seen) -> bool {
    let since = seen.member.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    let patience = jiff::SignedDuration::try_from(crate::cluster::finalize::PATIENCE).unwrap_or_default();
    since.is_some_and(|since| seen.now.duration_since(since) >= patience)
}

/// Takes the next step. True: it is gone.
pub(super) async fn finalize(context: &Context, seen: &Seen) -> Result<bool, CallError> {
    if !may_go(seen) {
        return Ok(false);
    }
    if let Some(set) = &seen.set {
        let ours =
            set.owner_references().iter().any(|owner| Some(&owner.uid) == seen.member.metadata.uid.as_ref());
        if ours && set.metadata.deletion_timestamp.is_none() {
            context.door.delete::<StatefulSet>(&seen.of, set).await?;
        }
        if ours {
            return Ok(false);
        }
    }
    if let Some(pod) = &seen.pod {
        // One that its StatefulSet let go of is not taken along by that.
        if pod.metadata.deletion_timestamp.is_none() && was_let_go(pod, &seen.name.name) {
            context.door.delete::<Pod>(&seen.of, pod).await?;
        }
        return Ok(false);
    }
    retain(context, seen).await?;
    let finalizers: Vec<&String> =
        seen.member.finalizers().iter().filter(|one| *one != FINALIZER_MEMBER).collect();
    if finalizers.len() < seen.member.finalizers().len() {
        let patch = json!({"metadata": {
            "resourceVersion": seen.member.resource_version(), "finalizers": finalizers,
        }});
        context.door.merge::<Member>(&seen.of, &seen.name, &patch).await?;
    }
    Ok(true)
}

/// Deletes the claims that Muster made and that are not to be kept.
async fn retain(context: &Context, seen: &Seen) -> Result<(), CallError> {
    for storage in &seen.member.spec.storage {
        let (Some(name), Some(claim)) = (&storage.pvc_name, &storage.claim) else { continue };
        let Some(live) = seen.claim(name) else { continue };
        if claim.retention == Retention::Delete && live.metadata.deletion_timestamp.is_none() {
            context.door.delete::<PersistentVolumeClaim>(&seen.of, live).await?;
        }
    }
    Ok(())
}
