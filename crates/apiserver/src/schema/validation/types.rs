//! The type of a value.

use serde_json::Value;

use super::super::formats;
use super::super::go::GoNumber;
use super::super::node::Node;
use super::outcome::{Outcome, Problem};

/// Beyond these, floating numbers have no exact integers.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
/// How near to an integer counts as one.
const NEARLY: f64 = 1e-9;

/// The types that a value may have.
pub(super) fn wanted(node: &Node) -> Vec<&str> {
    match node.kind.as_str() {
        _ if node.int_or_string => vec!["integer", "string"],
        "" => Vec::new(),
        kind => vec![kind],
    }
}

/// The format, if the server knows it for this type.
pub(super) fn format_of(node: &Node) -> &str {
    let format = node.bounds.format.as_str();
    let known = match node.kind.as_str() {
        _ if node.int_or_string => formats::is_known(format),
        "" | "string" => formats::is_known(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    };
    if known { format } else { "" }
}

pub(super) fn check(value: &Value, node: &Node, path: &str) -> Outcome {
    let wanted = wanted(node);
    let format = format_of(node);
    let wants = |kind: &str| wanted.contains(&kind);
    let names = wanted.join(",");
    let (kind, own_format) = match value {
        Value::Null => {
            if wanted.is_empty() || node.nullable {
                return one_passed();
            }
            return Problem::wrong_type(path, &names, "null").into();
        }
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) => match GoNumber::of(number) {
            GoNumber::Int(_) => ("integer", "int64"),
            GoNumber::Float(_) => ("number", "float64"),
        },
    };
    let as_integer = kind == "number" && wants("integer") && value.as_f64().is_some_and(is_integer);
    let as_number = kind == "integer" && wants("number");
    let fits = wants(kind) || as_integer || as_number;
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    if !is_text && !format.is_empty() && !fits && own_format != format {
        return Problem::wrong_type(path, format, own_format).into();
    }
    // Texts are left to the check of their format.
    if is_text && !format.is_empty() && !wants("number") && !wants("integer") {
        return one_passed();
    }
    if fits { one_passed() } else { Problem::wrong_type(path, &names, kind).into() }
}

fn one_passed() -> Outcome {
    let mut outcome = Outcome::default();
    outcome.pass();
    outcome
}

/// Whether a floating number is an integer, or so near to one that the server takes it for one.
#[allow(clippy::float_cmp)] // exactly equal is meant
pub(super) fn is_integer(value: f64) -> bool {
    if !value.is_finite() || value.abs() > MAX_EXACT {
        return false;
    }
    let whole = value.trunc();
    value == whole || (whole != 0.0 && (value - whole).abs() / (value.abs() + whole.abs()) < NEARLY)
}
