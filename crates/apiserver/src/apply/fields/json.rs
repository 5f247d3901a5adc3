//! A set of fields as `fieldsV1` holds it.

use serde_json::{Map, Value};

use super::{FieldSet, PathElement};

/// How deep a set may go. The server's JSON reader has a limit of the same kind; ours keeps a request from
/// exhausting the stack.
const MAX_DEPTH: usize = 128;

/// A step that says that the field itself is in the set, beside fields below it.
const SELF: &str = ".";

impl FieldSet {
    /// Writes it as `fieldsV1`.
    pub fn to_json(&self) -> Value {
        self.encode(false)
    }

    fn encode(&self, member: bool) -> Value {
        let mut map = Map::new();
        if member && !self.is_empty() {
            map.insert(SELF.into(), Value::Object(Map::new()));
        }
        for (element, member, children) in self.steps() {
            map.insert(element.encode(), children.encode(member));
        }
        Value::Object(map)
    }

    /// Reads `fieldsV1`; the error is the server's reason for refusing it, in our words.
    pub fn from_json(json: &Value) -> Result<Self, String> {
        decode(json, 0).map(|(set, _)| set)
    }
}

fn decode(json: &Value, depth: usize) -> Result<(FieldSet, bool), String> {
    if depth > MAX_DEPTH {
        return Err("exceeded max depth".into());
    }
    let mut set = FieldSet::new();
    let empty = Map::new();
    let map = match json {
        Value::Object(map) => map,
        Value::Null => &empty,
        other => return Err(format!("expected an object of fields, got {other}")),
    };
    let mut member = false;
    for (key, value) in map {
        if key == SELF {
            member = true;
            continue;
        }
        if let Some(element) = PathElement::decode(key)? {
            let (children, is_member) = decode(value, depth + 1)?;
            set.put(element, is_member, children);
        }
    }
    let member = member || set.is_empty();
    Ok((set, member))
}
