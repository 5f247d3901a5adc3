//! How JSON values are ordered, compared and printed where Kubernetes' answers depend on it: numbers by their worth
//! whatever their form, text with the escapes of the Go programs that clients are written against.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::go;

/// A value that can be ordered and be a key; `1` and `1.0` are the same.
#[derive(Clone, Debug)]
pub struct Literal(pub Value);

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Literal {}

impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Literal {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

/// Whether two values are the same, with numbers by their worth.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    compare(a, b) == Ordering::Equal
}

/// The order of the server: numbers, text, booleans, lists, objects, null.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let (mut left, mut right): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
            left.sort_by_key(|(key, _)| *key);
            right.sort_by_key(|(key, _)| *key);
            let pairs = left.iter().zip(&right);
            let first = pairs.map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)));
            first.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

/// JSON as the server stores it inside of text: compact, keys in order, `<`, `>` and `&` escaped.
pub(crate) fn json(value: &Value) -> String {
    let mut text = String::new();
    write_json(value, &mut text);
    text
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => json_string(text, out),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                json_string(key, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
    }
}

fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escape(c, out),
            c if c < ' ' => escape(c, out),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn escape(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// A number without a fraction that is zero.
pub(crate) fn number_text(number: &Number) -> String {
    match (number.is_f64(), number.as_f64()) {
        (true, Some(0.0)) => "0".into(),
        (true, Some(float)) => go::float_text(float),
        _ => number.to_string(),
    }
}

/// Text between quotes, as in the server's messages.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            c if c < ' ' || c == '\u{7f}' => write!(out, "\\x{:02x}", u32::from(c)),
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

/// A value within a path of a message: `[name="a"]`.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) => number_text(number),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            map.iter().fold(String::new(), |text, (key, value)| text + key + "=" + &shown(value))
        }
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// A value as Go's `%v` prints it, for messages that print values that way.
pub(crate) fn go_print(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        Value::Null => "<nil>".into(),
        Value::Bool(value) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_print).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<_> =
                entries.into_iter().map(|(key, value)| format!("{key}:{}", go_print(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// A value as Go's `%#v` prints it, for the one message that prints values that way.
pub(crate) fn go_syntax(value: &Value) -> String {
    let many = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::String(text) => quoted(text),
        Value::Null => "interface {}(nil)".into(),
        Value::Array(items) => format!("[]interface {{}}{{{}}}", many(items.iter().map(go_syntax).collect())),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entry = |(key, value): (&String, &Value)| format!("{}:{}", quoted(key), go_syntax(value));
            format!("map[string]interface {{}}{{{}}}", many(entries.into_iter().map(entry).collect()))
        }
        Value::Number(_) | Value::Bool(_) => go_print(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_the_same_whatever_their_form() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!({"a": [1.0]}), &json!({"a": [1]})));
        assert!(!equal(&json!(1), &json!("1")));
        assert!(Literal(json!(9)) < Literal(json!(10)));
        assert!(Literal(json!(10)) < Literal(json!("1")));
    }

    #[test]
    fn objects_compare_by_key_then_value_then_length() {
        assert_eq!(compare(&json!({"a": 1}), &json!({"a": 1, "b": 1})), Ordering::Less);
        assert_eq!(compare(&json!({"b": 1}), &json!({"a": 1, "b": 1})), Ordering::Greater);
        assert_eq!(compare(&json!([1, 2]), &json!([1])), Ordering::Greater);
    }

    #[test]
    fn stored_json_escapes_what_html_would_read() {
        assert_eq!(
            json(&json!({"b": "<&>", "a": [1.0, 0.5, null]})),
            r#"{"a":[1,0.5,null],"b":"\u003c\u0026\u003e"}"#
        );
    }

    #[test]
    fn quoted_text_has_escapes_of_its_own() {
        assert_eq!(quoted("a\"b\n\u{1}"), r#""a\"b\n\x01""#);
    }
}
