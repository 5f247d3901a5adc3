//! The labels of a Member's Pod: its StatefulSet, the Services, its manager and our own watch find it by them, and anyone can take
//! them away. Its StatefulSet then lets go of it, and can make no other one of that name, so nobody but us mends that.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use muster_core::build::names::{self, Labels};
use muster_core::build::owners;
use serde_json::json;

use super::observe::Seen;
use crate::context::Context;
use crate::door::CallError;

/// Puts back what its Pod lacks of its labels. Some: the Pod of that name is someone else's, in words, and was not touched.
pub(super) async fn keep_labels(context: &Context, seen: &Seen) -> Result<Option<String>, CallError> {
    let Some(set) = &seen.set else { return Ok(None) };
    let name = seen.name.beside(names::pod(&seen.name.name));
    let pod = match &seen.pod {
        Some(shown) => Some(shown.clone()),
        // Either there is none, or it is there without the label by which it is watched.
        None if wants_pod(set) => context.door.read::<Pod>(&name).await?.map(Arc::new),
        None => None,
    };
    let labels = names::member_pod_labels(&seen.member);
    let lacks = |pod: &Arc<Pod>| pod.metadata.deletion_timestamp.is_none() && !carries(pod, &labels);
    let Some(pod) = pod.filter(lacks) else { return Ok(None) };
    if let Some(why) = whose(&pod, set, &labels, &seen.name.name) {
        return Ok(Some(format!("Pod {} ({why})", name.name)));
    }
    tracing::info!(cluster = %seen.of, pod = name.name, "puts back the labels of a Pod");
    let patch = json!({"metadata": {
        "uid": pod.uid(), "resourceVersion": pod.resource_version(), "labels": labels,
    }});
    context.door.merge::<Pod>(&seen.of, &name, &patch).await?;
    Ok(None)
}

fn wants_pod(set: &StatefulSet) -> bool {
    set.spec.as_ref().and_then(|spec| spec.replicas) != Some(0)
}

fn carries(pod: &Pod, labels: &Labels) -> bool {
    labels.iter().all(|(key, value)| pod.labels().get(key) == Some(value))
}

/// Why a Pod is someone else's; none if it is this Member's: its StatefulSet controls it, or let go of it.
fn whose(pod: &Pod, set: &StatefulSet, labels: &Labels, member: &str) -> Option<String> {
    let owner = set.controller_owner_ref(&()).map(|owner| vec![owner]);
    let wanted =
        ObjectMeta { labels: Some(labels.clone()), owner_references: owner, ..ObjectMeta::default() };
    let mut found = pod.metadata.clone();
    if was_let_go(pod, member) {
        found.owner_references.clone_from(&wanted.owner_references);
    }
    owners::taken(&wanted, &found)
}

/// Whether this was the Pod of this Member, and is nobody's now.
pub(super) fn was_let_go(pod: &Pod, member: &str) -> bool {
    let is_controlled = pod.owner_references().iter().any(|owner| owner.controller == Some(true));
    !is_controlled && holds_key(pod, member)
}

/// Whether it was made to be this member: no other Pod is given the key of its agent, and the volumes of a Pod never change.
fn holds_key(pod: &Pod, member: &str) -> bool {
    let key = names::agent_secret(member);
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let mut secrets = volumes.filter_map(|volume| volume.secret.as_ref()?.secret_name.as_ref());
    secrets.any(|secret| *secret == key)
}
