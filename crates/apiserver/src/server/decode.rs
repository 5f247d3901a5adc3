//! Bodies of requests: JSON, YAML or protobuf into values, and what is there twice.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::protobuf;

/// The most fields that are named when they are there twice.
const MAX_DUPLICATES: usize = 64;

/// A body, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// The paths of fields that were there twice; the last one counts.
    pub(crate) duplicates: Vec<String>,
}

/// Reads JSON.
pub(crate) fn json(text: &[u8]) -> Result<Decoded, String> {
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let place = Place { path: String::new(), duplicates: &mut duplicates };
    let value = place.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(Decoded { value, duplicates })
}

/// Reads YAML, of which JSON is a part.
pub(super) fn yaml(text: &[u8]) -> Result<Decoded, String> {
    if let Ok(decoded) = json(text) {
        return Ok(decoded);
    }
    let mut duplicates = Vec::new();
    let place = Place { path: String::new(), duplicates: &mut duplicates };
    let value = place
        .deserialize(serde_yaml_ng::Deserializer::from_slice(text))
        .map_err(|error| error.to_string())?;
    Ok(Decoded { value, duplicates })
}

/// Reads protobuf; an object that does not say what it is is of this kind.
pub(super) fn protobuf(bytes: &[u8], api_version: &str, kind: &str) -> Result<Decoded, protobuf::Error> {
    let value = protobuf::decode_as(bytes, api_version, kind)?;
    Ok(Decoded { value, duplicates: Vec::new() })
}

/// A place in a document.
struct Place<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // Kubernetes knows signed numbers only: a greater one is a float.
        #[expect(clippy::cast_precision_loss, reason = "as Go's decoder rounds it")]
        Ok(i64::try_from(value).map_or_else(|_| float(value as f64), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, list.len());
            match items.next_element_seed(Place { path, duplicates: self.duplicates })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<Key>()? {
            let Key(name) = key;
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            if fields.contains_key(&name) && self.duplicates.len() < MAX_DUPLICATES {
                self.duplicates.push(path.clone());
            }
            let value = entries.next_value_seed(Place { path, duplicates: self.duplicates })?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

/// The name of a field; in YAML it may look like a number or a switch.
struct Key(String);

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self(name)),
            other @ (Value::Number(_) | Value::Bool(_)) => Ok(Self(other.to_string())),
            other => Err(D::Error::custom(format!("{other} cannot be the name of a field"))),
        }
    }
}

/// Go prints a whole float as an integer, so that is what it is after it was stored.
pub(crate) fn float(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range")]
        return (value as i64).into();
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_there_twice_is_named_and_the_last_counts() {
        let decoded = json(br#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": 3}"#).unwrap();
        assert_eq!(decoded.value, json!({"a": 3, "b": [{"c": 2}]}));
        assert_eq!(decoded.duplicates, ["b[0].c", "a"]);
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(json(b"[1.0, 1.5, 2e3]").unwrap().value, json!([1, 1.5, 2000]));
        assert!(json(b"[18446744073709551615]").unwrap().value[0].is_f64());
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in [&b"{"[..], b"{} x", b"", b"\xff", b"{\"a\": \"\xff\"}"] {
            assert!(json(bad).is_err(), "{bad:?}");
        }
        assert!(json("[".repeat(100_000).as_bytes()).is_err(), "too deep");
    }

    #[test]
    fn yaml_is_read_too() {
        let decoded = yaml(b"a: 1\nb:\n- x\n- true\n").unwrap();
        assert_eq!(decoded.value, json!({"a": 1, "b": ["x", true]}));
        assert_eq!(yaml(b"{\"a\": 1}").unwrap().value, json!({"a": 1}));
        assert!(yaml(b"a: [").is_err());
    }
}
