//! The paths of printer columns, as `kubectl` writes them: `.status.conditions[?(@.type=="Ready")].status`.

mod find;
mod parse;

use serde_json::Value;

use crate::schema::go;

/// A path, parsed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path(Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// `.name`
    Field(String),
    /// `[1]`, `[-1]`, `[1:3]`: from, to and in steps of.
    Slice(Option<i64>, Option<i64>, usize),
    /// `[1]` or `[-1]`
    Index(i64),
    /// `[*]` or `.*`
    All,
    /// `..`: the value and everything within it.
    Deep,
    /// `[?(@.a=="b")]`
    Filter(Operand, Operator, Operand),
    /// `[?(@.a)]`
    Exists(Path),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Value(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Path {
    /// Understands a path; none for what is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse::path(text)
    }

    /// The first value that it leads to; none also where it makes no sense for this object.
    pub(super) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        find::all(&self.0, object)?.into_iter().next()
    }
}

/// A value as text: lists and maps as JSON, the rest as Go prints it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) => float_text(float),
            _ => number.to_string(),
        },
        Value::Null => "<no value>".to_owned(),
        other => go::json(other),
    }
}

/// The exponents of numbers that are written without one.
const PLAIN: std::ops::Range<i32> = -4..6;

fn float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if PLAIN.contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests;
