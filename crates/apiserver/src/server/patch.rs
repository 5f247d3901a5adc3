//! Patches: JSON, merge and strategic merge patches, and server-side apply.

use http::StatusCode;
use serde_json::{Value, json};

use super::Server;
use super::answer::Answer;
use super::call::Call;
use super::decode::{self, Decoded};
use super::incoming::{Incoming, check_type, unsupported};
use super::modify::{Proposal, check_identity, check_version};
use super::options::{WriteKind, WriteOptions, invalid};
use crate::apply::{
    ApplyError, PatchError, apply, json_patch, merge_patch, strategic_merge_patch, track_update,
};
use crate::error::{ApiError, Cause, Reason, Subject};
use crate::go;
use crate::lifecycle::metadata;
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
        let mut patch = decode::json(&call.body).map_err(|why| {
            let strategic = form == Form::Strategic;
            ApiError::bad_request(if strategic { why } else { format!("error decoding patch: {why}") })
        })?;
        if form == Form::Strategic && patch.value.is_null() {
            patch.value = json!({});
        }
        let propose = |server: &Self, old: &Value| {
            let value = patched(call, form, old, &patch.value).map_err(|error| unpatched(&error))?;
            let decoded = Decoded { value, duplicates: patch.duplicates.clone() };
            let shown = match form {
                Form::Strategic => go::printed(&patch.value),
                _ => decoded.value.to_string(),
            };
            let Incoming { mut object, warnings } = read_patched(call, &options, decoded, &shown)?;
            check_identity(call, &mut object)?;
            check_uid(call, &object, old)?;
            check_version(call, &object)?;
            call.resource.kind.default(&mut object);
            let object = track_update(Some(old), &object, &server.write(call, &options).by(call));
            Ok(Proposal { object, warnings })
        };
        self.modify(call, &options, propose).await
    }

    async fn apply(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Apply)?;
        let decoded = read_config(call)?;
        let given = decoded.value;
        let mut config = given.clone();
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
            check_creation(call, &given)?;
            let mut object = applied(self, None)?;
            metadata::set(&mut object, "resourceVersion", None);
            let decoded = Decoded { value: object, duplicates: decoded.duplicates.clone() };
            let Incoming { object: read, warnings } = Incoming::of(call, &options, decoded)?;
            // The owners are those of the apply, whatever is filled in afterwards.
            let owned = |_: &Self, object: &Value| object.clone();
            let created = self.create_object(call, &read, &options, owned).await;
            let mut answer = created.map_err(|error| error.warned(&warnings))?;
            answer.code = StatusCode::CREATED;
            answer.warnings.splice(0..0, warnings);
            Ok(answer)
        };
        let propose = |server: &Self, old: &Value| {
            let decoded =
                Decoded { value: applied(server, Some(old))?, duplicates: decoded.duplicates.clone() };
            let Incoming { mut object, warnings } = Incoming::of(call, &options, decoded)?;
            check_uid(call, &object, old)?;
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

/// The body of an apply.
fn read_config(call: &Call) -> Result<Decoded, ApiError> {
    let decoded = decode::yaml(&call.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
    match &decoded.value {
        Value::Object(_) => Ok(decoded),
        Value::Null => Err(ApiError::bad_request("invalid object type: /, Kind=")),
        other => {
            let why = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
            let (kind, into) = (json_kind(other), "into Go value of type map[string]interface {}");
            Err(ApiError::bad_request(format!("error decoding YAML: {why} {kind} {into}")))
        }
    }
}

/// What is applied to nothing must say its name, and cannot be known already.
fn check_creation(call: &Call, config: &Value) -> Result<(), ApiError> {
    check_identity(call, &mut config.clone())?;
    let uid = metadata::text(config, "uid");
    if uid.is_empty() {
        return Ok(());
    }
    let why =
        format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
    Err(ApiError::conflict(call.subject(), &why))
}

/// What Go's decoder calls a value.
fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn patched(call: &Call, form: Form, old: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (form, &call.resource.kind.sharing().merge_keys) {
        (Form::Json, _) => json_patch(old, patch),
        (Form::Strategic, Some(keys)) => strategic_merge_patch(old, patch, keys),
        _ => merge_patch(old, patch),
    }
}

/// What a patch has made, read through its type; `shown` is what an error quotes of it.
fn read_patched(
    call: &Call,
    options: &WriteOptions,
    mut decoded: Decoded,
    shown: &str,
) -> Result<Incoming, ApiError> {
    let refuse =
        |why: &str| invalid(Subject::default(), &[FieldError::invalid(&Path::new("patch"), shown, why)]);
    if call.resource.kind.is_custom() {
        let text = |name: &str| decoded.value.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = text("kind").to_owned();
        if kind.is_empty() {
            return Err(refuse(&format!("Object 'Kind' is missing in '{}'", decoded.value)));
        }
        let wanted = [("kind", call.resource.kind_name.clone()), ("apiVersion", call.resource.api_version())];
        let others = wanted.iter().filter(|(name, wanted)| text(name) != wanted);
        let errors: Vec<FieldError> = others
            .map(|(name, wanted)| {
                FieldError::invalid(&Path::new(name), text(name), format!("must be {wanted}"))
            })
            .collect();
        if !errors.is_empty() {
            return Err(invalid(Subject { kind, ..call.subject() }, &errors));
        }
    } else {
        check_type(call, &mut decoded.value).map_err(|error| refuse(&error.message))?;
    }
    Incoming::of_its_type(call, options, decoded).map_err(|why| refuse(&why))
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
