//! Text as Go prints it: the server's messages quote values with Go's formatting verbs.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// From this exponent on, `%v` prints a number with an exponent.
const PLAIN_FORMAT_BELOW: i32 = 21;
/// Down to this exponent, `%v` prints a number without an exponent.
const PLAIN_FORMAT_FROM: i32 = -4;

/// A number as the server holds it: an integer if it is written as one and fits, otherwise floating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GoNumber {
    /// `int64`
    Int(i64),
    /// `float64`
    Float(f64),
}

impl GoNumber {
    /// Reads a JSON number as the server's decoder does.
    pub(crate) fn of(number: &Number) -> Self {
        number.as_i64().map_or_else(|| Self::Float(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
    }

    /// The value as a floating number.
    #[allow(clippy::cast_precision_loss)] // as the server does before it compares with a bound
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// The number as `%v` prints it.
    pub(crate) fn verb_v(self) -> String {
        match self {
            Self::Int(value) => value.to_string(),
            Self::Float(value) => float_v(value),
        }
    }
}

/// A floating number cut to an integer, as the server's machines do it: what does not fit becomes the smallest.
#[allow(clippy::cast_possible_truncation)] // what does not fit is dealt with
pub(crate) fn truncated(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// A floating number as `%v` prints it.
pub(crate) fn float_v(value: f64) -> String {
    with_exponent(value, PLAIN_FORMAT_FROM, 2)
}

fn with_exponent(value: f64, plain_from: i32, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (plain_from..PLAIN_FORMAT_BELOW).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:0digits$}", exponent.unsigned_abs())
}

/// A text as `%q` prints it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c if c.is_ascii() => _ = write!(out, "\\x{:02x}", u32::from(c)),
            c if u32::from(c) > 0xffff => _ = write!(out, "\\U{:08x}", u32::from(c)),
            c => _ = write!(out, "\\u{:04x}", u32::from(c)),
        }
    }
    out.push('"');
    out
}

fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// A value as Go's `json.Marshal` prints it: keys in order, HTML's special characters escaped.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, item)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&escape_html(&Value::from(key.as_str()).to_string()));
                out.push(':');
                write_json(item, out);
            }
            out.push('}');
        }
        Value::Number(number) => match GoNumber::of(number) {
            GoNumber::Int(value) => _ = write!(out, "{value}"),
            GoNumber::Float(value) => out.push_str(&with_exponent(value, -6, 1)),
        },
        Value::String(_) => out.push_str(&escape_html(&value.to_string())),
        Value::Null | Value::Bool(_) => _ = write!(out, "{value}"),
    }
}

fn escape_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

/// Whether two values are equal to Go's `reflect.DeepEqual`, to which 1 and 1.0 differ.
pub(crate) fn deep_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => GoNumber::of(a) == GoNumber::of(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| deep_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, item)| b.get(key).is_some_and(|other| deep_equal(item, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_print_as_with_the_verb_v() {
        for (value, text) in
            [(0.1, "0.1"), (1.0, "1"), (1e20, "100000000000000000000"), (1e21, "1e+21"), (1.5e-7, "1.5e-07")]
        {
            assert_eq!(float_v(value), text);
        }
    }

    #[test]
    fn texts_are_quoted_as_with_the_verb_q() {
        assert_eq!(quote("a\"b\\\n\u{1}é\u{a0}"), r#""a\"b\\\n\x01é\u00a0""#);
    }

    #[test]
    fn json_is_sorted_and_escaped() {
        assert_eq!(
            super::json(&json!({"b": [1, 1.5, 1e-7], "a": "<&>"})),
            r#"{"a":"\u003c\u0026\u003e","b":[1,1.5,1e-7]}"#
        );
    }

    #[test]
    fn an_integer_and_a_float_differ() {
        assert!(deep_equal(&json!([1]), &json!([1])));
        assert!(!deep_equal(&json!([1]), &json!([1.0])));
    }
}
