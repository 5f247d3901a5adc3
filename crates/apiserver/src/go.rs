//! How Go prints values, and what it calls them, for the messages that quote them.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Number, Value};

/// What Go's reader calls a value.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value as `%v` prints it.
pub(crate) fn printed(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(printed).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", printed(value)));
            format!("map[{}]", joined(fields.collect()))
        }
        Value::Number(number) if number.is_f64() => number.as_f64().map(float_text).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// The type of a value as `%T` prints it.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as the text that clients get.
pub(crate) fn json(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    write_json(value, &mut text);
    text
}

/// The same, after what is there.
pub(crate) fn write_json(value: &Value, text: &mut Vec<u8>) {
    // Writing a value into memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(text, Plainly));
}

/// JSON with floats as Go writes them.
struct Plainly;

impl Formatter for Plainly {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_text(value).as_bytes())
    }
}

/// A float as it is in JSON: with an exponent only when it is very large or very small.
pub(crate) fn float_text(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    if size < 1.0 { text } else { text.replace('e', "e+") }
}

/// Makes whole floats integers: Go prints them so, and that is what they are after they were stored.
pub(crate) fn settle_floats(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(float) = number.as_f64() {
                *value = self::float(float);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle_floats),
        Value::Object(fields) => fields.values_mut().for_each(settle_floats),
        _ => {}
    }
}

/// A float, or the integer that it is after it was stored.
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
    fn maps_and_lists_are_printed_as_go_does() {
        assert_eq!(printed(&json!({"b": [1, "x", null], "a": true})), "map[a:true b:[1 x <nil>]]");
        assert_eq!(type_of(&json!(1.5)), "float64");
    }

    #[test]
    fn whole_floats_are_integers() {
        let mut value = json!([1.0, {"a": [1.5, 2e3]}, 1e300]);
        settle_floats(&mut value);
        assert_eq!(value, json!([1, {"a": [1.5, 2000]}, 1e300]));
    }

    #[test]
    fn floats_are_written_as_go_does() {
        let value =
            json!([9_223_372_036_854_775_808.0, 1e20, 1e21, 1.5e300, 0.000_001, 1e-7, -0.0, 0.1, 2.0]);
        let text = "[9223372036854776000,100000000000000000000,1e+21,1.5e+300,0.000001,1e-7,-0,0.1,2]";
        assert_eq!(String::from_utf8(super::json(&value)).unwrap(), text);
    }
}
