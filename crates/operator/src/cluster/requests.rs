//! What a person asked for by annotation: taken away by compare-and-swap first, then judged and handed to the manager. A
//! crash in between loses a request and never repeats one.

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::{ANNOTATION_REQUEST, RequestResult};
use muster_core::manager::requests::{Circumstances, parse};
use muster_core::status::write::WRITE_TRIES;
use muster_core::status::{Conflict, Picture, Snapshot, on_conflict, recovery};
use serde_json::json;

use super::observe::Seen;
use crate::context::Context;
use crate::door::CallError;
use crate::events::{Occasion, Tone};
use crate::manager::Handle;
use crate::manager::asked::{Asked, Word, action};

/// A request that was taken up.
pub(super) struct Taken {
    /// The cluster without it.
    pub from: ReplicatedCluster,
    /// What status is to say, where the manager will not.
    pub refused: Option<Word>,
}

/// Takes up the request on this cluster, if there is one.
pub(super) async fn take_up(
    context: &Context,
    seen: &Seen,
    picture: Option<&Picture<'_>>,
    manager: Option<&Handle>,
) -> Result<Option<Taken>, CallError> {
    let Some(annotation) = seen.cluster.annotations().get(ANNOTATION_REQUEST) else { return Ok(None) };
    let from = take_away(context, seen).await?;
    let refused = judge(context, seen, annotation, picture, manager);
    Ok(Some(Taken { from, refused }))
}

/// Takes the annotation away by compare-and-swap: on the very cluster that is being looked at, whatever else of it others
/// change meanwhile.
async fn take_away(context: &Context, seen: &Seen) -> Result<ReplicatedCluster, CallError> {
    let snapshot = Snapshot::of(&seen.cluster.metadata);
    let mut version = seen.cluster.resource_version();
    let mut tries = 1;
    loop {
        let remove = json!({"metadata": {
            "resourceVersion": version, "annotations": {ANNOTATION_REQUEST: null},
        }});
        let taken = context.door.merge::<ReplicatedCluster>(&seen.name, &seen.name, &remove).await;
        let Err(CallError::Conflict { object }) = taken else { return taken };
        let found = context.door.read::<ReplicatedCluster>(&seen.name).await?;
        let found =
            found.filter(|found| on_conflict(&snapshot, Some(&found.metadata)) == Conflict::SameVerdict);
        // A request, a spec or a pause that is newer is judged by a pass that sees it.
        let Some(found) = found.filter(|_| tries < WRITE_TRIES) else {
            return Err(CallError::Conflict { object });
        };
        version = found.resource_version();
        tries += 1;
    }
}

/// Judges a request, and hands it to the manager. Returns what status is to say where the manager will not.
fn judge(
    context: &Context,
    seen: &Seen,
    annotation: &str,
    picture: Option<&Picture<'_>>,
    manager: Option<&Handle>,
) -> Option<Word> {
    let request = match parse(annotation) {
        Ok(request) => request,
        Err(refusal) => {
            say(context, seen, Tone::Warning, "RequestRefused", refusal.to_string());
            return None;
        }
    };
    let shown = picture.and_then(|picture| recovery::recovery(picture, None));
    let digest = shown.as_ref().map(|recovery| recovery.digest.as_str());
    let members: Option<Vec<&str>> = picture.map(Picture::everyone);
    let now = Circumstances {
        cluster_uid: &seen.uid,
        generation: seen.generation(),
        now: seen.now,
        digest,
        clustering_stopped: seen.pause.clustering,
        members: members.as_deref(),
    };
    let primaries = picture.map(Picture::primaries).unwrap_or_default();
    let word = action(&request.ask);
    let refusal = match (request.judge(&now, primaries.first().copied()), manager) {
        (Ok(granted), Some(manager)) => {
            let asked = Asked { request: request.clone(), granted };
            if manager.ask(asked) {
                say(context, seen, Tone::Normal, "RequestAccepted", format!("{word} {}", request.id));
                return None;
            }
            "the manager has not taken up the requests before it: repeat it later".to_owned()
        }
        (Ok(_), None) => "the manager does not run yet: repeat it later".to_owned(),
        (Err(refusal), _) => refusal.to_string(),
    };
    say(context, seen, Tone::Warning, "RequestRefused", format!("{word} {}: {refusal}", request.id));
    Some(Word::now(context, &request, RequestResult::Refused, &refusal))
}

fn say(context: &Context, seen: &Seen, tone: Tone, reason: &'static str, message: String) {
    context.herald.say_of(seen.cluster.as_ref(), &Occasion { tone, reason, message });
}
