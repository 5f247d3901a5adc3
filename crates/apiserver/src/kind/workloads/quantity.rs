//! Quantities in objects.

pub(crate) use muster_quantity::{MILLI, Quantity};
use serde_json::Value;

/// The amount that a text or a number says.
pub(crate) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}
