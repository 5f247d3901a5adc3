//! What the server demands of a rule when a CRD is created.

use serde_json::{Value, json};

use super::super::field_error::FieldError;
use super::super::node::{Node, Rule};
use super::super::path::Path;

/// The checks of the rules of one node.
pub(crate) struct RuleCheck<'a> {
    /// Where items cannot be told to be the same before and after an update.
    pub(crate) uncorrelatable: Option<&'a Path>,
}

impl RuleCheck<'_> {
    /// What is wrong with the rules of a node.
    pub(crate) fn run(&self, node: &Node, path: &Path) -> Vec<FieldError> {
        let at = path.child("x-kubernetes-validations");
        if !has_type(node) {
            let detail = "internal error: failed to retrieve type information for x-kubernetes-validations";
            return vec![FieldError::internal(&at, detail)];
        }
        let mut errors = Vec::new();
        for (index, rule) in node.rules.iter().enumerate() {
            self.rule(rule, &at.index(index), &mut errors);
        }
        errors
    }

    fn rule(&self, rule: &Rule, at: &Path, errors: &mut Vec<FieldError>) {
        let compiled = &rule.compiled;
        if let Some(Err(error)) = &compiled.rule {
            let detail = format!("compilation failed: {error}");
            errors.push(FieldError::invalid(&at.child("rule"), shown(rule), detail));
        }
        if let Some(Err(error)) = &compiled.message {
            let detail = format!("messageExpression compilation failed: {error}");
            errors.push(FieldError::invalid(&at.child("messageExpression"), shown(rule), detail));
        }
        if compiled.uses_old_self {
            if let Some(path) = self.uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"
                );
                errors.push(FieldError::invalid(&at.child("rule"), rule.text.as_str(), detail));
            }
        } else if let Some(value) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            errors.push(FieldError::invalid(&at.child("optionalOldSelf"), value, detail));
        }
    }
}

/// A rule as the server shows it.
fn shown(rule: &Rule) -> Value {
    json!({
        "Rule": rule.text, "Message": rule.message, "MessageExpression": rule.message_expression,
        "Reason": rule.reason, "FieldPath": rule.field_path, "OptionalOldSelf": rule.optional_old_self,
    })
}

/// Whether rules can see a value of this schema: they must know its type.
pub(super) fn has_type(node: &Node) -> bool {
    if node.int_or_string {
        return true;
    }
    match node.kind.as_str() {
        "array" => node.items.as_deref().is_some_and(has_type),
        "object" => node.additional_schema().is_none_or(has_type),
        "string" | "boolean" | "number" | "integer" => true,
        _ => false,
    }
}
