//! What a client sends: decoded, of the kind that was asked for, and read through its type.

use serde_json::Value;

use super::Server;
use super::call::Call;
use super::decode::{self, Decoded};
use super::options::WriteOptions;
use crate::apply::Write;
use crate::error::{ApiError, Reason};
use crate::kind::built_in::read_unkept;
use crate::lifecycle::Part;
use crate::protobuf;
use crate::request::query::FieldValidation;
use crate::store::WriteError;

/// The forms of bodies that are read.
pub(super) const SUPPORTED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// An object that a client sent.
pub(super) struct Incoming {
    pub(super) object: Value,
    pub(super) warnings: Vec<String>,
}

impl Incoming {
    /// Reads the body of a request.
    pub(super) fn read(call: &Call, options: &WriteOptions) -> Result<Self, ApiError> {
        let decoded = decode_body(call)?;
        let mut incoming = Self::of(call, options, decoded)?;
        incoming.warnings.extend(drop_repeated_owners(&mut incoming.object));
        Ok(incoming)
    }

    /// Reads an object through its type.
    pub(super) fn of(call: &Call, options: &WriteOptions, decoded: Decoded) -> Result<Self, ApiError> {
        let mut decoded = decoded;
        check_type(call, &mut decoded.value)?;
        Self::of_its_type(call, options, decoded).map_err(|why| unreadable(call, &why))
    }

    /// Reads an object that says it is of its type, or says what is wrong with it.
    pub(super) fn of_its_type(call: &Call, options: &WriteOptions, decoded: Decoded) -> Result<Self, String> {
        let Decoded { value: mut object, duplicates } = decoded;
        let unknown = call.resource.kind.read(&mut object)?;
        let duplicates = duplicates.into_iter().map(|path| format!("duplicate field {path:?}"));
        let unknown = unknown.into_iter().map(|path| format!("unknown field {path:?}"));
        let odd: Vec<String> = duplicates.chain(unknown).collect();
        match options.validation {
            FieldValidation::Strict if !odd.is_empty() => {
                Err(format!("strict decoding error: {}", odd.join(", ")))
            }
            FieldValidation::Warn => Ok(Self { object, warnings: odd }),
            _ => Ok(Self { object, warnings: Vec::new() }),
        }
    }
}

/// Takes away owners that are named again, and warns of it.
fn drop_repeated_owners(object: &mut Value) -> Option<String> {
    let owners = object.pointer_mut("/metadata/ownerReferences")?.as_array_mut()?;
    let mut once: Vec<Value> = Vec::with_capacity(owners.len());
    let mut repeated = Vec::new();
    for owner in owners.drain(..) {
        if once.contains(&owner) {
            repeated.push(owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            once.push(owner);
        }
    }
    *owners = once;
    let about = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
         reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed";
    (!repeated.is_empty()).then(|| format!("{about}: {}", repeated.join(", ")))
}

/// The body of a request as a value.
fn decode_body(call: &Call) -> Result<Decoded, ApiError> {
    let is_custom = call.resource.stored.is_some();
    if is_custom && call.content_type() == protobuf::MEDIA_TYPE {
        return Err(unsupported("application/json, application/yaml"));
    }
    decode_as(call.content_type(), &call.body, &call.resource.api_version(), &call.resource.kind_name)
}

/// A body of a kind whose objects are not kept, read through its type.
pub(super) fn decode_unkept(
    content_type: &str,
    body: &[u8],
    api_version: &str,
    kind: &str,
) -> Result<Value, ApiError> {
    let mut value = decode_as(content_type, body, api_version, kind)?.value;
    read_unkept(api_version, kind, &mut value)
        .map_err(|why| ApiError::bad_request(cannot_be(kind, api_version, kind, &why)))?;
    Ok(value)
}

/// A body of this kind as a value.
pub(super) fn decode_as(
    content_type: &str,
    body: &[u8],
    api_version: &str,
    kind: &str,
) -> Result<Decoded, ApiError> {
    let unrecognized =
        |why: &str| format!("the object provided is unrecognized (must be of type {kind}): {why}");
    let decoded = match content_type {
        "" | "application/json" => decode::json(body),
        "application/yaml" => decode::yaml(body),
        protobuf::MEDIA_TYPE => {
            return decode::protobuf(body, api_version, kind).map_err(|error| {
                ApiError::bad_request(match &error {
                    protobuf::Error::Envelope(fault) => unrecognized(&fault.to_string()),
                    protobuf::Error::Object { api_version, kind: given, fault } => {
                        cannot_be(given, api_version, kind, &fault.to_string())
                    }
                })
            });
        }
        _ => return Err(unsupported(SUPPORTED)),
    };
    let parse = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    decoded.map_err(|why| ApiError::bad_request(unrecognized(&parse(why))))
}

/// The error for a body in a form that is not read.
pub(super) fn unsupported(supported: &str) -> ApiError {
    let why = "the body of the request was in an unknown format - accepted media types include";
    ApiError::new(Reason::UnsupportedMediaType, format!("{why}: {supported}"))
}

/// A body must be of the kind that its path is about.
pub(super) fn check_type(call: &Call, object: &mut Value) -> Result<(), ApiError> {
    if !object.is_object() {
        return Err(ApiError::bad_request("the body of the request is not an object"));
    }
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let expected = call.resource.api_version();
    if !call.resource.kind.is_custom() {
        let wanted = &call.resource.kind_name;
        if (version.is_empty() || version == expected) && (kind.is_empty() || kind == wanted) {
            object["apiVersion"] = expected.into();
            object["kind"] = wanted.clone().into();
            return Ok(());
        }
        return Err(of_another_type(call, version, kind));
    }
    if !version.is_empty() && version != expected {
        let message = format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        );
        return Err(ApiError::bad_request(message));
    }
    if !kind.is_empty() && kind != call.resource.kind_name {
        let expected = &call.resource.kind_name;
        let message = format!("the kind in the data ({kind}) does not match the expected kind ({expected})");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

/// The error for a body of another built-in type.
fn of_another_type(call: &Call, version: &str, kind: &str) -> ApiError {
    let wanted = &call.resource.kind_name;
    let last = version.rsplit('/').next().unwrap_or_default();
    let why = if version == call.resource.api_version() {
        let inside = if call.resource.group.is_empty() { "core" } else { &call.resource.group };
        let inside = inside.split('.').next().unwrap_or_default();
        format!("converting ({last}.{kind}) to ({inside}.{wanted}): unknown conversion")
    } else {
        let kind = if kind.is_empty() { wanted } else { kind };
        format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )
    };
    let kind = if kind.is_empty() { wanted } else { kind };
    ApiError::bad_request(format!("{kind} in version {last:?} cannot be handled as a {wanted}: {why}"))
}

/// The error for an object that does not fit its type.
pub(super) fn unreadable(call: &Call, why: &str) -> ApiError {
    let (kind, version) = (&call.resource.kind_name, &call.resource.version);
    ApiError::bad_request(cannot_be(kind, version, kind, why))
}

fn cannot_be(given: &str, api_version: &str, kind: &str, why: &str) -> String {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    format!("{given} in version {version:?} cannot be handled as a {kind}: {why}")
}

/// Who writes, and when: what ownership needs to know of a request.
pub(super) struct Writer {
    api_version: String,
    subresource: String,
    manager: String,
    now: jiff::Timestamp,
}

impl Writer {
    /// The same, as `apply` takes it.
    pub(super) fn by<'a>(&'a self, call: &'a Call) -> Write<'a> {
        let sharing = call.resource.kind.sharing();
        let reset = match call.part() {
            Part::Whole | Part::Finalize => &sharing.reset_by_whole,
            Part::Status => &sharing.reset_by_status,
        };
        Write {
            typings: &sharing.typings,
            api_version: &self.api_version,
            kind: &call.resource.kind_name,
            subresource: &self.subresource,
            manager: &self.manager,
            reset,
            empty: &sharing.empty,
            now: self.now,
        }
    }
}

impl Server {
    /// Who writes, and when.
    pub(super) fn write(&self, call: &Call, options: &WriteOptions) -> Writer {
        use crate::lifecycle::Source;
        Writer {
            api_version: call.resource.api_version(),
            subresource: call.subresource.clone().unwrap_or_default(),
            manager: options.manager.clone(),
            now: self.source().now(),
        }
    }
}

/// Why the store did not take a write, as the API says it.
pub(super) fn store_refused(call: &Call, name: &str, error: &WriteError) -> ApiError {
    error.answer(call.subject_named(name))
}
