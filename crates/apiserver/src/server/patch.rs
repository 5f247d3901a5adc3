//! Patches: JSON, merge and strategic merge patches, and server-side apply.

use http::StatusCode;
use serde_json::Value;

use super::Server;
use super::answer::Answer;
use super::call::Call;
use super::decode::{self, Decoded};
use super::incoming::{Incoming, unsupported};
use super::modify::{Proposal, check_identity};
use super::options::{WriteKind, WriteOptions};
use crate::apply::{
    ApplyError, PatchError, apply, json_patch, merge_patch, strategic_merge_patch, track_update,
};
use crate::error::{ApiError, Cause, Reason};
use crate::lifecycle::metadata;

/// How often an apply is made again on an object that comes and goes.
const MAX_TRIES: usize = 100;

/// The forms of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Form {
    fn of(call: &Call) -> Result<Self, ApiError> {
        match call.content_type() {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if call.resource.kind.sharing().merge_keys.is_some() => {
                Ok(Self::Strategic)
            }
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => {
                let strategic = call.resource.kind.sharing().merge_keys.is_some();
                let mut supported = vec!["application/json-patch+json", "application/merge-patch+json"];
                supported.extend(strategic.then_some("application/strategic-merge-patch+json"));
                supported.push("application/apply-patch+yaml");
                supported.extend(strategic.then_some("application/apply-patch+cbor"));
                Err(unsupported(&supported.join(", ")))
            }
        }
    }
}

impl Server {
    /// `patch`: a change of what is there, or with apply what is wanted to be there.
    pub(super) async fn patch(&self, call: &Call) -> Result<Answer, ApiError> {
        let form = Form::of(call)?;
        if form == Form::Apply {
            return self.apply(call).await;
        }
        let options = WriteOptions::of(call, WriteKind::Patch)?;
        let patch = decode::json(&call.body)
            .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
        let propose = |server: &Self, old: &Value| {
            let value = patched(call, form, old, &patch.value).map_err(|error| unpatched(&error))?;
            let decoded = Decoded { value, duplicates: patch.duplicates.clone() };
            let Incoming { mut object, warnings } = Incoming::of(call, &options, decoded)?;
            check_identity(call, &mut object)?;
            call.resource.kind.default(&mut object);
            let object = track_update(Some(old), &object, &server.write(call, &options).by(call));
            Ok(Proposal { object, warnings })
        };
        self.modify(call, &options, propose).await
    }

    async fn apply(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Apply)?;
        let decoded = decode::yaml(&call.body)
            .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
        let mut config = decoded.value;
        if metadata::text(&config, "name").is_empty() {
            metadata::set(&mut config, "name", Some(call.name().into()));
        }
        check_identity(call, &mut config.clone())?;
        let applied = |server: &Self, old: Option<&Value>| {
            let write = server.write(call, &options);
            let applied = apply(old, &config, options.force, &write.by(call));
            applied.map(|applied| applied.object).map_err(|error| not_applied(call, &error))
        };
        let create = async || {
            let decoded = Decoded { value: applied(self, None)?, duplicates: decoded.duplicates.clone() };
            let Incoming { object: read, warnings } = Incoming::of(call, &options, decoded)?;
            // The owners are those of the apply, whatever is filled in afterwards.
            let owned = |_: &Self, object: &Value| object.clone();
            let mut answer = self.create_object(call, &read, &options, owned).await?;
            answer.code = StatusCode::CREATED;
            answer.warnings.splice(0..0, warnings);
            Ok(answer)
        };
        let propose = |server: &Self, old: &Value| {
            let decoded =
                Decoded { value: applied(server, Some(old))?, duplicates: decoded.duplicates.clone() };
            let Incoming { mut object, warnings } = Incoming::of(call, &options, decoded)?;
            call.resource.kind.default_applied(&mut object);
            Ok(Proposal { object, warnings })
        };
        for _ in 0..MAX_TRIES {
            let is_there = self.store().get(&call.key()).is_some();
            let outcome = if is_there || call.subresource.is_some() {
                self.modify(call, &options, &propose).await
            } else {
                create().await
            };
            let moved = self.store().get(&call.key()).is_some() != is_there;
            match outcome {
                // Created or deleted by someone else in between: applied to what there is now.
                Err(error)
                    if moved
                        && call.subresource.is_none()
                        && matches!(error.reason, Reason::AlreadyExists | Reason::NotFound) => {}
                outcome => return outcome,
            }
        }
        Err(ApiError::modified(call.subject()))
    }
}

fn patched(call: &Call, form: Form, old: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (form, &call.resource.kind.sharing().merge_keys) {
        (Form::Json, _) => json_patch(old, patch),
        (Form::Strategic, Some(keys)) => strategic_merge_patch(old, patch, keys),
        _ => merge_patch(old, patch),
    }
}

/// Why a patch cannot be applied, as the API says it.
fn unpatched(error: &PatchError) -> ApiError {
    let (reason, message) = match error {
        PatchError::BadRequest(why) => (Reason::BadRequest, why.clone()),
        PatchError::TooLarge(why) => (Reason::RequestEntityTooLarge, why.clone()),
        PatchError::DoesNotApply(_) => {
            (Reason::Invalid, "the server rejected our request due to an error in our request".to_owned())
        }
        PatchError::Internal(why) => (Reason::Unknown, why.clone()),
    };
    let subject = (reason == Reason::Invalid).then(Box::default);
    ApiError { subject, ..ApiError::new(reason, message) }
}

/// Why an apply was refused, as the API says it.
pub(super) fn not_applied(call: &Call, error: &ApplyError) -> ApiError {
    let _ = call;
    match error {
        ApplyError::Conflicts(conflicts) => {
            let cause = |cause: crate::apply::Cause| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: cause.message,
                field: cause.field,
            };
            let causes = conflicts.causes().into_iter().map(cause).collect();
            ApiError { causes, ..ApiError::new(Reason::Conflict, error.to_string()) }
        }
        ApplyError::BadRequest(why) => ApiError::bad_request(why.clone()),
        // An error that the real server has not thought of as an answer: a 500 without a reason.
        ApplyError::Internal(why) => ApiError::new(Reason::Unknown, why.clone()),
    }
}
