//! What a rule of `x-kubernetes-validations` must say, before it is compiled.

use super::super::cel;
use super::super::field_error::FieldError;
use super::super::node::Node;
use super::super::path::Path;

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

pub(super) fn validate(node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, rule) in node.rules.iter().enumerate() {
        let at = path.child("x-kubernetes-validations").index(index);
        let (text, message) = (rule.text.trim(), rule.message.trim());
        if text.is_empty() {
            errors.push(FieldError::required(&at.child("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(&at.child("message"), rule.message.as_str(), detail));
        } else if has_line_break(message) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(&at.child("message"), rule.message.as_str(), detail));
        } else if has_line_break(text) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(&at.child("message"), detail));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(&at.child("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
            errors.push(FieldError::not_supported(&at.child("reason"), reason, &REASONS.map(str::to_owned)));
        }
        validate_field_path(&rule.field_path, node, &at.child("fieldPath"), errors);
    }
}

fn validate_field_path(field_path: &str, node: &Node, at: &Path, errors: &mut Vec<FieldError>) {
    if field_path.is_empty() {
        return;
    }
    if field_path.trim().is_empty() {
        errors.push(FieldError::invalid(at, field_path, "must be non-empty if specified"));
    }
    if has_line_break(field_path) {
        errors.push(FieldError::invalid(at, field_path, "must not contain line breaks"));
    }
    if cel::normalize_field_path(field_path, node).is_none() {
        errors.push(FieldError::invalid(at, field_path, "must be a valid path"));
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
