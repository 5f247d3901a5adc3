//! The scale that a client sends: whole, as a patch, or to be applied.

use serde_json::Value;

use super::call::Call;
use super::decode::{self, Decoded, Repeated};
use super::incoming::decode_unkept_as;
use super::options::{WriteOptions, invalid};
use super::patch::{Form, unpatched};
use super::scaled::API_VERSION;
use crate::apply::{json_patch, merge_patch};
use crate::error::{ApiError, Reason, Subject};
use crate::go;
use crate::kind::built_in::order::{self, Opened};
use crate::kind::built_in::read_unkept;
use crate::lifecycle::metadata;
use crate::request::query::FieldValidation;
use crate::schema::{FieldError, Path};

/// The definition of scales.
const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// What is said of any scale of a custom resource that cannot be read.
const NOT_REGISTERED: &str =
    "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

/// The scale that a client sends.
pub(super) enum Sent {
    Whole(Decoded),
    Patch(Patch),
    Applied(Value),
}

/// A change of a scale.
pub(super) struct Patch {
    form: Form,
    patch: Decoded,
}

impl Sent {
    /// Reads the body of a request.
    pub(super) fn of(call: &Call, verb: &str) -> Result<Self, ApiError> {
        if verb == "update" {
            return whole(call).map(Self::Whole).map_err(|error| {
                let unread = error.reason == Reason::BadRequest;
                if unread && call.resource.kind.is_custom() {
                    return ApiError::bad_request(NOT_REGISTERED);
                }
                error
            });
        }
        let form = Form::of(call)?;
        if form == Form::Apply {
            return applied(call).map(Self::Applied);
        }
        let patch = decode::json(&call.body, Repeated::Last)
            .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
        Ok(Self::Patch(Patch { form, patch }))
    }

    /// The scale that is wanted in the place of this one, and what the client should know besides.
    pub(super) fn on(
        &self,
        call: &Call,
        options: &WriteOptions,
        scale: &Value,
    ) -> Result<(Value, Vec<String>), ApiError> {
        match self {
            Self::Whole(decoded) => {
                let custom = call.resource.kind.is_custom();
                read(decoded.clone(), options).map_err(|why| {
                    let told = format!("Scale in version \"v1\" cannot be handled as a Scale: {why}");
                    ApiError::bad_request(if custom { NOT_REGISTERED.to_owned() } else { told })
                })
            }
            Self::Patch(patch) => patch.on(options, scale),
            Self::Applied(config) => Ok((config.clone(), Vec::new())),
        }
    }
}

impl Patch {
    fn on(&self, options: &WriteOptions, scale: &Value) -> Result<(Value, Vec<String>), ApiError> {
        let patch = &self.patch.value;
        let patched = match self.form {
            Form::Json => json_patch(scale, patch),
            // A scale has no lists, so that these two are one.
            _ => merge_patch(scale, patch),
        };
        let patched = patched.map_err(|error| unpatched(&error))?;
        let strategic = self.form == Form::Strategic;
        let shown = match self.form {
            Form::Strategic => go::printed(patch),
            Form::Json => order::patched(&patched, Some(SCALE), &Opened::by_operations(patch)),
            _ => order::patched(&patched, Some(SCALE), &Opened::by_merge(scale, patch)),
        };
        let refuse = |why: &str| {
            invalid(Subject::default(), &[FieldError::invalid(&Path::new("patch"), &*shown, why)])
        };
        let text = |name: &str| patched.get(name).and_then(Value::as_str).unwrap_or_default();
        if (text("apiVersion"), text("kind")) != (API_VERSION, "Scale") {
            return Err(refuse(&unknown_kind(text("apiVersion"), text("kind"))));
        }
        let duplicates = self.patch.duplicates.clone();
        read(Decoded { value: patched.clone(), duplicates, ..Decoded::default() }, options).map_err(|why| {
            let number = strategic && why.ends_with("of type int32");
            refuse(if number { "unrecognized type: int32" } else { &why })
        })
    }
}

fn whole(call: &Call) -> Result<Decoded, ApiError> {
    let mut decoded = decode_unkept_as(call.content_type(), &call.body, API_VERSION, "Scale")?;
    // What does not say what it is gets no owner where the kind is custom.
    if let Some(fields) = decoded.value.as_object_mut().filter(|_| !call.resource.kind.is_custom()) {
        fields.insert("apiVersion".to_owned(), API_VERSION.into());
        fields.insert("kind".to_owned(), "Scale".into());
    }
    Ok(decoded)
}

fn unknown_kind(version: &str, kind: &str) -> String {
    format!("no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\"")
}

fn applied(call: &Call) -> Result<Value, ApiError> {
    let decoded = decode::yaml(&call.body).map_err(|why| {
        ApiError::bad_request(format!("error decoding YAML: error converting YAML to JSON: {why}"))
    })?;
    Ok(decoded.value)
}

/// What is applied has to be a scale.
pub(super) fn check_applied(config: &Value) -> Result<(), ApiError> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if (version, kind) == (API_VERSION, "Scale") {
        return Ok(());
    }
    let version = if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    Err(ApiError::bad_request(format!("invalid object type: {version}, Kind={kind}")))
}

/// How many replicas are applied has to be a number.
pub(super) fn check_applied_count(config: &Value) -> Result<(), ApiError> {
    if !config.pointer("/spec/replicas").is_some_and(Value::is_string) {
        return Ok(());
    }
    let (namespace, name) = (metadata::text(config, "namespace"), metadata::text(config, "name"));
    let what = format!("({namespace}/{name}; {API_VERSION}, Kind=Scale)");
    let why = ".spec.replicas: expected numeric (int or float), got string";
    Err(ApiError::new(Reason::Unknown, format!("failed to create typed patch object {what}: {why}")))
}

/// A scale read through its type, with what its type does not know.
fn read(decoded: Decoded, options: &WriteOptions) -> Result<(Value, Vec<String>), String> {
    let mut decoded = decoded;
    let mut scale = decoded.value.take();
    let unknown = read_unkept(API_VERSION, "Scale", &mut scale)?;
    let unknown = unknown.into_iter().map(|path| format!("unknown field {path:?}"));
    let odd: Vec<String> = decoded.odd().chain(unknown).collect();
    match options.validation {
        FieldValidation::Strict if !odd.is_empty() => {
            Err(format!("strict decoding error: {}", odd.join(", ")))
        }
        FieldValidation::Warn => Ok((scale, odd)),
        _ => Ok((scale, Vec::new())),
    }
}
