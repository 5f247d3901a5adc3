//! Schemas inside `allOf`, `anyOf`, `oneOf` and `not`: they may bound values, and not describe them.

use super::super::field_error::FieldError;
use super::super::node::Node;
use super::super::path::Path;
use super::super::pattern;
use super::is_int_or_string_pair;

/// Where the two types of an integer or string may stand, as an exception.
#[derive(Clone, Copy, Default)]
pub(super) struct Exceptions {
    any_of: bool,
    first_of_all: bool,
}

/// The exceptions that hold for a node.
pub(super) fn exceptions(node: &Node) -> Exceptions {
    Exceptions {
        any_of: is_int_or_string_pair(&node.any_of),
        first_of_all: node.all_of.first().is_some_and(|first| is_int_or_string_pair(&first.any_of)),
    }
}

pub(super) fn bounds(node: &Node, except: Exceptions, path: &Path, errors: &mut Vec<FieldError>) {
    let lists = [("anyOf", &node.any_of), ("allOf", &node.all_of), ("oneOf", &node.one_of)];
    for (name, branches) in lists {
        if name == "anyOf" && except.any_of {
            continue;
        }
        for (index, branch) in branches.iter().enumerate() {
            let any_of = name == "allOf" && index == 0 && except.first_of_all;
            let except = Exceptions { any_of, first_of_all: false };
            nested(branch, except, &path.child(name).index(index), errors);
        }
    }
    if let Some(not) = node.not.as_deref() {
        nested(not, Exceptions::default(), &path.child("not"), errors);
    }
    if let Err(error) = pattern::compile(&node.bounds.pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(&path.child("pattern"), node.bounds.pattern.as_str(), detail));
    }
}

fn nested(node: &Node, except: Exceptions, path: &Path, errors: &mut Vec<FieldError>) {
    bounds(node, except, path, errors);
    if let Some(items) = node.items.as_deref() {
        nested(items, Exceptions::default(), &path.child("items"), errors);
    }
    for (name, property) in &node.properties {
        nested(property, Exceptions::default(), &path.child("properties").key(name), errors);
    }
    let says_additional =
        node.additional.as_ref().is_some_and(|other| other.allows || other.schema.is_some());
    let forbidden = [
        (!node.kind.is_empty(), "type", "must be empty to be structural"),
        (says_additional, "additionalProperties", "must be undefined to be structural"),
        (node.default.is_some(), "default", "must be undefined to be structural"),
        (node.has_title, "title", "must be empty to be structural"),
        (node.has_description, "description", "must be empty to be structural"),
        (node.nullable, "nullable", "must be false to be structural"),
        (node.preserves(), "x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        (node.embedded, "x-kubernetes-embedded-resource", "must be false to be structural"),
        (node.int_or_string, "x-kubernetes-int-or-string", "must be false to be structural"),
        (!node.list_map_keys.is_empty(), "x-kubernetes-list-map-keys", "must be empty to be structural"),
        (node.list_type.is_some(), "x-kubernetes-list-type", "must be undefined to be structural"),
        (node.map_type.is_some(), "x-kubernetes-map-type", "must be undefined to be structural"),
        (!node.rules.is_empty(), "x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (_, name, detail) in forbidden.into_iter().filter(|(said, _, _)| *said) {
        errors.push(FieldError::forbidden(&path.child(name), detail));
    }
    if node.properties.contains_key("metadata") {
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(&path.child("properties").key("metadata"), detail));
    }
}
