//! What the server demands of a schema before it accepts a CRD.

mod complete;
mod defaults;
mod lists;
mod nested;
mod openapi;
mod rules;
mod structural;

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
