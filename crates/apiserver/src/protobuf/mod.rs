//! Objects in Kubernetes' protobuf form, which clients send for built-in kinds: read into the JSON that everything else takes,
//! never written.
//!
//! The form has an envelope, which says the kind, around a message whose fields have numbers. Which number is which field is in
//! `data/messages.json`; what a field holds is told by the Go types, as for JSON. What comes out is not yet read through
//! its type: what is empty is there where the client sent it.

mod error;
mod messages;
mod object;
mod special;
#[cfg(test)]
mod tests;
mod wire;

pub use error::{Error, Fault};

use serde_json::{Map, Value};

use self::wire::{Content, Fields};

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What every object begins with.
const PREFIX: &[u8; 4] = b"k8s\0";

/// The fields of the envelope, and of the type in it.
const TYPE_META: u32 = 1;
const RAW: u32 = 2;
const API_VERSION: u32 = 1;
const KIND: u32 = 2;

/// The deepest that the JSON may be, so that what is stored can be read again: as deep as what is sent as JSON.
const MAX_JSON_DEPTH: usize = 127;

/// Reads an object.
///
/// # Errors
/// If it is no object in this form, or of a kind that is not known.
pub fn decode(bytes: &[u8]) -> Result<Value, Error> {
    decode_as(bytes, "", "")
}

/// The same; an object that does not say what it is is of this kind.
///
/// # Errors
/// As [`decode`].
pub fn decode_as(bytes: &[u8], api_version: &str, kind: &str) -> Result<Value, Error> {
    let envelope = Envelope::read(bytes).map_err(Error::Envelope)?;
    let api_version = if envelope.api_version.is_empty() { api_version } else { envelope.api_version };
    let kind = if envelope.kind.is_empty() { kind } else { envelope.kind };
    envelope.open(api_version, kind).map_err(|fault| Error::Object {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        fault,
    })
}

/// What is around an object.
#[derive(Default)]
struct Envelope<'a> {
    api_version: &'a str,
    kind: &'a str,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        if bytes.is_empty() {
            return Err(Fault::NoData);
        }
        let mut envelope = Self::default();
        let rest = bytes.strip_prefix(PREFIX).ok_or(Fault::Prefix)?;
        if rest.is_empty() {
            return Err(Fault::NoBody);
        }
        for field in Fields::of(rest) {
            match field? {
                (TYPE_META, Content::Bytes(bytes)) => envelope.read_type(bytes)?,
                (RAW, Content::Bytes(bytes)) => envelope.raw = bytes,
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// What is in it.
    fn open(&self, api_version: &str, kind: &str) -> Result<Value, Fault> {
        let message = messages::of_kind(api_version, kind)
            .ok_or_else(|| Fault::Kind { api_version: api_version.to_owned(), kind: kind.to_owned() })?;
        let mut object = Map::new();
        object::message(self.raw, message, &mut object, 0)?;
        object.insert("apiVersion".to_owned(), api_version.into());
        object.insert("kind".to_owned(), kind.into());
        let object = Value::Object(object);
        if depth(&object) > MAX_JSON_DEPTH { Err(Fault::Depth) } else { Ok(object) }
    }

    fn read_type(&mut self, bytes: &'a [u8]) -> Result<(), Fault> {
        for field in Fields::of(bytes) {
            match field? {
                (API_VERSION, Content::Bytes(bytes)) => self.api_version = wire::text(bytes)?,
                (KIND, Content::Bytes(bytes)) => self.kind = wire::text(bytes)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// How many lists and objects are inside of each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
