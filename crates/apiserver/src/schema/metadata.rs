//! The metadata of objects inside objects: which fields it has, and what embedded objects must say.

use serde_json::{Map, Value};

use super::field_error::FieldError;
use super::node::Node;
use super::path::Path;

/// The fields that make an object one, beside its own.
pub(crate) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Longest name of a kind: a DNS label.
const MAX_KIND_LENGTH: usize = 63;

const FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];
const OWNER_FIELDS: [&str; 6] = ["apiVersion", "blockOwnerDeletion", "controller", "kind", "name", "uid"];
const MANAGED_FIELDS: [&str; 7] =
    ["apiVersion", "fieldsType", "fieldsV1", "manager", "operation", "subresource", "time"];

/// Takes away the fields that metadata does not have, and notes their paths.
pub(crate) fn prune(metadata: &mut Value, path: &str, unknown: &mut Vec<String>) {
    let Value::Object(fields) = metadata else { return };
    keep_known(fields, &FIELDS, path, unknown);
    for (list, known) in [("ownerReferences", &OWNER_FIELDS[..]), ("managedFields", &MANAGED_FIELDS[..])] {
        let Some(Value::Array(items)) = fields.get_mut(list) else { continue };
        for (index, item) in items.iter_mut().enumerate() {
            if let Value::Object(fields) = item {
                keep_known(fields, known, &format!("{path}.{list}[{index}]"), unknown);
            }
        }
    }
}

fn keep_known(fields: &mut Map<String, Value>, known: &[&str], path: &str, unknown: &mut Vec<String>) {
    fields.retain(|name, _| {
        let is_known = known.contains(&name.as_str());
        if !is_known {
            unknown.push(format!("{path}.{name}"));
        }
        is_known
    });
}

/// What embedded objects must say of themselves: their version and kind.
pub(crate) fn validate_embedded(value: &Value, node: &Node, path: &Path, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(fields) => {
            if node.embedded {
                validate_type(fields, path, errors);
            }
            for (name, field) in fields {
                if let Some(property) = node.properties.get(name) {
                    validate_embedded(field, property, &path.child(name), errors);
                } else if let Some(additional) = node.additional_schema() {
                    validate_embedded(field, additional, &path.key(name), errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                validate_embedded(item, schema, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn validate_type(fields: &Map<String, Value>, path: &Path, errors: &mut Vec<FieldError>) {
    let mut text = |name: &str| {
        let at = path.child(name);
        match fields.get(name) {
            None => errors.push(FieldError::required(&at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(&at, "", "must not be empty"));
            }
            Some(Value::String(text)) => return Some((at, text.as_str())),
            Some(other) => errors.push(FieldError::invalid(&at, other.clone(), "must be a string")),
        }
        None
    };
    let (version, kind) = (text("apiVersion"), text("kind"));
    if let Some((at, version)) = version.filter(|(_, version)| version.matches('/').count() > 1) {
        let detail = format!("unexpected GroupVersion string: {version}");
        errors.push(FieldError::invalid(&at, version, detail));
    }
    if let Some((at, kind)) = kind.filter(|(_, kind)| !is_kind(kind)) {
        errors.push(FieldError::invalid(&at, kind, KIND_DETAIL));
    }
    if let Some(Value::Object(metadata)) = fields.get("metadata") {
        let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
        if matches!(name, "." | "..") {
            let detail = format!("may not be '{name}'");
            errors.push(FieldError::invalid(&path.child("metadata").child("name"), name, detail));
        }
        for c in ['/', '%'].into_iter().filter(|c| name.contains(*c)) {
            let detail = format!("may not contain '{c}'");
            errors.push(FieldError::invalid(&path.child("metadata").child("name"), name, detail));
        }
    }
}

const KIND_DETAIL: &str = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower \
     case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character \
     (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

fn is_kind(kind: &str) -> bool {
    kind.len() <= MAX_KIND_LENGTH
        && kind.starts_with(|c: char| c.is_ascii_alphabetic())
        && kind.ends_with(|c: char| c.is_ascii_alphanumeric())
        && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_of_metadata_go_and_are_named() {
        let mut metadata = json!({"name": "a", "color": 1, "ownerReferences": [{"uid": "1", "size": 2}]});
        let mut unknown = Vec::new();
        prune(&mut metadata, "metadata", &mut unknown);
        assert_eq!(metadata, json!({"name": "a", "ownerReferences": [{"uid": "1"}]}));
        assert_eq!(unknown, ["metadata.color", "metadata.ownerReferences[0].size"]);
    }

    #[test]
    fn an_embedded_object_must_have_a_version_and_a_kind() {
        let schema = json!({"properties": {"o": {"x-kubernetes-embedded-resource": true}}});
        let node = Node::read(&schema, &Path::root()).unwrap();
        let mut errors = Vec::new();
        validate_embedded(&json!({"o": {"kind": "a b"}}), &node, &Path::root(), &mut errors);
        assert_eq!(errors[0].to_string(), "o.apiVersion: Required value");
        assert!(errors[1].to_string().starts_with(r#"o.kind: Invalid value: "a b": may have mixed case"#));
    }
}
