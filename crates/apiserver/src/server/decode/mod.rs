//! Bodies of requests: JSON, YAML or protobuf into values, and what is there twice.

mod json;
mod strings;
mod yaml;

use serde_json::Value;

use crate::go::settle_floats;
use crate::protobuf;

/// The most fields that are named when they are there twice, as on kube-apiserver.
const MAX_NOTED: usize = 100;

/// A body, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// The paths of fields of JSON that were there twice.
    pub(crate) duplicates: Vec<String>,
    /// Which lines of YAML set a field again.
    pub(crate) lines: Vec<String>,
    /// What else is odd, each in words.
    pub(crate) noted: Vec<String>,
    /// The first number that is too large to be one.
    pub(crate) too_large: Option<String>,
}

impl Decoded {
    /// What is odd, each in words.
    pub(crate) fn odd(&self) -> impl Iterator<Item = String> + '_ {
        let duplicates = self.duplicates.iter().map(|path| format!("duplicate field {path:?}"));
        self.lines.iter().chain(&self.noted).cloned().chain(duplicates)
    }

    /// Which lines set a field again, as one error.
    pub(crate) fn odd_lines(&self) -> Option<String> {
        (!self.lines.is_empty()).then(|| format!("yaml: unmarshal errors:\n  {}", self.lines.join("\n  ")))
    }
}

/// What a field that is there twice comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// The last one counts: so it is where nothing is known of the type.
    Last,
    /// The later ones are read into what the first ones made, as Go does with types that it knows.
    Merged,
}

/// Reads JSON.
pub(crate) fn json(text: &[u8], repeated: Repeated) -> Result<Decoded, String> {
    json::read(text, repeated)
}

/// Reads YAML, of which JSON is a part.
pub(crate) fn yaml(text: &[u8]) -> Result<Decoded, String> {
    if std::str::from_utf8(text).is_ok()
        && let Ok(mut decoded) = json::read(text, Repeated::Last)
        && decoded.duplicates.is_empty()
        && decoded.too_large.is_none()
    {
        settle_floats(&mut decoded.value);
        return Ok(decoded);
    }
    yaml::read(text)
}

/// Reads protobuf; an object that does not say what it is is of this kind.
pub(super) fn protobuf(bytes: &[u8], api_version: &str, kind: &str) -> Result<Decoded, protobuf::Error> {
    let value = protobuf::decode_as(bytes, api_version, kind)?;
    Ok(Decoded { value, ..Decoded::default() })
}

/// Reads one value into what another has made.
fn merge(before: Value, after: Value) -> Value {
    match (before, after) {
        (Value::Object(mut fields), Value::Object(after)) => {
            for (name, value) in after {
                let value = match fields.remove(&name) {
                    Some(before) => merge(before, value),
                    None => value,
                };
                fields.insert(name, value);
            }
            Value::Object(fields)
        }
        (Value::Array(before), Value::Array(after)) => {
            let mut before = before.into_iter();
            let items = after.into_iter().map(|item| match before.next() {
                Some(before) => merge(before, item),
                None => item,
            });
            Value::Array(items.collect())
        }
        (_, after) => after,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_there_twice_is_read_into_what_was_there() {
        let (before, after) =
            (json!({"a": [{"x": 1, "y": 2}, 3], "b": {"c": 1}}), json!({"a": [{"x": 2}], "b": 5}));
        assert_eq!(merge(before, after), json!({"a": [{"x": 2, "y": 2}], "b": 5}));
    }

    #[test]
    fn json_is_yaml() {
        assert_eq!(yaml(b"{\"a\": 1.0}").unwrap().value, json!({"a": 1}));
        assert_eq!(
            yaml(b"{\"a\": 1,\n\"a\": \"y\"}").unwrap().lines,
            ["line 2: key \"a\" already set in map"]
        );
    }
}
