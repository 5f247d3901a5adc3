//! A pass: what it may fail with, and the guard that it never runs on caches older than our own writes.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use muster_api::{Member, ReplicatedCluster};

use crate::cache::{Cached, Freshness};
use crate::cluster::apply::ApplyError;
use crate::context::Context;
use crate::credentials::CredentialError;
use crate::door::{CallError, Namespaced};
use crate::key::{Key, Name};
use crate::lease::NotLeader;
use crate::queue::Then;
use crate::status::ReportError;

/// How long a pass waits for the caches before it looks again by itself. The change that they miss wakes it earlier.
const BEHIND: Duration = Duration::from_secs(5);

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// It may not act.
    #[error(transparent)]
    NotLeader(#[from] NotLeader),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Something could not be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// Certificates or keys could not be had.
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    /// Status could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl PassError {
    /// In one word, for metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NotLeader(_) => "NotLeader",
            Self::Call(error) | Self::Report(ReportError::Call(error)) => error.reason(),
            Self::Apply(error) => error.reason(),
            Self::Credentials(error) => error.reason(),
            Self::Report(ReportError::Outrun) => "Outrun",
        }
    }
}

/// Whether the caches have seen all that we wrote of this cluster; else what to do instead of the pass of this key.
pub async fn fresh(context: &Context, cluster: &Name, key: &Key) -> Result<Option<Then>, PassError> {
    let look_again = || {
        context.queue.wait(cluster, key);
        context.door.guard().freshness(&context.caches, cluster)
    };
    loop {
        match context.door.guard().freshness(&context.caches, cluster) {
            Freshness::Fresh => return Ok(None),
            // They may have moved before they were waited for.
            Freshness::Behind { .. } if look_again() == Freshness::Fresh => return Ok(None),
            Freshness::Behind { object } => {
                tracing::debug!(%cluster, object, "waits until the caches have seen our own write");
                return Ok(Some(Then::Later(BEHIND)));
            }
            Freshness::Unsure { kind, name } => look(context, cluster, &kind, &name).await?,
        }
    }
}

/// Reads what a write led to whose answer was lost, or of which nothing is told, and lays it before the caches, which are waited
/// for. What has lost the label by which it is watched is not waited for: the pass finds that it is missing, and whether it is
/// still ours is judged there.
async fn look(context: &Context, cluster: &Name, kind: &str, name: &Name) -> Result<(), PassError> {
    async fn one<K: Cached + Namespaced>(
        context: &Context,
        cluster: &Name,
        name: &Name,
    ) -> Result<(), CallError> {
        let (guard, store) = (context.door.guard(), K::store(&context.caches));
        store.ask(name);
        let read = context.door.read::<K>(name).await?;
        match (&read, store.get(name)) {
            (Some(found), _) => guard.wrote::<K>(cluster, name, found.meta()),
            (None, Some(known)) => guard.deleted::<K>(cluster, name, known.meta().uid.clone()),
            (None, None) => guard.forget::<K>(cluster, name),
        }
        guard.looked::<K>(cluster, name);
        store.answer(name, read);
        Ok(())
    }
    let read = match kind {
        "ReplicatedCluster" => one::<ReplicatedCluster>(context, cluster, name).await,
        "Member" => one::<Member>(context, cluster, name).await,
        "StatefulSet" => one::<StatefulSet>(context, cluster, name).await,
        "Pod" => one::<Pod>(context, cluster, name).await,
        "PersistentVolumeClaim" => one::<PersistentVolumeClaim>(context, cluster, name).await,
        "ConfigMap" => one::<ConfigMap>(context, cluster, name).await,
        "Service" => one::<Service>(context, cluster, name).await,
        "PodDisruptionBudget" => one::<PodDisruptionBudget>(context, cluster, name).await,
        "Deployment" => one::<Deployment>(context, cluster, name).await,
        _ => one::<DaemonSet>(context, cluster, name).await,
    };
    Ok(read?)
}
