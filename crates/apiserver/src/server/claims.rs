//! What a body says that it is, and what is said of one that is something else.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::call::Call;
use super::decode::{self, Decoded, Repeated};
use crate::error::ApiError;
use crate::kind::built_in::read_known;
use crate::protobuf;

/// How much of a body is shown when nobody knows what it is, as on kube-apiserver.
const SHOWN_BYTES: usize = 30;

/// The group of definitions of custom resources.
const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The type that every body is read into first, as Go names it.
const CLAIM: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// A body in JSON or YAML, of which it is known what it says that it is. The error is what is wrong with it.
pub(super) fn read(media_type: &str, body: &[u8], repeated: Repeated) -> Result<Decoded, String> {
    let unclear = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    let mut decoded = match media_type {
        "application/yaml" => decode::yaml(body)?,
        _ => decode::json(body, repeated).map_err(unclear)?,
    };
    if decoded.value.is_null() {
        decoded.value = json!({});
    }
    check(&decoded.value)?;
    Ok(decoded)
}

/// Whether it can be told what an object says that it is. The error is why not.
pub(super) fn check(object: &Value) -> Result<(), String> {
    let unclear = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    let Value::Object(fields) = object else {
        let kind = crate::go::kind_of(object);
        return Err(unclear(format!("json: cannot unmarshal {kind} into Go value of type {CLAIM}")));
    };
    for name in ["apiVersion", "kind"] {
        // At this point only Go does not care for capital letters.
        let mut given = fields.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        if let Some((_, wrong)) = given.find(|(_, value)| !value.is_string() && !value.is_null()) {
            let kind = crate::go::kind_of(wrong);
            let why = format!("json: cannot unmarshal {kind} into Go struct field .{name} of type string");
            return Err(unclear(why));
        }
    }
    let version = text(object, "apiVersion");
    if version.matches('/').count() > 1 {
        return Err(format!("unexpected GroupVersion string: {version}"));
    }
    Ok(())
}

/// A field at the top that is a text.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The error for a body that does not say what it is.
pub(super) fn unrecognized(kind: &str, why: &str, body: &[u8]) -> ApiError {
    let start = body.get(..SHOWN_BYTES).unwrap_or(body);
    let shown = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => in_digits(start),
    };
    let more = if body.len() > SHOWN_BYTES { " ..." } else { "" };
    let message =
        format!("the object provided is unrecognized (must be of type {kind}): {why} ({shown}{more})");
    ApiError::bad_request(message)
}

/// Bytes in hexadecimal.
fn in_digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The error for an object without a kind.
pub(super) fn no_kind(body: &[u8]) -> String {
    format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body))
}

/// The error for an object of this kind that cannot be one of that kind.
pub(super) fn cannot_be(given: &str, api_version: &str, kind: &str, why: &str) -> ApiError {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    ApiError::bad_request(format!("{given} in version {version:?} cannot be handled as a {kind}: {why}"))
}

/// The error for a body in protobuf.
pub(super) fn unread(kind: &str, body: &[u8], error: &protobuf::Error) -> ApiError {
    match error {
        protobuf::Error::Envelope(fault) => unrecognized(kind, &fault.to_string(), body),
        protobuf::Error::Object { api_version, kind: given, fault } => {
            cannot_be(given, api_version, kind, &fault.to_string())
        }
    }
}

/// Why a built-in kind cannot be read from an object of another.
pub(super) enum Other {
    /// It is the same in another version, and would be converted.
    Version,
    /// In words.
    Said(String),
}

/// Why an object of this version and kind cannot be one of the built-in kind that is asked for; none if it is one.
pub(super) fn other_than(call: &Call, object: &Value) -> Option<Other> {
    other_than_kind(&call.resource.api_version(), &call.resource.kind_name, object)
}

/// The same of a kind that need not be one that is kept.
pub(super) fn other_than_kind(expected: &str, wanted: &str, object: &Value) -> Option<Other> {
    let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    let version = if version.is_empty() { expected } else { version };
    let kind = if kind.is_empty() { wanted } else { kind };
    if version == expected && kind == wanted {
        return None;
    }
    // Definitions are served by a server that does not know the other kinds.
    let is_definition = |version: &str| version.starts_with(&format!("{DEFINITIONS}/"));
    let is_foreign = is_definition(expected) && kind != "Status" && !is_definition(version);
    let read = if is_foreign { None } else { read_known(version, kind, object.clone()) };
    Some(match read {
        None => Other::Said(format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )),
        Some(Err(why)) => Other::Said(why),
        Some(Ok(())) if kind == wanted && inside(version) == inside(expected) => Other::Version,
        Some(Ok(())) => {
            let (last, inside) = (version.rsplit('/').next().unwrap_or_default(), inside(expected));
            Other::Said(format!("converting ({last}.{kind}) to ({inside}.{wanted}): unknown conversion"))
        }
    })
}

/// Where kube-apiserver has the types that it works with, of a version of a group.
fn inside(api_version: &str) -> &str {
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    match group.split('.').next() {
        None | Some("" | "events") => "core",
        Some(first) => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_shown_in_part() {
        let message = |body: &[u8]| unrecognized("K", "why", body).message;
        let start = "the object provided is unrecognized (must be of type K): why ";
        assert_eq!(message(b""), format!("{start}(<empty>)"));
        assert_eq!(message(b"[1]"), format!("{start}(5b315d)"));
        assert_eq!(message(b"{\"a\":\xff}"), format!("{start}({{\"a\":\u{fffd}}})"));
        let long = format!("{{{}}}", "x".repeat(50));
        assert_eq!(message(long.as_bytes()), format!("{start}({{{} ...)", "x".repeat(29)));
    }

    #[test]
    fn what_a_body_says_that_it_is_must_be_text() {
        let why = |body: &[u8]| read("application/json", body, Repeated::Last).unwrap_err();
        let start = "couldn't get version/kind; json parse error: json: cannot unmarshal";
        assert_eq!(why(b"[]"), format!("{start} array into Go value of type {CLAIM}"));
        assert_eq!(
            why(b"{\"KIND\": 5}"),
            format!("{start} number into Go struct field .kind of type string")
        );
        assert_eq!(why(b"{\"apiVersion\": \"a/b/c\"}"), "unexpected GroupVersion string: a/b/c");
        assert_eq!(read("application/json", b"null", Repeated::Last).unwrap().value, json!({}));
    }
}
