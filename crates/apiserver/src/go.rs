//! How Go prints values, for the messages that quote them.

use serde_json::Value;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_and_lists_are_printed_as_go_does() {
        assert_eq!(printed(&json!({"b": [1, "x", null], "a": true})), "map[a:true b:[1 x <nil>]]");
        assert_eq!(type_of(&json!(1.5)), "float64");
    }
}
