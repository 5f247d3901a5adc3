//! What the server demands of a rule when a CRD is created.

use serde_json::json;

use super::super::field_error::FieldError;
use super::super::go;
use super::super::node::{Node, Rule};
use super::super::path::Path;
use super::program::Expression;
use super::types;

/// The checks of the rules of one node.
pub(crate) struct RuleCheck<'a> {
    /// Whether the node is a whole resource.
    pub(crate) is_resource: bool,
    /// Where items cannot be told to be the same before and after an update.
    pub(crate) uncorrelatable: Option<&'a Path>,
}

impl RuleCheck<'_> {
    /// What is wrong with the rules of a node.
    pub(crate) fn run(&self, node: &Node, path: &Path) -> Vec<FieldError> {
        let at = path.child("x-kubernetes-validations");
        if !has_type(node) {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            return vec![FieldError::internal(&at, detail)];
        }
        let mut errors = Vec::new();
        for (index, rule) in node.rules.iter().enumerate() {
            self.rule(node, rule, &at.index(index), &mut errors);
        }
        errors
    }

    fn expression(&self, compiled: Option<&Expression>, text: &str, kind: &str, node: &Node) -> Refusal {
        let expr = match compiled? {
            Err(error) => return Some(Some(format!("compilation failed: {error}"))),
            Ok(expr) => expr,
        };
        let found = types::check(expr, text, node, self.is_resource);
        if !found.is_empty() {
            return Some(Some(format!("compilation failed: {}", found.join("\n"))));
        }
        types::is_surely_no(kind, expr, node, self.is_resource).then_some(None)
    }

    fn rule(&self, node: &Node, rule: &Rule, at: &Path, errors: &mut Vec<FieldError>) {
        let compiled = &rule.compiled;
        if let Some(detail) = self.expression(compiled.rule.as_ref(), &rule.text, "boolean", node) {
            let detail = detail.unwrap_or_else(|| "cel expression must evaluate to a bool".to_owned());
            errors.push(refused(rule, &at.child("rule"), detail));
        }
        if let Some(detail) =
            self.expression(compiled.message.as_ref(), &rule.message_expression, "string", node)
        {
            let detail = detail.map_or_else(
                || "messageExpression must evaluate to a string".to_owned(),
                |detail| format!("messageExpression {detail}"),
            );
            errors.push(refused(rule, &at.child("messageExpression"), detail));
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

/// Why a rule or a message is refused: for what is wrong in it, or, without words, for the type of its value.
type Refusal = Option<Option<String>>;

/// A refused rule, with its fields in the order and under the names that the server has for them.
fn refused(rule: &Rule, at: &Path, detail: String) -> FieldError {
    let fields = [
        ("Rule", json!(rule.text)),
        ("Message", json!(rule.message)),
        ("MessageExpression", json!(rule.message_expression)),
        ("Reason", json!(rule.reason)),
        ("FieldPath", json!(rule.field_path)),
        ("OptionalOldSelf", json!(rule.optional_old_self)),
    ];
    let shown: Vec<_> =
        fields.iter().map(|(name, value)| format!("{}:{}", go::quote(name), go::json(value))).collect();
    let value = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    FieldError::invalid_shown(at, value, format!("{{{}}}", shown.join(",")), detail)
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
