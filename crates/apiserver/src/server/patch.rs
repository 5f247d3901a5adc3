//! Patches: JSON, merge and strategic merge patches, and server-side apply.

use serde_json::{Value, json};

use super::Server;
use super::answer::Answer;
use super::call::Call;
use super::claims;
use super::decode::{self, Decoded, Repeated};
use super::incoming::{Incoming, unsupported};
use super::modify::{Proposal, check_identity, check_version, warning};
use super::objects;
use super::options::{WriteKind, WriteOptions, invalid};
use crate::apply::{
    ApplyError, PatchError, apply, json_patch, merge_patch, strategic_merge_patch, track_update,
};
use crate::error::{ApiError, Cause, Reason, Subject};
use crate::go;
use crate::kind::built_in::order::{self, Opened};
use crate::kind::built_in::types::definition;
use crate::lifecycle::{Part, metadata};
use crate::request::query::FieldValidation;
use crate::schema::{FieldError, Path};

/// How often an apply is made again on an object that comes and goes.
const MAX_TRIES: usize = 100;

/// The forms of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Form {
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        match call.content_type() {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if call.resource.kind.sharing().merge_keys.is_some() => {
                Ok(Self::Strategic)
            }
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ if call.resource.kind.is_custom() => {
                let supported = [
                    "application/json-patch+json",
                    "application/merge-patch+json",
                    "application/apply-patch+yaml",
                ];
                Err(unsupported(&supported.join(", ")))
            }
            _ => {
                let error = ApiError::new(Reason::UnsupportedMediaType, "415: Unsupported Media Type");
                Err(ApiError { subject: Some(Box::default()), ..error })
            }
        }
    }
}

/// Whether the form of a patch is one that the kind takes.
pub(super) fn check_form(call: &Call) -> Result<(), ApiError> {
    Form::of(call).map(drop)
}

impl Server {
    /// `patch`: a change of what is there, or with apply what is wanted to be there.
    pub(super) async fn patch(&self, call: &Call) -> Result<Answer, ApiError> {
        let form = Form::of(call)?;
        if form == Form::Apply {
            return self.apply(call).await;
        }
        let options = WriteOptions::of(call, WriteKind::Patch)?;
        let patch = read_patch(call, form);
        let propose = |server: &Self, old: &Value| {
            let patch = patch.as_ref().map_err(Clone::clone)?;
            let value = patched(call, form, old, &patch.value).map_err(|error| unpatched(&error))?;
            let decoded = Decoded { value, noted: patch.noted.clone(), ..Decoded::default() };
            let Incoming { mut object, warnings } = match form {
                Form::Strategic => read_merged(call, &options, decoded, &patch.value),
                Form::Json => read_patched(call, &options, decoded, &Opened::by_operations(&patch.value)),
                _ => read_patched(call, &options, decoded, &Opened::by_merge(old, &patch.value)),
            }?;
            check_identity(call, &mut object)?;
            check_uid(call, &object, old)?;
            check_version(call, &object)?;
            call.resource.kind.default(&mut object);
            let object = track_update(Some(old), object, &server.write(call, &options).by(call));
            Ok(Proposal::new(object, warnings))
        };
        self.modify(call, &options, propose).await
    }

    async fn apply(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Apply)?;
        let mut decoded = read_config(call)?;
        let config = decoded.value.take();
        let applied = |server: &Self, old: Option<&Value>| {
            let write = server.write(call, &options);
            let applied = apply(old, &config, options.force, &write.by(call));
            applied.map(|applied| applied.object).map_err(|error| not_applied(call, &error))
        };
        let create = async || {
            let mut object = applied(self, None)?;
            metadata::set(&mut object, "resourceVersion", None);
            let written_anew = !objects::left_empty(&call.resource, &object).is_empty();
            let Incoming { object: read, warnings } = read_applied(call, &options, object, &decoded)?;
            check_creation(call, &read)?;
            // The owners are those of the apply, whatever is filled in afterwards.
            let owned = |_: &Self, object: Value| object;
            warning(warnings, self.create_object(call, &read, &options, written_anew, owned).await)
        };
        let propose = |server: &Self, old: &Value| {
            let object = applied(server, Some(old))?;
            // The metadata in which it is left is not that of a status.
            let written = (call.part() == Part::Whole).then(|| objects::left_empty(&call.resource, &object));
            let Incoming { mut object, warnings } = read_applied(call, &options, object, &decoded)?;
            check_identity(call, &mut object)?;
            check_uid(call, &object, old)?;
            call.resource.kind.default_applied(&mut object);
            Ok(Proposal { object, warnings, left_empty: written.unwrap_or_default() })
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

/// The body of an apply.
fn read_config(call: &Call) -> Result<Decoded, ApiError> {
    let unread = |why| format!("error decoding YAML: error converting YAML to JSON: {why}");
    let decoded = decode::yaml(&call.body).map_err(|why| ApiError::bad_request(unread(why)))?;
    match &decoded.value {
        Value::Object(_) => Ok(decoded),
        Value::Null => Err(ApiError::bad_request("invalid object type: /, Kind=")),
        other => {
            let why = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
            let (kind, into) = (crate::go::kind_of(other), "into Go value of type map[string]interface {}");
            Err(ApiError::bad_request(format!("error decoding YAML: {why} {kind} {into}")))
        }
    }
}

/// What is applied to nothing cannot be known already, and must say its name.
fn check_creation(call: &Call, object: &Value) -> Result<(), ApiError> {
    let uid = metadata::text(object, "uid");
    if uid.is_empty() {
        return check_identity(call, &mut object.clone());
    }
    let why =
        format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
    Err(ApiError::conflict(call.subject(), &why))
}

/// What an apply has made, read through its type.
fn read_applied(
    call: &Call,
    options: &WriteOptions,
    object: Value,
    config: &Decoded,
) -> Result<Incoming, ApiError> {
    if let Some(lines) = config.odd_lines().filter(|_| options.validation == FieldValidation::Strict) {
        let why = "error strict decoding YAML: error converting YAML to JSON";
        return Err(ApiError::bad_request(format!("{why}: {lines}")));
    }
    let decoded = Decoded { value: object, lines: config.lines.clone(), ..Decoded::default() };
    Incoming::of(call, options, decoded)
}

/// The body of a patch, and what is odd about it.
fn read_patch(call: &Call, form: Form) -> Result<Decoded, ApiError> {
    let mut patch = decode::json(&call.body, Repeated::Last).map_err(|why| {
        ApiError::bad_request(if form == Form::Strategic {
            why
        } else {
            format!("error decoding patch: {why}")
        })
    })?;
    if form == Form::Strategic && patch.value.is_null() {
        patch.value = json!({});
    }
    patch.noted = match form {
        Form::Json => {
            let unknown = unknown_in_operations(&patch.value);
            let odd = patch.odd().chain(unknown.map(|path| format!("unknown field {path:?}")));
            odd.map(|odd| format!("json patch {odd}")).collect()
        }
        _ => patch.odd().collect(),
    };
    Ok(patch)
}

/// What operations have that operations do not have.
fn unknown_in_operations(patch: &Value) -> impl Iterator<Item = String> + '_ {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    operations.flat_map(|(index, operation)| {
        let names = operation.as_object().into_iter().flat_map(|operation| operation.keys());
        let unknown = names.filter(|name| !matches!(name.as_str(), "op" | "path" | "from" | "value"));
        unknown.map(move |name| format!("[{index}].{name}"))
    })
}

fn patched(call: &Call, form: Form, old: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (form, &call.resource.kind.sharing().merge_keys) {
        (Form::Json, _) => json_patch(old, patch),
        (Form::Strategic, Some(keys)) => strategic_merge_patch(old, patch, keys),
        _ => merge_patch(old, patch),
    }
}

/// What a JSON or merge patch has made, read through its type.
fn read_patched(
    call: &Call,
    options: &WriteOptions,
    decoded: Decoded,
    opened: &Opened,
) -> Result<Incoming, ApiError> {
    let made = decoded.value.clone();
    let is_custom = call.resource.kind.is_custom();
    let definition = (!is_custom).then(|| definition(&call.resource.api_version(), &call.resource.kind_name));
    let shown = || order::patched(&made, definition.as_deref(), opened);
    let read = match claims::check(&made) {
        Err(why) => Err(why),
        Ok(()) if is_custom && claims::text(&made, "kind").is_empty() => {
            Err(claims::no_kind(shown().as_bytes()))
        }
        Ok(()) => Incoming::of_any_type(call, options, decoded),
    };
    read.map_err(|why| refuse_patch(&shown(), &why))
}

/// What a strategic merge patch has made, read through its type.
fn read_merged(
    call: &Call,
    options: &WriteOptions,
    mut decoded: Decoded,
    patch: &Value,
) -> Result<Incoming, ApiError> {
    let mut object = decoded.value.take();
    let read = call.resource.kind.read_merged(&mut object);
    // What it says that it is does not matter, if it is text.
    objects::set_type(&call.resource, &mut object);
    read.and_then(|unknown| Incoming::noting(call, options, object, decoded, unknown))
        .map_err(|why| refuse_patch(&go::printed(patch), &why))
}

/// The error for what a patch has made; `shown` is what it quotes.
fn refuse_patch(shown: &str, why: &str) -> ApiError {
    invalid(Subject::default(), &[FieldError::invalid(&Path::new("patch"), shown, why)])
}

/// A patch cannot make another object of it.
fn check_uid(call: &Call, object: &Value, old: &Value) -> Result<(), ApiError> {
    let uid = metadata::text(object, "uid");
    if uid.is_empty() || uid == metadata::text(old, "uid") {
        return Ok(());
    }
    let error = FieldError::invalid(&Path::new("metadata.uid"), uid, "field is immutable");
    // kube-apiserver looks twice, and says it twice.
    Err(invalid(call.subject_by_kind(call.name()), &[error.clone(), error]))
}

/// Why a patch cannot be applied, as the API says it.
pub(super) fn unpatched(error: &PatchError) -> ApiError {
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
