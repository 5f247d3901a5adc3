//! Messages that are no objects in JSON: times, quantities, raw JSON, and what can be one of two things.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Fault;
use super::object::{self, known, message};
use super::wire::{Content, Fields, text};
use crate::kind::built_in::types::Special;
use crate::server::decode::{self, Repeated};

/// The definition of schemas.
const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// Nanoseconds in a microsecond: times are no finer.
const MICROSECOND: i32 = 1000;

/// The value of such a message.
pub(super) fn value(of: Special, bytes: &[u8], depth: usize) -> Result<Value, Fault> {
    match of {
        Special::Time => time(bytes, false),
        Special::MicroTime => time(bytes, true),
        Special::Quantity | Special::Resource => quantity(bytes),
        Special::IntOrString => int_or_string(bytes),
        Special::Raw => raw(bytes),
        Special::SchemaOrBool => schema_or_bool(bytes, depth),
        Special::SchemaOrList | Special::SchemaOrTexts => schema_or_list(of, bytes, depth),
    }
}

/// Seconds and nanoseconds; nothing at all is no time.
fn time(bytes: &[u8], is_micro: bool) -> Result<Value, Fault> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    for field in Fields::of(bytes) {
        match field? {
            (1, Content::Number(number)) => seconds = number.cast_signed(),
            (2, Content::Number(number)) => nanos = i32::try_from(number).map_err(|_| Fault::Time)?,
            _ => {}
        }
    }
    let nanos = if is_micro { nanos - nanos % MICROSECOND } else { 0 };
    let time = Timestamp::new(seconds, nanos).map_err(|_| Fault::Time)?;
    let form = if is_micro { "%Y-%m-%dT%H:%M:%S%.6fZ" } else { "%Y-%m-%dT%H:%M:%SZ" };
    Ok(time.strftime(form).to_string().into())
}

fn quantity(bytes: &[u8]) -> Result<Value, Fault> {
    let mut value = Value::Null;
    for field in Fields::of(bytes) {
        if let (1, Content::Bytes(bytes)) = field? {
            value = text(bytes)?.into();
        }
    }
    Ok(value)
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Fault> {
    let (mut is_text, mut number, mut word) = (false, Value::from(0), "");
    for field in Fields::of(bytes) {
        match field? {
            (1, Content::Number(kind)) => is_text = kind != 0,
            (2, Content::Number(given)) => number = object::integer(given, false),
            (3, Content::Bytes(bytes)) => word = text(bytes)?,
            _ => {}
        }
    }
    Ok(if is_text { word.into() } else { number })
}

/// JSON as text.
fn raw(bytes: &[u8]) -> Result<Value, Fault> {
    let mut json: &[u8] = &[];
    for field in Fields::of(bytes) {
        if let (1, Content::Bytes(bytes)) = field? {
            json = bytes;
        }
    }
    if json.is_empty() {
        return Ok(Value::Null);
    }
    decode::json(json, Repeated::Merged).map(|decoded| decoded.value).map_err(Fault::Json)
}

fn schema_or_bool(bytes: &[u8], depth: usize) -> Result<Value, Fault> {
    let (mut allows, mut schema) = (false, None);
    for field in Fields::of(bytes) {
        match field? {
            (1, Content::Number(number)) => allows = number != 0,
            (2, Content::Bytes(bytes)) => read_schema(bytes, schema.get_or_insert_default(), depth)?,
            _ => {}
        }
    }
    Ok(schema.map_or(allows.into(), Value::Object))
}

/// A schema, or a list: of schemas or of texts.
fn schema_or_list(of: Special, bytes: &[u8], depth: usize) -> Result<Value, Fault> {
    let (mut schema, mut list) = (None, Vec::new());
    for field in Fields::of(bytes) {
        match field? {
            (1, Content::Bytes(bytes)) => read_schema(bytes, schema.get_or_insert_default(), depth)?,
            (2, Content::Bytes(bytes)) if of == Special::SchemaOrTexts => list.push(text(bytes)?.into()),
            (2, Content::Bytes(bytes)) => {
                let mut item = Map::new();
                read_schema(bytes, &mut item, depth)?;
                list.push(Value::Object(item));
            }
            _ => {}
        }
    }
    Ok(if list.is_empty() { schema.map_or(Value::Null, Value::Object) } else { Value::Array(list) })
}

fn read_schema(bytes: &[u8], schema: &mut Map<String, Value>, depth: usize) -> Result<(), Fault> {
    message(bytes, known(SCHEMA)?, schema, depth + 1)
}
