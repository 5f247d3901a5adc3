//! Validation of a value against the `OpenAPI` part of a schema.
//!
//! The order of checks, and how many of them count as passed, decide which branch of an `anyOf` the server explains;
//! so both are as in the server.

mod composite;
mod numbers;
mod objects;
mod outcome;
mod strings;
mod types;

use serde_json::Value;

use super::correlate::Correlated;
use super::field_error::FieldError;
use super::go::{self, GoNumber};
use super::node::Node;
use outcome::{Outcome, Problem};

/// Everything that is wrong with a value; on an update, without what was already wrong and did not change.
pub(crate) fn validate(value: &Value, node: &Node, old: Option<&Value>) -> Vec<FieldError> {
    let correlated = old.map(|old| Correlated { new: value, old, node });
    check(value, node, "", correlated).into_errors()
}

/// Checks a value that may be forgiven what did not change.
fn check(value: &Value, node: &Node, path: &str, correlated: Option<Correlated<'_>>) -> Outcome {
    let mut outcome = check_strictly(value, node, path, correlated);
    if !outcome.is_valid() && correlated.is_some_and(|both| both.is_unchanged()) {
        outcome.forgive();
    }
    outcome
}

fn check_strictly(value: &Value, node: &Node, path: &str, correlated: Option<Correlated<'_>>) -> Outcome {
    let mut outcome = Outcome::default();
    if value.is_null() {
        outcome.merge(types::check(value, node, path));
        outcome.merge(check_allowed(value, node, path));
        return outcome;
    }
    if !node.kind.is_empty() || node.int_or_string || !types::format_of(node).is_empty() {
        outcome.merge_passed(types::check(value, node, path));
    }
    outcome.merge_passed(composite::check(value, node, path));
    match value {
        Value::String(text) => {
            outcome.merge_passed(strings::check(text, node, path));
            if strings::has_known_format(node) {
                outcome.merge_passed(strings::check_format(text, node, path));
            }
        }
        Value::Number(number) => {
            outcome.merge_passed(numbers::check(GoNumber::of(number), node, path));
        }
        Value::Array(items) => outcome.merge_passed(objects::check_items(items, node, path, correlated)),
        _ => {}
    }
    outcome.merge_passed(check_allowed(value, node, path));
    if let Value::Object(fields) = value {
        outcome.merge_passed(objects::check(fields, node, path, correlated));
    }
    outcome.pass();
    outcome
}

/// `enum`
fn check_allowed(value: &Value, node: &Node, path: &str) -> Outcome {
    let allowed = &node.bounds.allowed;
    if allowed.is_empty() || allowed.iter().any(|other| is_the_same(value, other)) {
        return Outcome::default();
    }
    let texts: Vec<_> =
        allowed.iter().map(|value| value.as_str().map_or_else(|| go::json(value), str::to_owned)).collect();
    Outcome::from(Problem {
        message: format!("{path} in body should be one of {}", texts.join(" ")),
        error: FieldError::not_supported(&outcome::field(path), value.clone(), &texts),
    })
}

/// Numbers are compared in the type of the allowed value; null is never the same as anything.
#[allow(clippy::float_cmp)] // as the server compares
fn is_the_same(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(value), Value::Number(allowed)) => {
            match (GoNumber::of(value), GoNumber::of(allowed)) {
                (GoNumber::Float(value), GoNumber::Int(allowed)) => go::truncated(value) == allowed,
                (value, GoNumber::Float(allowed)) => value.as_f64() == allowed,
                (value, allowed) => value == allowed,
            }
        }
        _ => go::deep_equal(value, allowed),
    }
}

#[cfg(test)]
mod tests;
