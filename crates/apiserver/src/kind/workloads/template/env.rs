//! The environment of a container.

use serde_json::Value;

use super::super::fields::{given, list, text};
use super::super::names;
use crate::schema::{FieldError, Path};

/// The fields of a Pod that a variable may show.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The resources that a variable may show.
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
const NO_SOURCE: &str =
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

/// Checks `env` and `envFrom`.
pub(super) fn check_env(container: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, variable) in list(container, "env").iter().enumerate() {
        let path = path.child("env").index(index);
        match text(variable, "name") {
            "" => errors.push(FieldError::required(&path.child("name"), "")),
            name => names::check(names::variable, name, &path.child("name"), errors),
        }
        if let Some(source) = given(variable, "valueFrom") {
            check_source(source, text(variable, "value"), &path.child("valueFrom"), errors);
        }
    }
    for (index, source) in list(container, "envFrom").iter().enumerate() {
        check_env_from(source, &path.child("envFrom"), index, errors);
    }
}

fn check_source(source: &Value, value: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(reference) = given(source, "fieldRef") {
        check_field(reference, &FIELDS, &path.child("fieldRef"), errors);
    }
    if let Some(reference) = given(source, "resourceFieldRef") {
        check_resource(reference, false, &path.child("resourceFieldRef"), errors);
    }
    for key_reference in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference) = given(source, key_reference) {
            check_key(reference, &path.child(key_reference), errors);
        }
    }
    let count = SOURCES.iter().filter(|name| given(source, name).is_some()).count();
    let wrong = match count {
        0 => NO_SOURCE,
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, "", wrong));
}

fn check_key(reference: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    names::check(names::dns_subdomain, text(reference, "name"), &path.child("name"), errors);
    match text(reference, "key") {
        "" => errors.push(FieldError::required(&path.child("key"), "")),
        key => names::check(names::config_key, key, &path.child("key"), errors),
    }
}

/// Checks a `fieldRef`; `allowed` are the fields that can be shown here, besides single labels and annotations.
pub(super) fn check_field(reference: &Value, allowed: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    let field = text(reference, "fieldPath");
    if field.is_empty() {
        errors.push(FieldError::required(&path.child("fieldPath"), ""));
        return;
    }
    let path_of_field = path.child("fieldPath");
    if let Some((owner, rest)) = field.split_once("['") {
        let key = rest.strip_suffix("']").unwrap_or(rest);
        match owner {
            "metadata.annotations" => names::check(names::label_key, &key.to_ascii_lowercase(), path, errors),
            "metadata.labels" => names::check(names::label_key, key, path, errors),
            _ => errors.push(FieldError::invalid(
                &path_of_field,
                field,
                format!("error converting fieldPath: field label does not support subscript: {field}"),
            )),
        }
        return;
    }
    if !is_known(field) {
        let wrong = format!("error converting fieldPath: field label not supported: {field}");
        errors.push(FieldError::invalid(&path_of_field, field, wrong));
    } else if !allowed.contains(&field) {
        errors.push(names::not_one_of(&path_of_field, field, allowed));
    }
}

/// Whether a field of a Pod can be shown anywhere.
fn is_known(field: &str) -> bool {
    FIELDS.contains(&field)
        || [
            "metadata.annotations",
            "metadata.labels",
            "spec.restartPolicy",
            "spec.schedulerName",
            "status.phase",
        ]
        .contains(&field)
}

/// Checks a `resourceFieldRef`; in a volume it has to name the container.
pub(super) fn check_resource(reference: &Value, in_volume: bool, path: &Path, errors: &mut Vec<FieldError>) {
    let resource = text(reference, "resource");
    let is_huge = |which: &str| resource.starts_with(&format!("{which}.hugepages-"));
    if in_volume && text(reference, "containerName").is_empty() {
        errors.push(FieldError::required(&path.child("containerName"), ""));
    } else if resource.is_empty() {
        errors.push(FieldError::required(&path.child("resource"), ""));
    } else if !RESOURCES.contains(&resource) && !is_huge("limits") && !is_huge("requests") {
        errors.push(names::not_one_of(&path.child("resource"), resource, &RESOURCES));
    }
}

fn check_env_from(source: &Value, path: &Path, index: usize, errors: &mut Vec<FieldError>) {
    let own = path.index(index);
    match text(source, "prefix") {
        "" => {}
        prefix => names::check(names::variable, prefix, &own.child("prefix"), errors),
    }
    let references = ["configMapRef", "secretRef"];
    for name in references {
        let Some(reference) = given(source, name) else { continue };
        let path = own.child(name).child("name");
        match text(reference, "name") {
            "" => errors.push(FieldError::required(&path, "")),
            name => {
                names::check(|name| names::dns_subdomain(name.trim_end_matches('-')), name, &path, errors);
            }
        }
    }
    let wrong = match references.iter().filter(|name| given(source, name).is_some()).count() {
        0 => "must specify one of: `configMapRef` or `secretRef`",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, "", wrong));
}
