//! What the server demands of a schema before it accepts a CRD.

mod complete;
mod defaults;
mod lists;
mod nested;
mod openapi;
mod rules;
mod structural;

use serde_json::Value;

use super::field_error::FieldError;
use super::node::Node;
use super::path::Path;

/// Everything that is wrong with a schema.
pub(crate) fn validate(node: &Node, path: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if node.nullable {
        errors.push(FieldError::forbidden(&path.child("nullable"), "nullable cannot be true at the root"));
    }
    let unreadable = unreadable(node);
    let mut is_sound = false;
    if unreadable.is_none() {
        let mut found = structural::validate(node, path);
        if found.is_empty() {
            found = defaults::validate(node, path);
        }
        is_sound = found.is_empty();
        errors.append(&mut found);
    }
    errors.append(&mut openapi::validate(node, path, is_sound));
    if let (true, Some(detail)) = (errors.is_empty(), unreadable) {
        errors.push(FieldError::invalid(path, "", detail));
    }
    errors
}

/// The keywords that may stand at the root of a schema whose status is a subresource, as the server names them.
const ROOT_KEYWORDS: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// Whether a schema may have a status subresource.
pub(crate) fn check_root_for_status(path: &Path, schema: &Value) -> Option<FieldError> {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "" | "object") {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is \
                      enabled";
        return Some(FieldError::invalid(&path.child("type"), kind, detail));
    }
    let is_allowed = |name: &str| match name {
        "x-kubernetes-preserve-unknown-fields" | "x-kubernetes-validations" => true,
        name => ROOT_KEYWORDS.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)),
    };
    let says_nothing = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    let other = schema.as_object()?.iter().find(|(name, value)| !is_allowed(name) && !says_nothing(value));
    other.map(|_| {
        let allowed = ROOT_KEYWORDS.join(" ");
        let detail = format!(
            "only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
        );
        FieldError::invalid(path, schema.clone(), detail)
    })
}

/// Why a schema cannot be read as a structural one at all.
fn unreadable(node: &Node) -> Option<String> {
    if let Some(name) = node.unsupported.first() {
        return Some(match *name {
            "items" => "OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned(),
            name => format!(
                "OpenAPIV3Schema '{}' is not supported",
                name.trim_start_matches("$s").replace("chema", "schema")
            ),
        });
    }
    if node.preserve == Some(false) {
        let detail = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
        return Some(detail.to_owned());
    }
    children(node).find_map(unreadable)
}

/// All schemas directly inside a schema.
fn children(node: &Node) -> impl Iterator<Item = &Node> {
    let lists = [&node.all_of, &node.any_of, &node.one_of];
    lists
        .into_iter()
        .flatten()
        .chain(node.not.as_deref())
        .chain(node.properties.values())
        .chain(node.items.as_deref())
        .chain(node.additional_schema())
}

/// Whether a node is the pair of types that integers or strings are written as.
fn is_int_or_string_pair(branches: &[Node]) -> bool {
    let [first, second] = branches else { return false };
    first.says_only_type("integer") && second.says_only_type("string")
}

#[cfg(test)]
mod tests;
