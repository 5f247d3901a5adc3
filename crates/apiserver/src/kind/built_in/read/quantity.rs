//! Quantities in the one form in which the server prints them: `1000m` is `1`, `1024Ki` is `1Mi`.

use muster_quantity::{MILLI, NANO, Wrong as NoQuantity, canonical as printed};
use serde_json::Value;

use super::scalars::Wrong;

/// The quantity as it is printed.
pub(super) fn canonical(value: &Value) -> Result<Value, Wrong> {
    read(value, NANO)
}

/// The same for an amount of a resource, which is rounded up to thousandths.
pub(super) fn canonical_resource(value: &Value) -> Result<Value, Wrong> {
    read(value, MILLI)
}

fn read(value: &Value, finest: i32) -> Result<Value, Wrong> {
    let read = match value {
        Value::String(text) => printed(text.trim(), finest),
        Value::Number(number) => printed(&number.to_string(), finest),
        _ => Err(NoQuantity::Form),
    };
    read.map(Value::from).map_err(|error| Wrong::Said(error.to_string()))
}
