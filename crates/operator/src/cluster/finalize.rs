//! The end of a cluster: everything stops, then its Members go, then what retention says, then the finalizer.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_api::common::Retention;
use muster_api::names::{FINALIZER_CLUSTER, LABEL_CLUSTER};
use muster_api::{Member, ReplicatedCluster};
use muster_core::build::config::MemberConfig;
use muster_core::build::names;
use serde_json::json;

use super::observe::Seen;
use crate::context::Context;
use crate::door::CallError;

/// How long a cluster that is deleted waits for its applications to stop in order. After that the grace period of its Pods
/// stops them.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Adds our finalizer, before anything is made that it has to look after.
pub async fn hold(context: &Context, cluster: &ReplicatedCluster, seen: &Seen) -> Result<bool, CallError> {
    if seen.deleting() || cluster.finalizers().iter().any(|one| one == FINALIZER_CLUSTER) {
        return Ok(false);
    }
    let mut finalizers = cluster.finalizers().to_vec();
    finalizers.push(FINALIZER_CLUSTER.to_owned());
    let patch = json!({"metadata": {
        "resourceVersion": cluster.resource_version(), "finalizers": finalizers,
    }});
    context.door.merge::<ReplicatedCluster>(&seen.name, &seen.name, &patch).await?;
    Ok(true)
}

/// Whether everything has stopped, or was waited for long enough.
pub fn has_stopped(seen: &Seen) -> bool {
    let since = seen.cluster.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    let patience = SignedDuration::try_from(PATIENCE).unwrap_or(SignedDuration::ZERO);
    let waited = since.is_some_and(|since| seen.now.duration_since(since) >= patience);
    seen.view.parked || seen.pause.clustering || waited
}

/// Takes the next step. True: the cluster is gone.
pub async fn finalize(context: &Context, seen: &Seen, can_manage: bool) -> Result<bool, CallError> {
    if !seen.cluster.finalizers().iter().any(|one| one == FINALIZER_CLUSTER) {
        return Ok(true);
    }
    if can_manage && !seen.members.is_empty() && !has_stopped(seen) {
        return Ok(false);
    }
    let (ours, by_hand): (Vec<_>, Vec<_>) =
        seen.members.iter().partition(|member| names::ordinal(member).is_some());
    for member in &ours {
        if member.metadata.deletion_timestamp.is_none() {
            context.door.delete::<Member>(&seen.name, member).await?;
        }
    }
    // What a person made goes when a person deletes it; its workload is stopped with the cluster.
    if !ours.is_empty() || by_hand.iter().any(|member| member.metadata.deletion_timestamp.is_some()) {
        return Ok(false);
    }
    delete_accounts(context, seen).await?;
    let finalizers: Vec<&String> =
        seen.cluster.finalizers().iter().filter(|one| *one != FINALIZER_CLUSTER).collect();
    let patch = json!({"metadata": {
        "resourceVersion": seen.cluster.resource_version(), "finalizers": finalizers,
    }});
    context.door.merge::<ReplicatedCluster>(&seen.name, &seen.name, &patch).await?;
    Ok(true)
}

/// Accounts are kept with the data: they go only where every pool's data goes.
async fn delete_accounts(context: &Context, seen: &Seen) -> Result<(), CallError> {
    let pools = &seen.cluster.spec.pools;
    if !pools.iter().all(|pool| pool.storage.retention == Retention::Delete) {
        return Ok(());
    }
    for account in accounts(context, seen) {
        let name = seen.name.beside(names::account_secret(&seen.name.name, &account));
        // Nobody comes back for one that cannot be read now.
        let Some(secret) = context.door.read::<Secret>(&name).await? else { continue };
        let ours = secret.labels().get(LABEL_CLUSTER) == Some(&seen.name.name);
        if ours {
            context.door.delete_uncached::<Secret>(&secret).await?;
        }
    }
    Ok(())
}

/// The accounts that were made for this cluster: those of its engine, which may be gone, and those that members ran with.
fn accounts(context: &Context, seen: &Seen) -> BTreeSet<String> {
    let of_engine = seen.engine.iter().flat_map(|engine| &engine.spec.secrets);
    let mut accounts: BTreeSet<String> = of_engine.map(|account| account.name.clone()).collect();
    for config in context.caches.config_maps.of_cluster(&seen.name) {
        let ours = config.owner_references().iter().any(|owner| owner.uid == seen.uid);
        if let Ok(config) = MemberConfig::read(&config)
            && ours
        {
            accounts.extend(config.secrets);
        }
    }
    accounts
}
