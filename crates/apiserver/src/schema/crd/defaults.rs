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
            found = below(&at, validation::validate(default, node, None));
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

/// Errors of a value, as errors of a part of something.
fn below(path: &Path, errors: Vec<FieldError>) -> Vec<FieldError> {
    let moved = errors.into_iter().map(|mut error| {
        error.field = match error.field.as_str() {
            "<nil>" => path.to_string(),
            field => path.child(field).to_string(),
        };
        error
    });
    moved.collect()
}
