//! The way through an object, rule by rule.

use kube_cel::cel::Value;
use serde_json::Value as Json;

use super::super::correlate::{Correlated, find_by_keys};
use super::super::field_error::FieldError;
use super::super::node::{Node, Rule};
use super::super::path::Path;
use super::check::has_type;
use super::environment::{self, MAX_STEPS_OF_AN_OBJECT, Scope};
use super::errors::Failure;
use super::values;

/// Longest message that an expression may give.
const MAX_MESSAGE: usize = 5 * 1024;

/// Evaluates every rule for a value and what is inside it.
pub(crate) fn validate(
    value: &Json,
    node: &Node,
    old: Option<&Json>,
    is_resource: bool,
    path: &Path,
) -> Vec<FieldError> {
    let unchanged = Unchanged { current: old.map(|old| Correlated { new: value, old, node }), nearest: None };
    let mut walker = Walker { errors: Vec::new(), steps_left: MAX_STEPS_OF_AN_OBJECT, stopped: false };
    walker.visit(&Place { value, node, old, is_resource, unchanged }, path);
    walker.errors
}

/// What an error is forgiven for: that the value, or what is around it, did not change.
#[derive(Clone, Copy)]
struct Unchanged<'a> {
    current: Option<Correlated<'a>>,
    nearest: Option<Correlated<'a>>,
}

impl<'a> Unchanged<'a> {
    fn forgives(&self) -> bool {
        self.current.or(self.nearest).is_some_and(|both| both.is_unchanged())
    }

    fn inside(&self, step: impl FnOnce(Correlated<'a>) -> Option<Correlated<'a>>) -> Self {
        match self.current {
            None => *self,
            Some(both) => Self { current: step(both), nearest: Some(both) },
        }
    }

    fn key(&self, name: &str) -> Self {
        if self.current.is_some() && self.nearest.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self { current: None, nearest: None };
        }
        self.inside(|both| both.key(name))
    }
}

/// A value with its schema and its past.
struct Place<'a> {
    value: &'a Json,
    node: &'a Node,
    old: Option<&'a Json>,
    is_resource: bool,
    unchanged: Unchanged<'a>,
}

struct Walker {
    errors: Vec<FieldError>,
    steps_left: u64,
    stopped: bool,
}

impl Walker {
    fn visit(&mut self, place: &Place<'_>, path: &Path) {
        if self.stopped || place.value.is_null() || !place.node.rules_inside {
            return;
        }
        if !place.node.rules.is_empty() {
            self.evaluate_all(place, path);
        }
        match place.value {
            Json::Array(items) => {
                let Some(schema) = place.node.items.as_deref() else { return };
                let old_items = place.old.and_then(Json::as_array);
                for (index, item) in items.iter().enumerate() {
                    let old = old_items.and_then(|old| find_by_keys(place.node, old, item));
                    let unchanged = place.unchanged.inside(|both| both.index(index));
                    self.visit(&inside(item, schema, old, unchanged), &path.index(index));
                }
            }
            Json::Object(fields) => {
                let old_fields = place.old.and_then(Json::as_object);
                for (name, field) in fields {
                    let old = old_fields.and_then(|old| old.get(name));
                    let unchanged = place.unchanged.key(name);
                    if let Some(additional) = place.node.additional_schema() {
                        self.visit(&inside(field, additional, old, unchanged), &path.key(name));
                    }
                    let property = place.node.properties.get(name).filter(|property| has_type(property));
                    if let Some(property) = property {
                        self.visit(&inside(field, property, old, unchanged), &path.child(name));
                    }
                }
            }
            _ => {}
        }
    }

    fn evaluate_all(&mut self, place: &Place<'_>, path: &Path) {
        let old = place.old.filter(|old| !old.is_null());
        let this = values::convert(place.value, place.node, place.is_resource);
        let uses_old_self = place.node.rules.iter().any(|rule| rule.compiled.uses_old_self);
        let old_value = old.filter(|_| uses_old_self).map(|old| {
            values::convert(&values::align(old, place.value, place.node), place.node, place.is_resource)
        });
        let has_optional = place.node.rules.iter().any(|rule| rule.optional_old_self == Some(true));
        let optional = has_optional.then(|| environment::optional(old_value.clone()));
        environment::within(|scope| {
            let scope = scope.with("self", this);
            let with_old = old_value.map(|old| scope.with("oldSelf", old));
            let with_optional = optional.map(|old| scope.with("oldSelf", old));
            for rule in &place.node.rules {
                let scope = match (rule.optional_old_self, &with_optional, &with_old) {
                    (Some(true), Some(scope), _) | (_, _, Some(scope)) => scope,
                    _ if rule.compiled.uses_old_self => continue,
                    _ => &scope,
                };
                if !self.stopped {
                    self.evaluate(rule, scope, place, path);
                }
            }
        });
    }

    fn evaluate(&mut self, rule: &Rule, scope: &Scope<'_>, place: &Place<'_>, path: &Path) {
        let name = if rule.message.is_empty() { rule.text.trim() } else { rule.message.trim() };
        let kind = place.node.kind.as_str();
        let mut fail = |detail: String| self.errors.push(FieldError::invalid(path, kind, detail));
        let expr = match &rule.compiled.rule {
            None => return,
            Some(Err(error)) => return fail(format!("rule compile error: compilation failed: {error}")),
            Some(Ok(expr)) => expr,
        };
        let (result, steps) = scope.evaluate(expr);
        let Some(left) = self.steps_left.checked_sub(steps) else {
            self.stopped = true;
            let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
            return fail(detail.to_owned());
        };
        self.steps_left = left;
        match result.map_err(Failure::from) {
            Ok(Value::Bool(true)) => {}
            Ok(Value::Bool(false)) => self.refuse(rule, scope, place, path),
            Ok(_) => fail("rule compile error: cel expression must evaluate to a bool".to_owned()),
            Err(Failure::NoSuchOverload) => fail(format!(
                "'no such overload': call arguments did not match a supported operator, function or macro signature \
                 for rule: {name}"
            )),
            Err(Failure::TooManySteps) => {
                self.stopped = true;
                let what = environment::TOO_MANY_STEPS;
                fail(format!(
                    "'{what}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
                ));
            }
            Err(Failure::Other(text)) => fail(format!("{text} evaluating rule: {name}")),
        }
    }

    fn refuse(&mut self, rule: &Rule, scope: &Scope<'_>, place: &Place<'_>, path: &Path) {
        if !rule.compiled.uses_old_self && place.unchanged.forgives() {
            return;
        }
        let path = match super::normalize_field_path(&rule.field_path, place.node) {
            Some(below) if !rule.field_path.is_empty() => path.child(&below),
            _ => path.clone(),
        };
        let detail = message(rule, scope);
        let is_whole = matches!(place.node.kind.as_str(), "object" | "array");
        let value = (!is_whole).then(|| place.value.clone());
        self.errors.push(match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldError::forbidden(&path, detail),
            Some("FieldValueRequired") => FieldError::required(&path, detail),
            Some("FieldValueDuplicate") => FieldError::duplicate(&path, value),
            _ => match value {
                Some(value) => FieldError::invalid(&path, value, detail),
                None => FieldError::invalid_without_value(&path, detail),
            },
        });
    }
}

fn inside<'a>(value: &'a Json, node: &'a Node, old: Option<&'a Json>, unchanged: Unchanged<'a>) -> Place<'a> {
    Place { value, node, old, is_resource: node.embedded, unchanged }
}

/// The message of the expression, if it gives one line; otherwise the message as written, or the rule.
fn message(rule: &Rule, scope: &Scope<'_>) -> String {
    if let Some(Ok(expr)) = &rule.compiled.message
        && let (Ok(Value::String(text)), _) = scope.evaluate(expr)
    {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n') {
            return text.to_owned();
        }
    }
    match rule.message.trim() {
        "" => format!("failed rule: {}", rule.text.trim()),
        message => message.to_owned(),
    }
}
