//! Objects and lists: their size, and what is inside.

use serde_json::{Map, Value};

use super::super::correlate::Correlated;
use super::super::field_error::FieldError;
use super::super::go::deep_equal;
use super::super::node::Node;
use super::check as check_value;
use super::outcome::{Outcome, Problem, field};

pub(super) fn check(
    fields: &Map<String, Value>,
    node: &Node,
    path: &str,
    correlated: Option<Correlated<'_>>,
) -> Outcome {
    let mut outcome = Outcome::default();
    check_count(fields.len(), node, path, &mut outcome);
    // What version and kind an object has is not forgiven: the old object was converted to the same.
    let child = |name: &str| {
        let is_type = path.is_empty() && matches!(name, "apiVersion" | "kind");
        correlated.filter(|_| !is_type).and_then(|both| both.key(name))
    };
    if let Some(additional) = &node.additional {
        for (name, value) in fields.iter().filter(|(name, _)| !node.properties.contains_key(*name)) {
            if let Some(schema) = &additional.schema {
                outcome.merge(check_value(value, schema, &format!("{path}.{name}"), child(name)));
            } else if !additional.allows {
                let message = format!("{path}.{name} in body is a forbidden property");
                outcome.add(Problem::invalid(path, name.as_str(), message));
            }
        }
    }
    for (name, property) in &node.properties {
        let Some(value) = fields.get(name) else { continue };
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        outcome.merge(check_value(value, property, &at, child(name)));
    }
    for name in node.bounds.required.iter().filter(|name| !fields.contains_key(*name)) {
        let at = format!("{path}.{name}");
        outcome.add(Problem {
            error: FieldError::required(&field(&at), ""),
            message: format!("{at} in body is required"),
        });
    }
    outcome
}

fn check_count(count: usize, node: &Node, path: &str, outcome: &mut Outcome) {
    let size = i64::try_from(count).unwrap_or(i64::MAX);
    if let Some(min) = node.bounds.min_properties.filter(|min| size < *min) {
        let message = format!("{path} in body should have at least {min} properties");
        outcome.add(Problem::invalid(path, size, message));
    }
    if let Some(max) = node.bounds.max_properties.filter(|max| size > *max) {
        outcome.add(Problem {
            message: format!("{path} in body should have at most {max} properties"),
            error: FieldError::too_many(&field(path), count, max),
        });
    }
}

pub(super) fn check_items(
    items: &[Value],
    node: &Node,
    path: &str,
    correlated: Option<Correlated<'_>>,
) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(schema) = node.items.as_deref() {
        for (index, item) in items.iter().enumerate() {
            let child = correlated.and_then(|both| both.index(index));
            outcome.merge(check_value(item, schema, &format!("{path}[{index}]"), child));
        }
    }
    let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(min) = node.bounds.min_items.filter(|min| size < *min) {
        let message = format!("{path} in body should have at least {min} items");
        outcome.add(Problem::invalid(path, size, message));
    }
    if let Some(max) = node.bounds.max_items.filter(|max| size > *max) {
        outcome.add(Problem {
            message: format!("{path} in body should have at most {max} items"),
            error: FieldError::too_many(&field(path), items.len(), max),
        });
    }
    let repeats = |index: usize, item: &Value| items.iter().take(index).any(|other| deep_equal(item, other));
    if node.bounds.unique_items && items.iter().enumerate().any(|(index, item)| repeats(index, item)) {
        let message = format!("{path} in body shouldn't contain duplicates");
        outcome.add(Problem::invalid(path, "", message));
    }
    outcome.pass();
    outcome
}
