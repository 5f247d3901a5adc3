//! What a person asked for by annotation: taken away by compare-and-swap first, then judged and handed to the manager. A
//! crash in between loses a request and never repeats one.

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::{ANNOTATION_REQUEST, RequestResult};
use muster_core::manager::requests::{Circumstances, parse};
use muster_core::status::Picture;
use muster_core::status::recovery;
use serde_json::json;

use super::observe::Seen;
use crate::context::Context;
use crate::door::CallError;
use crate::events::{Occasion, Tone};
use crate::manager::Handle;
use crate::manager::asked::{Asked, Word, action};

/// Takes up the request on this cluster, if there is one. Returns what status is to say where the manager will not.
pub(super) async fn take_up(
    context: &Context,
    seen: &Seen,
    picture: Option<&Picture<'_>>,
    manager: Option<&Handle>,
) -> Result<Option<Word>, CallError> {
    let Some(annotation) = seen.cluster.annotations().get(ANNOTATION_REQUEST) else { return Ok(None) };
    let remove = json!({"metadata": {
        "resourceVersion": seen.cluster.resource_version(),
        "annotations": {ANNOTATION_REQUEST: null},
    }});
    context.door.merge::<ReplicatedCluster>(&seen.name, &seen.name, &remove).await?;
    let request = match parse(annotation) {
        Ok(request) => request,
        Err(refusal) => {
            say(context, seen, Tone::Warning, "RequestRefused", refusal.to_string());
            return Ok(None);
        }
    };
    let shown = picture.and_then(|picture| recovery::recovery(picture, None));
    let digest = shown.as_ref().map(|recovery| recovery.digest.as_str());
    let members: Vec<&str> = picture.map(Picture::everyone).unwrap_or_default();
    let now = Circumstances {
        cluster_uid: &seen.uid,
        generation: seen.generation(),
        now: seen.now,
        digest,
        clustering_stopped: seen.pause.clustering,
        members: &members,
    };
    let primaries = picture.map(Picture::primaries).unwrap_or_default();
    let word = action(&request.ask);
    let refusal = match (request.judge(&now, primaries.first().copied()), manager) {
        (Ok(granted), Some(manager)) => {
            let asked = Asked { request: request.clone(), granted };
            if manager.ask(asked) {
                say(context, seen, Tone::Normal, "RequestAccepted", format!("{word} {}", request.id));
                return Ok(None);
            }
            "the manager has not taken up the requests before it: repeat it later".to_owned()
        }
        (Ok(_), None) => "the manager does not run yet: repeat it later".to_owned(),
        (Err(refusal), _) => refusal.to_string(),
    };
    say(context, seen, Tone::Warning, "RequestRefused", format!("{word} {}: {refusal}", request.id));
    Ok(Some(Word::now(context, &request, RequestResult::Refused, &refusal)))
}

fn say(context: &Context, seen: &Seen, tone: Tone, reason: &'static str, message: String) {
    context.herald.say_of(seen.cluster.as_ref(), &Occasion { tone, reason, message });
}
