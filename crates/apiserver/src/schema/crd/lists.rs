//! Consistency of `x-kubernetes-list-type`, its keys, and `x-kubernetes-map-type`.

use serde_json::Value;

use super::super::field_error::FieldError;
use super::super::node::Node;
use super::super::path::Path;

pub(super) fn validate(node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(map_type) = node.map_type.as_deref() {
        require_type(node, "object", "must be object if x-kubernetes-map-type is specified", path, errors);
        one_of("x-kubernetes-map-type", map_type, &["atomic", "granular"], path, errors);
    }
    let at = path.child("x-kubernetes-list-type");
    let list_type = node.list_type.as_deref();
    if let Some(list_type) = list_type {
        let detail = "must be array if x-kubernetes-list-type is specified";
        if require_type(node, "array", detail, path, errors) && list_type == "set" {
            validate_set(node, path, errors);
        }
        one_of("x-kubernetes-list-type", list_type, &["atomic", "set", "map"], path, errors);
    }
    if !node.list_map_keys.is_empty() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type {
            None => errors.push(FieldError::required(&at, detail)),
            Some("map") => {}
            Some(other) => errors.push(FieldError::invalid(&at, other, detail)),
        }
    }
    if list_type == Some("map") {
        validate_map(node, path, errors);
    }
    if let (Some(list_type @ ("set" | "map")), Some(items)) = (list_type, node.items.as_deref()) {
        if items.nullable {
            let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
            errors.push(FieldError::forbidden(&path.child("items").child("nullable"), detail));
        }
        if list_type == "map" {
            validate_keys(node, items, path, errors);
        }
    }
}

fn require_type(node: &Node, kind: &str, detail: &str, path: &Path, errors: &mut Vec<FieldError>) -> bool {
    let at = path.child("type");
    match node.kind.as_str() {
        given if given == kind => return true,
        "" => errors.push(FieldError::required(&at, detail)),
        given => errors.push(FieldError::invalid(&at, given, detail)),
    }
    false
}

fn one_of(name: &str, value: &str, allowed: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    if !allowed.contains(&value) {
        let allowed: Vec<_> = allowed.iter().map(|&allowed| allowed.to_owned()).collect();
        errors.push(FieldError::not_supported(&path.child(name), value, &allowed));
    }
}

/// Items of a set are compared as a whole.
fn validate_set(node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(items) = node.items.as_deref() else { return };
    let (name, is_wrong) = match items.kind.as_str() {
        "array" => {
            ("x-kubernetes-list-type", items.list_type.as_deref().is_some_and(|other| other != "atomic"))
        }
        "object" => ("x-kubernetes-map-type", items.map_type.as_deref() != Some("atomic")),
        _ => return,
    };
    if is_wrong {
        let shown = items.list_type.clone().map_or(Value::Null, Value::from);
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        errors.push(FieldError::invalid(&path.child("items").child(name), shown, detail));
    }
}

fn validate_map(node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    let at = path.child("x-kubernetes-list-map-keys");
    if node.list_map_keys.is_empty() {
        errors.push(FieldError::required(&at, "must not be empty if x-kubernetes-list-type is map"));
    }
    let Some(items) = node.items.as_deref() else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        return errors.push(FieldError::required(&path.child("items"), detail));
    };
    if items.kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let at = path.child("items").child("type");
        return errors.push(FieldError::invalid(&at, items.kind.as_str(), detail));
    }
    for (index, key) in node.list_map_keys.iter().enumerate() {
        match items.properties.get(key) {
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(&at, node.list_map_keys.clone(), detail));
            }
            Some(property) if matches!(property.kind.as_str(), "array" | "object") => {
                let at = path.child("items").child("properties").key(key).child("type");
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid(&at, items.kind.as_str(), detail));
            }
            Some(_) => {}
        }
        if node.list_map_keys.iter().take(index).any(|other| other == key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(&at, node.list_map_keys.clone(), detail));
        }
    }
}

/// Every key is there in every item.
fn validate_keys(node: &Node, items: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    for key in &node.list_map_keys {
        let Some(property) = items.properties.get(key) else { continue };
        let at = path.child("items").child("properties").key(key);
        if !items.bounds.required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(&at.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&at.child("nullable"), detail));
        }
    }
}
