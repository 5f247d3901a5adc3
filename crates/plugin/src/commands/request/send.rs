//! Writing the request: by compare-and-swap, for exactly what the person saw, and never over another one.

use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Error, ResourceExt};
use muster_api::ReplicatedCluster;
use muster_api::names::{ANNOTATION_REQUEST, FIELD_MANAGER_PLUGIN};
use muster_core::manager::requests::{self, Ask, REQUEST_LIFETIME, Request};
use serde_json::json;

use super::pending;
use crate::access::{Access, object};
use crate::error::Failure;

/// How often a write is tried when others write other things in between: they cannot hold a person up for ever.
const TRIES: usize = 8;

/// Writes it.
pub(super) async fn send(
    access: &Access,
    seen: &ReplicatedCluster,
    ask: Ask,
    now: Timestamp,
) -> Result<Request, Failure> {
    let request = request(seen, ask, now);
    let name = seen.name_any();
    let doing = format!("make the request of {}", object("ReplicatedCluster", &name, &access.namespace));
    let failed = |why: String| Failure::Call { doing: doing.clone(), why };
    let text = serde_json::to_string(&request).map_err(|error| failed(error.to_string()))?;
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER_PLUGIN.to_owned()), ..PatchParams::default() };
    let mut version = seen.resource_version();
    for _ in 0..TRIES {
        let patch =
            json!({"metadata": {"resourceVersion": version, "annotations": {ANNOTATION_REQUEST: text}}});
        let api = access.clusters();
        let written = async {
            match api.patch(&name, &params, &Patch::Merge(&patch)).await {
                Err(Error::Api(status)) if status.is_conflict() => Ok(false),
                answer => answer.map(|_| true),
            }
        };
        let lost = match access.call(&doing, written).await {
            Ok(true) => return Ok(request),
            Ok(false) => None,
            // The write may have taken effect, and only its answer got lost: then it must not be repeated.
            Err(failure @ (Failure::Unreachable { .. } | Failure::TooSlow { .. })) => Some(failure),
            Err(failure) => return Err(failure),
        };
        let fresh = access.cluster(&name).await.map_err(|failure| match &lost {
            Some(_) => unknown(&request, &failure),
            None => failure,
        })?;
        if is_there(&fresh, &request) {
            return Ok(request);
        }
        if let Some(failure) = lost {
            return Err(failure);
        }
        same_as_seen(&fresh, &request, now, access)?;
        version = fresh.resource_version();
    }
    Err(failed(format!("{name} was changed by others {TRIES} times in between; try again")))
}

/// The request for what was seen.
fn request(seen: &ReplicatedCluster, ask: Ask, now: Timestamp) -> Request {
    Request {
        id: format!("{:016x}", rand::random::<u64>()),
        cluster_uid: seen.uid().unwrap_or_default(),
        generation: seen.metadata.generation.unwrap_or(0),
        expires: now + REQUEST_LIFETIME,
        digest: matches!(ask, Ask::Recover { .. } | Ask::Fence { .. }).then(|| digest(seen)).flatten(),
        ask,
    }
}

fn digest(seen: &ReplicatedCluster) -> Option<String> {
    Some(seen.status.as_ref()?.recovery.as_ref()?.digest.clone())
}

/// Whether it was made: it waits, or the operator took it up already.
fn is_there(fresh: &ReplicatedCluster, request: &Request) -> bool {
    let annotation = fresh.annotations().get(ANNOTATION_REQUEST);
    let waits =
        annotation.is_some_and(|text| requests::parse(text).is_ok_and(|there| there.id == request.id));
    let last = fresh.status.as_ref().and_then(|status| status.last_request.as_ref());
    waits || last.is_some_and(|last| last.id == request.id)
}

fn unknown(request: &Request, failure: &Failure) -> Failure {
    Failure::Timeout(format!(
        "it is not known whether request {} was made ({failure}); look (kubectl muster status) before you repeat it",
        request.id
    ))
}

/// Whether what the person decided on is still so.
fn same_as_seen(
    fresh: &ReplicatedCluster,
    request: &Request,
    now: Timestamp,
    access: &Access,
) -> Result<(), Failure> {
    pending::refuse(fresh, now, access)?;
    let decided = matches!(request.ask, Ask::Recover { .. } | Ask::Fence { .. });
    let changed = if fresh.uid().unwrap_or_default() != request.cluster_uid {
        "it is another one of the same name"
    } else if fresh.metadata.generation.unwrap_or(0) != request.generation {
        "its spec changed"
    } else if decided && digest(fresh) != request.digest {
        "its recovery changed"
    } else {
        return Ok(());
    };
    let named = object("ReplicatedCluster", &fresh.name_any(), &access.namespace);
    let next = format!("kubectl muster status {}{}", access.namespace_flag(), fresh.name_any());
    Err(Failure::No(format!("nothing was asked of {named}: {changed} since you looked; look again ({next})")))
}
