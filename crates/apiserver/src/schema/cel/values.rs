//! Objects as rules see them: with the types of their schema, and only what it declares by name.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value as Json;

use super::super::correlate::find_by_keys;
use super::super::formats;
use super::super::go::{GoNumber, deep_equal};
use super::super::node::Node;
use super::environment::{call, in_utc};

/// Words that are no names to the language.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A value as rules see it. A resource shows its version, kind and names whether its schema declares them or not.
pub(super) fn convert(value: &Json, node: &Node, is_resource: bool) -> Value {
    if node.int_or_string {
        return plain(value);
    }
    match (value, node.kind.as_str()) {
        (Json::Object(fields), "object") => convert_object(fields, node, is_resource || node.embedded),
        (Json::Array(items), "array") => {
            let items = items.iter().map(|item| match node.items.as_deref() {
                Some(schema) => convert(item, schema, false),
                None => plain(item),
            });
            Value::List(Arc::new(items.collect()))
        }
        (Json::String(text), "string") => convert_text(text, &node.bounds.format),
        (Json::Number(number), "number") => Value::Float(GoNumber::of(number).as_f64()),
        _ => plain(value),
    }
}

fn convert_object(fields: &serde_json::Map<String, Json>, node: &Node, is_resource: bool) -> Value {
    let mut map = HashMap::with_capacity(fields.len());
    if !is_resource && node.properties.is_empty() {
        for (name, field) in fields {
            let value =
                node.additional_schema().map_or_else(|| plain(field), |node| convert(field, node, false));
            map.insert(key(name.clone()), value);
        }
        return Value::Map(Map { map: Arc::new(map) });
    }
    for (name, field) in fields.iter().filter(|(_, field)| !field.is_null()) {
        let value = match node.properties.get(name) {
            _ if is_resource && name == "metadata" => names_of(field),
            Some(property) => convert(field, property, false),
            None => plain(field),
        };
        map.insert(key(escape(name).unwrap_or_else(|| name.clone())), value);
    }
    Value::Map(Map { map: Arc::new(map) })
}

/// Of metadata, rules see names only.
fn names_of(metadata: &Json) -> Value {
    let names = ["name", "generateName"].into_iter().filter_map(|name| {
        metadata.get(name).filter(|value| value.is_string()).map(|value| (key(name.to_owned()), plain(value)))
    });
    Value::Map(Map { map: Arc::new(names.collect()) })
}

fn convert_text(text: &str, format: &str) -> Value {
    let special = match format {
        "duration" => formats::nanoseconds(text).and_then(|length| call("duration", &format!("{length}ns"))),
        "date" => call("timestamp", &format!("{text}T00:00:00Z")),
        "date-time" => formats::rfc3339(text).and_then(|text| call("timestamp", &in_utc(&text))),
        "byte" => call("base64.decode", text),
        _ => None,
    };
    special.unwrap_or_else(|| Value::String(Arc::new(text.to_owned())))
}

/// A value without a schema.
fn plain(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Number(number) => match GoNumber::of(number) {
            GoNumber::Int(value) => Value::Int(value),
            GoNumber::Float(value) => Value::Float(value),
        },
        Json::Array(items) => Value::List(Arc::new(items.iter().map(plain).collect())),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| (key(name.clone()), plain(field)));
            Value::Map(Map { map: Arc::new(fields.collect()) })
        }
    }
}

fn key(name: String) -> Key {
    Key::String(Arc::new(name))
}

/// The name by which rules know a field; nothing if they cannot.
pub(super) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) {
        return None;
    }
    let escaped = name.replace("__", "__underscores__");
    let mut out = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        match c {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            c => out.push(c),
        }
    }
    Some(out)
}

/// The old value with its sets and keyed lists in the order of the new ones: their order does not count, but the
/// evaluator compares lists item by item.
pub(super) fn align(old: &Json, new: &Json, node: &Node) -> Json {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            let fields = old.iter().map(|(name, field)| {
                let aligned = match (new.get(name), node.field(name)) {
                    (Some(new), Some(node)) => align(field, new, node),
                    _ => field.clone(),
                };
                (name.clone(), aligned)
            });
            Json::Object(fields.collect())
        }
        (Json::Array(old), Json::Array(new)) => {
            let Some(schema) = node.items.as_deref() else { return Json::Array(old.clone()) };
            let pairs: Vec<_> = match node.list_type.as_deref() {
                Some("map") => {
                    new.iter().filter_map(|item| Some((find_by_keys(node, old, item)?, item))).collect()
                }
                Some("set") => new
                    .iter()
                    .filter_map(|item| Some((old.iter().find(|other| deep_equal(other, item))?, item)))
                    .collect(),
                _ => return Json::Array(old.clone()),
            };
            let mut items: Vec<_> = pairs.iter().map(|(old, new)| align(old, new, schema)).collect();
            let is_used = |item: &Json| pairs.iter().any(|(used, _)| std::ptr::eq(*used, item));
            items.extend(old.iter().filter(|item| !is_used(item)).cloned());
            Json::Array(items)
        }
        _ => old.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        for (name, escaped) in [
            ("a", Some("a")),
            ("a_b", Some("a_b")),
            ("a__b", Some("a__underscores__b")),
            ("a-b.c/d", Some("a__dash__b__dot__c__slash__d")),
            ("namespace", Some("__namespace__")),
            ("1a", None),
            ("a$", None),
        ] {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
    }

    #[test]
    fn texts_take_the_type_of_their_format() {
        assert!(matches!(convert_text("2024-01-01T00:00:00Z", "date-time"), Value::Timestamp(_)));
        assert!(matches!(convert_text("2024-01-01", "date"), Value::Timestamp(_)));
        assert!(matches!(convert_text("1h", "duration"), Value::Duration(_)));
        assert!(matches!(convert_text("YWI=", "byte"), Value::Bytes(_)));
        assert!(matches!(convert_text("a", "email"), Value::String(_)));
    }
}
