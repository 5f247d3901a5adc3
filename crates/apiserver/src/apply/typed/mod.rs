//! Values walked together with their types: checked, merged, compared, taken apart.

mod check;
mod collect;
mod compare;
mod merge;
mod named;
mod reconcile;
mod remove;

pub(crate) use check::{Duplicates, check};
pub(crate) use collect::collect;
pub(crate) use compare::{Comparison, compare, compare_fitting};
pub(crate) use merge::merge;
pub(crate) use named::with_named;
pub(crate) use reconcile::reconcile;
pub(crate) use remove::remove;

use std::fmt;

use serde_json::Value;

use super::fields::PathElement;
use super::literal::{go_print, go_syntax};
use super::typing::Scalar;

/// What is wrong with a value, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problems(Vec<(String, String)>);

impl Problems {
    pub(crate) fn one(message: impl Into<String>) -> Self {
        Self(vec![(String::new(), message.into())])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The same problems, seen from one step further up.
    fn under(mut self, element: &PathElement) -> Self {
        for (path, _) in &mut self.0 {
            path.insert_str(0, &element.to_string());
        }
        self
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |(path, message): &(String, String)| match path.as_str() {
            "" => message.clone(),
            path => format!("{path}: {message}"),
        };
        match self.0.as_slice() {
            [only] => f.write_str(&line(only)),
            all => {
                f.write_str("errors:")?;
                all.iter().try_for_each(|problem| write!(f, "\n  {}", line(problem)))
            }
        }
    }
}

/// What the server says of a value that should be a scalar; null is every scalar.
fn scalar_problem(scalar: Scalar, value: &Value) -> Option<String> {
    let kind = match value {
        Value::Null => return None,
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    let fits = match scalar {
        Scalar::Numeric => value.is_number(),
        Scalar::Text => value.is_string(),
        Scalar::Boolean => value.is_boolean(),
        Scalar::Any => !value.is_array() && !value.is_object(),
    };
    if fits {
        return None;
    }
    Some(match scalar {
        Scalar::Numeric => format!("expected numeric (int or float), got {kind}"),
        Scalar::Text => {
            format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value))
        }
        Scalar::Boolean => format!("expected boolean, got &{{{}}}", go_print(value)),
        Scalar::Any => format!("expected any scalar, got &{{{}}}", go_print(value)),
    })
}

/// What the server says of a value for which the schema has no type at all.
const NO_TYPE: &str = "schema error: invalid atom: inlined";

#[cfg(test)]
pub(crate) mod tests;
