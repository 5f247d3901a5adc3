//! Texts: length, pattern and format.

use super::super::field_error::FieldError;
use super::super::formats;
use super::super::node::Node;
use super::outcome::{Outcome, Problem, field};
use super::types::format_of;

/// Only the first thing that is wrong is reported.
pub(super) fn check(text: &str, node: &Node, path: &str) -> Outcome {
    let bounds = &node.bounds;
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(max) = bounds.max_length.filter(|max| length > *max) {
        return Outcome::from(Problem {
            message: format!("{path} in body should be at most {max} chars long"),
            error: FieldError::too_long(&field(path), max),
        });
    }
    if let Some(min) = bounds.min_length.filter(|min| length < *min) {
        let message = format!("{path} in body should be at least {min} chars long");
        return Problem::invalid(path, text, message).into();
    }
    if bounds.regex.as_ref().is_some_and(|regex| !regex.is_match(text)) {
        let message = format!("{path} in body should match '{}'", bounds.pattern);
        return Problem::invalid(path, text, message).into();
    }
    Outcome::default()
}

/// Whether texts have a format that can be checked.
pub(super) fn has_known_format(node: &Node) -> bool {
    formats::is_known(format_of(node))
}

pub(super) fn check_format(text: &str, node: &Node, path: &str) -> Outcome {
    let format = format_of(node);
    if formats::is_valid(format, text) {
        return Outcome::default();
    }
    Problem::wrong_type(path, format, text).into()
}
