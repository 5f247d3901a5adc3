//! Values that are read without ever being text, as those that a strategic merge patch has made: Go converts them instead of
//! decoding them.

use serde_json::Value;

use super::scalars::{Wrong, read};
use crate::kind::built_in::types::Type;

/// Converts what is no object, list or map into its type, or says that it is something else.
pub(super) fn scalar(value: Value, of: &Type) -> Result<Value, Wrong> {
    let said = |words: String| Err(Wrong::Said(words));
    match (of, &value) {
        (Type::Integer { is_wide: false, .. }, Value::Number(number)) if number.is_i64() => {
            // What does not fit is cut off.
            #[expect(clippy::cast_possible_truncation, reason = "as Go's conversion does it")]
            let cut = number.as_i64().unwrap_or_default() as i32;
            Ok(cut.into())
        }
        (Type::Text { name }, Value::Number(number)) if number.is_i64() => {
            said(format!("cannot convert int64 to {name}"))
        }
        (Type::Integer { name, .. }, Value::Number(number)) if number.is_f64() => {
            said(format!("cannot convert float64 to {name}"))
        }
        (Type::Bytes, Value::String(_)) => read(value, of).map_err(|wrong| match wrong {
            Wrong::Said(words) => Wrong::Said(format!("error decoding from json: {words}")),
            wrong @ Wrong::Type { .. } => wrong,
        }),
        (Type::List { .. } | Type::Bytes, other) => {
            said(format!("cannot restore slice from {}", kind(other)))
        }
        (Type::Map { .. }, other) => said(format!("cannot restore map from {}", kind(other))),
        (Type::Struct(_), other) => said(format!("cannot restore struct from: {}", kind(other))),
        _ => read(value, of).or_else(|_| said(format!("unrecognized type: {}", wanted(of)))),
    }
}

/// What Go calls the kind of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "map",
        Value::Array(_) => "slice",
        other => crate::go::type_of(other),
    }
}

/// What Go calls the kind of a simple type.
fn wanted(of: &Type) -> &'static str {
    match of {
        Type::Integer { is_wide: true, .. } => "int64",
        Type::Integer { .. } => "int32",
        Type::Float => "float64",
        Type::Bool => "bool",
        _ => "string",
    }
}
