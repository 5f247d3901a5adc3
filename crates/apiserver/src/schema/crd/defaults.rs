//! Defaults must be valid, and have nothing that would be pruned.

use super::super::field_error::FieldError;
use super::super::go::deep_equal;
use super::super::metadata;
use super::super::node::Node;
use super::super::path::Path;
use super::super::{cel, pruning, validation};

/// What is wrong with the defaults of a schema.
pub(super) fn validate(node: &Node, path: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(node, true, path, &mut errors);
    errors
}

fn visit(node: &Node, is_resource: bool, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(default) = &node.default {
        let at = path.child("default");
        let mut pruned = default.clone();
        pruning::prune_value(&mut pruned, node);
        if !deep_equal(&pruned, default) {
            errors.push(FieldError::invalid(&at, default.clone(), "must not have unknown fields"));
        }
        let mut found = Vec::new();
        metadata::validate_embedded(default, node, &at, &mut found);
        if found.is_empty() {
            found =
                validation::validate(default, node, None).into_iter().map(|error| error.below(&at)).collect();
        }
        if found.is_empty() {
            found = cel::validate(default, node, Some(default), is_resource, &at);
        }
        if found.is_empty() {
            found = cel::validate(default, node, None, is_resource, &at);
        }
        errors.append(&mut found);
    }
    if let Some(items) = node.items.as_deref() {
        visit(items, items.embedded, &path.child("items"), errors);
    }
    for (name, property) in &node.properties {
        visit(property, property.embedded, &path.child("properties").key(name), errors);
    }
}
