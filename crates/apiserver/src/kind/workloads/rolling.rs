//! Counts that are a number or a share of all: `1` or `25%`.

use serde_json::Value;

use super::fields::{at, given, shown};
use super::names;
use crate::schema::{FieldError, Path, go_json};

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
     used for validation is '[0-9]+%')";

/// The number before `%`.
fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The number, of the one or the other kind; 0 for what is neither.
pub(super) fn amount(value: &Value) -> i64 {
    let number = || value.as_i64().or_else(|| value.as_str()?.parse().ok());
    percent(value).or_else(number).unwrap_or(0)
}

/// Checks that it is a number of at least 0, or a share.
pub(super) fn check(value: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    match value {
        Value::String(_) if percent(value).is_none() => {
            errors.push(FieldError::invalid(path, value.clone(), PERCENT));
        }
        Value::String(_) => {}
        _ => names::check_not_negative(value.as_i64(), path, errors),
    }
}

/// Checks that a share is not more than all.
pub(super) fn check_at_most_all(value: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.push(FieldError::invalid(path, value.clone(), "must not be greater than 100%"));
    }
}

/// The strategy of a `Deployment` or `DaemonSet` as messages show it.
pub(super) fn shown_strategy(strategy: &Value) -> String {
    let fields = [("maxUnavailable", 0.into()), ("maxSurge", 0.into())];
    let update = given(strategy, "rollingUpdate").map_or_else(|| "null".to_owned(), |of| shown(of, &fields));
    format!("{{\"Type\":{},\"RollingUpdate\":{update}}}", go_json(at(strategy, "/type")))
}
