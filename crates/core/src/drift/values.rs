//! When two values are the same to the API server.

use muster_api::Quantity;
use serde_json::Value;

/// Where Kubernetes' own kinds have quantities, which the API server rewrites to one form.
const QUANTITIES: [&str; 3] = ["requests", "limits", "sizeLimit"];

/// Whether a field of this name holds quantities, by itself or in what is below it.
pub(super) fn holds_quantities(field: &str) -> bool {
    QUANTITIES.contains(&field)
}

/// Equal as quantities; a text that is none is compared as it is.
pub(super) fn same_quantity(a: &Value, b: &Value) -> bool {
    let quantity = |value: &Value| serde_json::from_value::<Quantity>(value.clone()).ok();
    a == b || quantity(a).is_some_and(|a| quantity(b) == Some(a))
}

/// Whether this is what a field has that is not there: the API server leaves out many of these.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}
