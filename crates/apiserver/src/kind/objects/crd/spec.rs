//! What makes the spec of a CRD valid.

use serde_json::Value;

use super::super::fields::{check_choice, is_true, text};
use super::internal::{Internal, Version, given};
use super::status::is_true_condition;
use super::{columns, conversion, names, versions};
use crate::kind::metadata::{label_1035, subdomain};
use crate::schema::{FieldError, Path};

/// Everything that is wrong with the spec; `old` is the CRD that it replaces.
pub(super) fn check(crd: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = crd.get("spec").unwrap_or(&Value::Null);
    let path = Path::new("spec");
    let internal = Internal::of(crd);
    check_group(&path, text(spec, "/group"), errors);
    match text(spec, "/scope") {
        "" => errors.push(FieldError::required(&path.child("scope"), "")),
        scope => check_choice(&path.child("scope"), scope, &["Cluster", "Namespaced"], errors),
    }
    versions::check_schemas_given(&path, &internal, errors);
    let preserves = is_true(spec, "preserveUnknownFields");
    if preserves && internal.schemas().any(has_defaults) {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(&path.child("preserveUnknownFields"), true, detail));
    }
    versions::check(&path, &internal, errors);
    check_first_version(&path, &internal, errors);
    let names = spec.get("names").unwrap_or(&Value::Null);
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(names, &format!("/{field}")).is_empty() {
            errors.push(FieldError::required(&path.child("names").child(field), ""));
        }
    }
    names::check(&path.child("names"), names, errors);
    check_shared(&path, &internal, errors);
    let is_established = old.is_some_and(|old| is_true_condition(old, "Established"));
    conversion::check(spec, old, is_established, errors);
    if let Some(old) = old {
        check_unchanged(spec, &old["spec"], is_established, errors);
    }
}

fn check_group(path: &Path, group: &str, errors: &mut Vec<FieldError>) {
    let path = path.child("group");
    let found = subdomain(group);
    if group.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else if !found.is_empty() {
        errors.push(FieldError::invalid(&path, group, found.join(",")));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid(&path, group, "should be a domain with at least one dot"));
    }
}

/// The server keeps the name of the first version a second time.
fn check_first_version(path: &Path, internal: &Internal<'_>, errors: &mut Vec<FieldError>) {
    let Some(first) = internal.versions.first().map(Version::name) else { return };
    let found = label_1035(first);
    if !first.is_empty() && !found.is_empty() {
        errors.push(FieldError::invalid(&path.child("version"), first, found.join(",")));
    }
}

/// What all versions share.
fn check_shared(path: &Path, internal: &Internal<'_>, errors: &mut Vec<FieldError>) {
    let shared = internal.shared;
    if let Some(schema) = shared.schema.and_then(|schema| given(schema, "openAPIV3Schema")) {
        let path = path.child("validation").child("openAPIV3Schema");
        versions::check_schema(&path, schema, internal.has_status(), errors);
    }
    columns::check_subresources(&path.child("subresources"), shared.subresources, errors);
    columns::check_columns(&path.child("additionalPrinterColumns"), shared.columns, errors);
    if shared.selectable.is_empty() {
        return;
    }
    let path = path.child("selectableFields");
    match shared.schema {
        None => {
            let detail = "may only be set when validations.schema is included";
            errors.push(FieldError::invalid(&path, "", detail));
        }
        Some(schema) => {
            columns::check_selectable(&path, shared.selectable, &schema["openAPIV3Schema"], errors);
        }
    }
}

fn check_unchanged(spec: &Value, old: &Value, is_established: bool, errors: &mut Vec<FieldError>) {
    let established: &[&str] = if is_established { &["scope", "names.kind"] } else { &[] };
    for field in established.iter().chain(&["group", "names.plural"]) {
        let pointer = format!("/{}", field.replace('.', "/"));
        let value = text(spec, &pointer);
        if value != text(old, &pointer) {
            let path = Path::new("spec").child(field);
            errors.push(FieldError::invalid(&path, value, "field is immutable"));
        }
    }
}

fn has_defaults(schema: &Value) -> bool {
    let inside = |value: &Value| match value {
        Value::Array(items) => items.iter().any(has_defaults),
        Value::Object(_) => has_defaults(value),
        _ => false,
    };
    let named = |value: &Value| value.as_object().is_some_and(|all| all.values().any(has_defaults));
    schema.as_object().is_some_and(|fields| {
        fields.iter().any(|(name, value)| match name.as_str() {
            "default" => !value.is_null(),
            "properties" | "patternProperties" | "definitions" => named(value),
            "items" | "allOf" | "anyOf" | "oneOf" | "not" | "additionalProperties" | "additionalItems" => {
                inside(value)
            }
            _ => false,
        })
    })
}
