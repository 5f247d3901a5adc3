//! The structural part of a schema: every value has a type, and nothing contradicts it.

use super::super::field_error::FieldError;
use super::super::node::Node;
use super::super::path::Path;
use super::{complete, nested};

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What keeps a schema from being structural, in order.
pub(super) fn validate(node: &Node, path: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(node, Level::Root, path, &mut errors);
    complete::bounds(node, Some(node), path, path, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn invariants(node: &Node, level: Level, path: &Path, errors: &mut Vec<FieldError>) {
    if node.kind == "array" && node.items.is_none() {
        errors.push(FieldError::required(&path.child("items"), "must be specified"));
    }
    if let Some(items) = node.items.as_deref() {
        invariants(items, Level::Item, &path.child("items"), errors);
    }
    for (name, property) in &node.properties {
        invariants(property, Level::Field, &path.child("properties").key(name), errors);
    }
    if node.additional.is_some() && level == Level::Root {
        let detail = "must not be used at the root";
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), detail));
    }
    if let Some(additional) = node.additional_schema() {
        invariants(additional, Level::Field, &path.child("additionalProperties"), errors);
    }
    let exclusive = [
        (node.preserves(), "x-kubernetes-preserve-unknown-fields"),
        (node.embedded, "x-kubernetes-embedded-resource"),
    ];
    for (_, name) in exclusive.into_iter().filter(|(set, _)| *set && node.int_or_string) {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        errors.push(FieldError::invalid(&path.child(name), true, detail));
    }
    nested::bounds(node, nested::exceptions(node), path, errors);
    types(node, level, path, errors);
    metadata(node, level, path, errors);
    if node.embedded && !node.preserves() && node.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&path.child("properties"), detail));
    }
}

fn types(node: &Node, level: Level, path: &Path, errors: &mut Vec<FieldError>) {
    let at = path.child("type");
    if node.embedded && node.kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match node.kind.as_str() {
            "" => FieldError::required(&at, detail),
            kind => FieldError::invalid(&at, kind, detail),
        });
    } else if node.kind.is_empty() && !node.int_or_string && !node.preserves() {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&at, detail));
    }
    if node.embedded && node.additional.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), detail));
    }
    if level == Level::Root && !matches!(node.kind.as_str(), "" | "object") {
        errors.push(FieldError::invalid(&at, node.kind.as_str(), "must be object at the root"));
    }
}

/// What makes an object one has its own schema, which may say more of names only.
fn metadata(node: &Node, level: Level, path: &Path, errors: &mut Vec<FieldError>) {
    let is_object = level == Level::Root || node.embedded;
    let property =
        |name: &str| node.properties.get(name).map(|node| (node, path.child("properties").key(name)));
    for (field, at) in [property("kind"), property("apiVersion")].into_iter().flatten() {
        if is_object && field.kind != "string" {
            errors.push(FieldError::invalid(&at.child("type"), field.kind.as_str(), "must be string"));
        }
    }
    let Some((metadata, at)) = property("metadata") else { return };
    if is_object && metadata.kind != "object" {
        errors.push(FieldError::invalid(&at.child("type"), metadata.kind.as_str(), "must be object"));
    }
    if level == Level::Root && !says_names_only(metadata) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(&at, detail));
    }
}

fn says_names_only(metadata: &Node) -> bool {
    let names_only = metadata.properties.keys().all(|name| matches!(name.as_str(), "name" | "generateName"));
    let mut rest = metadata.clone();
    rest.properties.clear();
    rest.kind.clear();
    rest.default = None;
    names_only && rest.says_nothing()
}
