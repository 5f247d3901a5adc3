//! Messages into JSON objects, field by field.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::messages::{self, Message, Place};
use super::wire::{self, Content, Fields};
use super::{Fault, special};
use crate::go;
use crate::kind::built_in::types::Type;

/// How many messages may be inside of each other: more than any object that can be stored has.
const MAX_DEPTH: usize = 128;

/// The fields of an entry of a map.
const KEY: u32 = 1;
const VALUE: u32 = 2;

/// The only field of a list that is a message.
const ITEMS: u32 = 1;

/// Reads a message into an object. A field that comes twice adds to what is there, as in protobuf.
pub(super) fn message(
    bytes: &[u8],
    of: &Message,
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), Fault> {
    if depth >= MAX_DEPTH {
        return Err(Fault::Depth);
    }
    for field in Fields::of(bytes) {
        let (number, content) = field?;
        match of.get(&number) {
            None => {}
            Some(Place::Around(definition)) => {
                let Content::Bytes(bytes) = content else { return Err(wrong(definition)) };
                message(bytes, known(definition)?, object, depth + 1)?;
            }
            Some(Place::Field { name, of, wrapped }) => {
                let old = object.get_mut(name).map(Value::take);
                let slot = Slot { of, wrapped: *wrapped, depth: depth + 1 };
                let value = slot.value(content, old).map_err(|error| error.within(name))?;
                object.insert(name.clone(), value);
            }
        }
    }
    Ok(())
}

/// A place for values of one type.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a> {
    pub(super) of: &'a Type,
    pub(super) wrapped: bool,
    pub(super) depth: usize,
}

impl Slot<'_> {
    /// The value, which adds to what is there already.
    pub(super) fn value(self, content: Content<'_>, old: Option<Value>) -> Result<Value, Fault> {
        match (self.of, content) {
            (Type::Pointer(of), content) => Slot { of, ..self }.value(content, old),
            (Type::Text { .. }, Content::Bytes(bytes)) => Ok(wire::text(bytes)?.into()),
            (Type::Bytes, Content::Bytes(bytes)) => Ok(BASE64_STANDARD.encode(bytes).into()),
            (Type::Integer { is_wide, .. }, Content::Number(number)) => Ok(integer(number, *is_wide)),
            (Type::Bool, Content::Number(number)) => Ok((number != 0).into()),
            (Type::Float, Content::Eight(bytes)) => Ok(go::float(f64::from_le_bytes(bytes))),
            (Type::Struct(definition), Content::Bytes(bytes)) => {
                let mut object = fields(old);
                message(bytes, known(definition)?, &mut object, self.depth)?;
                Ok(Value::Object(object))
            }
            (Type::List { item, .. }, content) => {
                let mut list = items(old);
                let slot = Slot { of: item, ..self };
                if self.wrapped {
                    slot.unwrap(content, &mut list)?;
                } else {
                    slot.item(content, &mut list)?;
                }
                Ok(Value::Array(list))
            }
            (Type::Map { value, .. }, Content::Bytes(bytes)) => {
                let mut map = fields(old);
                let (key, value) = Slot { of: value, ..self }.entry(bytes)?;
                map.insert(key, value);
                Ok(Value::Object(map))
            }
            (Type::Special(of), Content::Bytes(bytes)) => special::value(*of, bytes, self.depth),
            (of, _) => Err(wrong(&of.name())),
        }
    }

    /// An item of a list, or many if they are numbers side by side.
    fn item(self, content: Content<'_>, list: &mut Vec<Value>) -> Result<(), Fault> {
        let Content::Bytes(bytes) = content else {
            list.push(self.value(content, None)?);
            return Ok(());
        };
        match self.of {
            Type::Integer { .. } | Type::Bool => {
                let mut numbers = Fields::of(bytes);
                while !numbers.is_at_end() {
                    list.push(self.value(Content::Number(numbers.number()?), None)?);
                }
            }
            Type::Float => {
                let mut numbers = Fields::of(bytes);
                while !numbers.is_at_end() {
                    let eight = numbers.bytes(8)?.try_into().map_err(|_| Fault::End)?;
                    list.push(self.value(Content::Eight(eight), None)?);
                }
            }
            _ => list.push(self.value(content, None)?),
        }
        Ok(())
    }

    /// The items of a list that is a message.
    fn unwrap(self, content: Content<'_>, list: &mut Vec<Value>) -> Result<(), Fault> {
        let Content::Bytes(bytes) = content else { return Err(wrong(&self.of.name())) };
        for field in Fields::of(bytes) {
            if let (ITEMS, content) = field? {
                Slot { wrapped: false, ..self }.item(content, list)?;
            }
        }
        Ok(())
    }

    /// A key and its value; what is not there is empty.
    fn entry(self, bytes: &[u8]) -> Result<(String, Value), Fault> {
        let (mut key, mut value) = (String::new(), None);
        for field in Fields::of(bytes) {
            match field? {
                (KEY, Content::Bytes(bytes)) => wire::text(bytes)?.clone_into(&mut key),
                (VALUE, content) => {
                    value = Some(self.value(content, value).map_err(|error| error.within(&key))?);
                }
                _ => {}
            }
        }
        // Reading through the type makes of nothing what is empty for it.
        Ok((key, value.unwrap_or_default()))
    }
}

/// The message of a definition that a type names.
pub(super) fn known(definition: &str) -> Result<&'static Message, Fault> {
    messages::of(definition).ok_or_else(|| wrong(definition))
}

fn wrong(wanted: &str) -> Fault {
    Fault::Form { wanted: wanted.to_owned() }
}

fn fields(old: Option<Value>) -> Map<String, Value> {
    match old {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn items(old: Option<Value>) -> Vec<Value> {
    match old {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// A whole number in two's complement; what does not fit is cut, as Go does it.
pub(super) fn integer(number: u64, is_wide: bool) -> Value {
    let wide = number.cast_signed();
    #[expect(clippy::cast_possible_truncation, reason = "as Go reads narrow numbers")]
    if is_wide { wide.into() } else { (wide as i32).into() }
}
