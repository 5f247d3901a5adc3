//! Numbers: range of the type, bounds and multiples.

use serde_json::Value;

use super::super::go::{GoNumber, float_v, truncated};
use super::super::node::Node;
use super::outcome::{Outcome, Problem};
use super::types::{format_of, is_integer};

pub(super) fn check(value: GoNumber, node: &Node, path: &str) -> Outcome {
    let (kind, format) = match node.kind.as_str() {
        kind @ ("integer" | "number") if !node.int_or_string => (kind, format_of(node)),
        _ => ("", ""),
    };
    let range = |value: GoNumber, what: &str| check_range(value, kind, format, what, path);
    let bounds = &node.bounds;
    let mut outcome = Outcome::default();
    outcome.merge(range(value, "Checked"));
    if let Some(factor) = bounds.multiple_of {
        let in_range = range(GoNumber::Float(factor), "MultipleOf");
        let native = in_range.is_valid();
        outcome.merge(in_range);
        outcome.merge(check_multiple(value, factor, native, path));
    }
    if let Some(minimum) = bounds.minimum {
        let in_range = range(GoNumber::Float(minimum), "Minimum boundary");
        let native = in_range.is_valid();
        outcome.merge(in_range);
        outcome.merge(Bound::at_least(minimum, bounds.exclusive_minimum).check(value, native, path));
    }
    if let Some(maximum) = bounds.maximum {
        let in_range = range(GoNumber::Float(maximum), "Maximum boundary");
        let native = in_range.is_valid();
        outcome.merge(in_range);
        outcome.merge(Bound::at_most(maximum, bounds.exclusive_maximum).check(value, native, path));
    }
    outcome.pass();
    outcome
}

/// Whether a number can be held in the type and format.
fn check_range(value: GoNumber, kind: &str, format: &str, what: &str, path: &str) -> Outcome {
    let fits = match (kind, value) {
        ("integer", GoNumber::Int(value)) => format != "int32" || i32::try_from(value).is_ok(),
        ("integer", GoNumber::Float(value)) => {
            let text = value.to_string(); // never with an exponent
            if format == "int32" { text.parse::<i32>().is_ok() } else { text.parse::<i64>().is_ok() }
        }
        ("number", value) if format == "float" => value.as_f64().abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if fits {
        return Outcome::default();
    }
    let format = match format {
        "" => "(default format)".to_owned(),
        format => format!("with format {format}"),
    };
    Problem::of_the_whole(format!("{what} value must be of type {kind} {format} in {path}")).into()
}

struct Bound {
    at: f64,
    exclusive: bool,
    is_minimum: bool,
}

impl Bound {
    fn at_least(at: f64, exclusive: bool) -> Self {
        Self { at, exclusive, is_minimum: true }
    }

    fn at_most(at: f64, exclusive: bool) -> Self {
        Self { at, exclusive, is_minimum: false }
    }

    /// Integers are compared as integers, with the bound cut to one.
    fn check(&self, value: GoNumber, native: bool, path: &str) -> Outcome {
        let (order, shown) = match value {
            GoNumber::Int(value) if native => {
                let at = truncated(self.at);
                (Some(value.cmp(&at)), at.to_string())
            }
            value => (value.as_f64().partial_cmp(&self.at), float_v(self.at)),
        };
        let holds = order.is_some_and(|order| match (self.is_minimum, self.exclusive) {
            (true, false) => order.is_ge(),
            (true, true) => order.is_gt(),
            (false, false) => order.is_le(),
            (false, true) => order.is_lt(),
        });
        if holds {
            return Outcome::default();
        }
        let words = match (self.is_minimum, self.exclusive) {
            (true, false) => "greater than or equal to",
            (true, true) => "greater than",
            (false, false) => "less than or equal to",
            (false, true) => "less than",
        };
        let value = if native { json(value) } else { Value::from(value.as_f64()) };
        Problem::invalid(path, value, format!("{path} in body should be {words} {shown}")).into()
    }
}

fn check_multiple(value: GoNumber, factor: f64, native: bool, path: &str) -> Outcome {
    let (positive, holds, shown) = match value {
        GoNumber::Int(value) if native => {
            let factor = truncated(factor);
            (factor > 0, value.checked_rem(factor) == Some(0), GoNumber::Int(factor))
        }
        value => {
            let value = value.as_f64();
            let times = if factor < 1.0 { 1.0 / factor * value } else { value / factor };
            (factor > 0.0, is_integer(times), GoNumber::Float(factor))
        }
    };
    if !positive {
        let message = format!("factor MultipleOf declared for {path} must be positive: {}", shown.verb_v());
        return Problem::invalid(path, json(shown), message).into();
    }
    if holds {
        return Outcome::default();
    }
    let value = if native { json(value) } else { Value::from(value.as_f64()) };
    Problem::invalid(path, value, format!("{path} in body should be a multiple of {}", shown.verb_v())).into()
}

fn json(value: GoNumber) -> Value {
    match value {
        GoNumber::Int(value) => value.into(),
        GoNumber::Float(value) => value.into(),
    }
}
