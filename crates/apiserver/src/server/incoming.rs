//! What a client sends: decoded, of the kind that was asked for, and read through its type.

use serde_json::Value;

use super::Server;
use super::call::Call;
use super::claims::{self, Other};
use super::decode::{self, Decoded, Repeated};
use super::objects;
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
        check_version(call, &incoming)?;
        incoming.warnings.extend(drop_repeated_owners(&mut incoming.object));
        Ok(incoming)
    }

    /// Reads an object through its type.
    pub(super) fn of(call: &Call, options: &WriteOptions, decoded: Decoded) -> Result<Self, ApiError> {
        let wanted = &call.resource.kind_name;
        let is_custom = call.resource.kind.is_custom();
        let kind = claims::text(&decoded.value, "kind").to_owned();
        if is_custom && kind.is_empty() {
            return Err(claims::unrecognized(wanted, &claims::no_kind(&call.body), &call.body));
        }
        let kind = if kind.is_empty() { wanted.clone() } else { kind };
        let version = match claims::text(&decoded.value, "apiVersion") {
            "" if !is_custom => call.resource.api_version(),
            version => version.to_owned(),
        };
        let refuse = |why: &str| claims::cannot_be(&kind, &version, wanted, why);
        if let Some(number) = decoded.too_large.as_deref().filter(|_| is_custom) {
            let why = format!("json: cannot unmarshal number {number} into Go value of type float64");
            return Err(refuse(&why));
        }
        Self::of_any_type(call, options, decoded).map_err(|why| refuse(&why))
    }

    /// Reads an object that may say it is of another type, or says what is wrong with it.
    pub(super) fn of_any_type(
        call: &Call,
        options: &WriteOptions,
        mut decoded: Decoded,
    ) -> Result<Self, String> {
        if !call.resource.kind.is_custom() {
            match claims::other_than(call, &decoded.value) {
                Some(Other::Said(why)) => return Err(why),
                // It is told apart by its version later on.
                Some(Other::Version) => return Ok(Self { object: decoded.value, warnings: Vec::new() }),
                None => objects::set_type(&call.resource, &mut decoded.value),
            }
        }
        let mut object = decoded.value.take();
        let unknown = call.resource.kind.read(&mut object)?;
        Self::noting(call, options, object, decoded, unknown)
    }

    /// What was read, unless there is something odd about it that is not to be.
    pub(super) fn noting(
        call: &Call,
        options: &WriteOptions,
        object: Value,
        mut decoded: Decoded,
        unknown: Vec<String>,
    ) -> Result<Self, String> {
        if !call.resource.kind.is_custom() {
            // Where the type knows nothing, nothing can be there twice.
            decoded.duplicates.retain(|path| !unknown.iter().any(|unknown| is_within(path, unknown)));
        }
        let unknown = unknown.into_iter().map(|path| format!("unknown field {path:?}"));
        match options.validation {
            FieldValidation::Ignore => Ok(Self { object, warnings: Vec::new() }),
            FieldValidation::Warn => Ok(Self { object, warnings: decoded.odd().chain(unknown).collect() }),
            FieldValidation::Strict => {
                let lines = decoded.odd_lines();
                decoded.lines.clear();
                let odd: Vec<String> = lines.into_iter().chain(decoded.odd()).chain(unknown).collect();
                if odd.is_empty() {
                    return Ok(Self { object, warnings: odd });
                }
                Err(format!("strict decoding error: {}", odd.join(", ")))
            }
        }
    }
}

/// Whether a path leads to a field or to something in it.
fn is_within(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A body must be of the version that its path is about; what it is warned of is told nevertheless.
fn check_version(call: &Call, incoming: &Incoming) -> Result<(), ApiError> {
    let (version, expected) = (claims::text(&incoming.object, "apiVersion"), call.resource.api_version());
    if version == expected {
        return Ok(());
    }
    let message = format!(
        "the API version in the data ({version}) does not match the expected API version ({expected})"
    );
    Err(ApiError::bad_request(message).warned(&incoming.warnings))
}

/// Takes away owners that are named again, and warns of it.
fn drop_repeated_owners(object: &mut Value) -> Option<String> {
    let owners = object.get_mut("metadata")?.get_mut("ownerReferences")?.as_array_mut()?;
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
    let repeated = if is_custom { Repeated::Last } else { Repeated::Merged };
    let (version, kind) = (call.resource.api_version(), &call.resource.kind_name);
    decode_as(call.content_type(), &call.body, repeated, &version, kind)
}

/// A body of a kind whose objects are not kept, read through its type.
pub(super) fn decode_unkept(
    content_type: &str,
    body: &[u8],
    api_version: &str,
    kind: &str,
) -> Result<Value, ApiError> {
    let mut value = decode_unkept_as(content_type, body, api_version, kind)?.value;
    read_unkept(api_version, kind, &mut value)
        .map_err(|why| claims::cannot_be(kind, api_version, kind, &why))?;
    Ok(value)
}

/// A body of a kind whose objects are not kept, as a value.
pub(super) fn decode_unkept_as(
    content_type: &str,
    body: &[u8],
    api_version: &str,
    kind: &str,
) -> Result<Decoded, ApiError> {
    let decoded = decode_as(content_type, body, Repeated::Merged, api_version, kind)?;
    let Some(Other::Said(why)) = claims::other_than_kind(api_version, kind, &decoded.value) else {
        return Ok(decoded);
    };
    let or = |name: &str, otherwise| {
        Some(claims::text(&decoded.value, name)).filter(|text| !text.is_empty()).unwrap_or(otherwise)
    };
    Err(claims::cannot_be(or("kind", kind), or("apiVersion", api_version), kind, &why))
}

/// A body of this kind as a value.
fn decode_as(
    content_type: &str,
    body: &[u8],
    repeated: Repeated,
    api_version: &str,
    kind: &str,
) -> Result<Decoded, ApiError> {
    match content_type {
        "" | "application/json" | "application/yaml" => {
            claims::read(content_type, body, repeated).map_err(|why| claims::unrecognized(kind, &why, body))
        }
        protobuf::MEDIA_TYPE => {
            decode::protobuf(body, api_version, kind).map_err(|error| claims::unread(kind, body, &error))
        }
        _ => Err(unsupported(SUPPORTED)),
    }
}

/// The error for a body in a form that is not read.
pub(super) fn unsupported(supported: &str) -> ApiError {
    let why = "the body of the request was in an unknown format - accepted media types include";
    ApiError::new(Reason::UnsupportedMediaType, format!("{why}: {supported}"))
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
