//! The versions of a CRD, one by one, and those that objects may be stored in.

use serde_json::Value;

use super::super::fields::{is_true, list, text, texts};
use super::columns;
use super::internal::{Internal, Version, given};
use super::shown::show_schema;
use crate::kind::metadata::label_1035;
use crate::schema::{FieldError, Path, Schema};

/// Longest warning of a deprecated version.
const MAX_WARNING: usize = 256;

/// What is wrong with each version, and with all of them.
pub(super) fn check(path: &Path, internal: &Internal<'_>, errors: &mut Vec<FieldError>) {
    let path = path.child("versions");
    for (index, version) in internal.versions.iter().enumerate() {
        let at = path.index(index);
        let found = label_1035(version.name());
        if !found.is_empty() {
            errors.push(FieldError::invalid(&at.child("name"), version.name(), found.join(",")));
        }
        let subresources = internal.subresources(version.name());
        let has_status = subresources.is_some_and(|all| given(all, "status").is_some());
        check_version(&at, version, has_status, errors);
    }
    let mut all = |detail: &str| {
        let value = internal.versions.iter().map(|version| version.whole.clone()).collect();
        errors.push(FieldError::invalid_shown(&path, value, internal.shown(), detail));
    };
    let mut names: Vec<&str> = internal.versions.iter().map(Version::name).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        all("must contain unique version names");
    }
    if internal.versions.iter().filter(|version| is_true(version.whole, "storage")).count() != 1 {
        all("must have exactly one version marked as storage version");
    }
}

fn check_version(path: &Path, version: &Version<'_>, has_status: bool, errors: &mut Vec<FieldError>) {
    check_deprecation(&path.child("deprecationWarning"), version.whole, errors);
    let own = version.own;
    let schema = own.schema.and_then(|schema| given(schema, "openAPIV3Schema"));
    if let Some(schema) = schema {
        check_schema(&path.child("schema").child("openAPIV3Schema"), schema, has_status, errors);
    }
    columns::check_subresources(&path.child("subresources"), own.subresources, errors);
    columns::check_columns(&path.child("additionalPrinterColumns"), own.columns, errors);
    if own.selectable.is_empty() {
        return;
    }
    let path = path.child("selectableFields");
    if let Some(schema) = schema {
        columns::check_selectable(&path, own.selectable, schema, errors);
    } else {
        let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
        errors.push(FieldError::invalid(&path, "", detail));
    }
}

fn check_deprecation(path: &Path, version: &Value, errors: &mut Vec<FieldError>) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let mut say = |detail: String| errors.push(FieldError::invalid(path, warning, detail));
    if !is_true(version, "deprecated") {
        return say("can only be set for deprecated versions".to_owned());
    }
    if warning.len() > MAX_WARNING {
        say(format!("must be <= {MAX_WARNING} characters long"));
    }
    if warning.is_empty() {
        say("must not be an empty string".to_owned());
    }
    let is_printed = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace());
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| !is_printed(*c)) {
        let what = "must only contain printable UTF-8 characters; non-printable character found at index";
        say(format!("{what} {index}"));
    }
}

/// What is wrong with a schema.
pub(super) fn check_schema(path: &Path, schema: &Value, has_status: bool, errors: &mut Vec<FieldError>) {
    if let Some(error) = Schema::check_root_for_status(path, schema).filter(|_| has_status) {
        errors.push(match &error.value {
            Some(Value::Object(_)) => {
                FieldError::invalid_shown(path, schema.clone(), show_schema(schema), error.detail)
            }
            _ => error,
        });
    }
    if let Err(mut found) = Schema::compile_at(path, schema) {
        errors.append(&mut found);
    }
}

/// Every version has a schema, of its own or shared.
pub(super) fn check_schemas_given(path: &Path, internal: &Internal<'_>, errors: &mut Vec<FieldError>) {
    let has_schema =
        |schema: Option<&Value>| schema.is_some_and(|schema| given(schema, "openAPIV3Schema").is_some());
    if has_schema(internal.shared.schema) {
        return;
    }
    for (index, version) in internal.versions.iter().enumerate() {
        if !has_schema(version.own.schema) {
            let path = path.child("versions").index(index).child("schema").child("openAPIV3Schema");
            errors.push(FieldError::required(&path, ""));
        }
    }
}

/// What is wrong with the versions that objects may be stored in.
pub(super) fn check_stored(crd: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("status.storedVersions");
    let stored = list(crd, "/status/storedVersions");
    if stored.is_empty() {
        let value = crd.pointer("/status/storedVersions").cloned().unwrap_or(Value::Null);
        errors.push(FieldError::invalid(&path, value, "must have at least one stored version"));
        return;
    }
    let mut left: Vec<(usize, &str)> = texts(stored).enumerate().collect();
    for version in list(crd, "/spec/versions") {
        let name = text(version, "/name");
        let before = left.len();
        left.retain(|(_, known)| *known != name);
        if is_true(version, "storage") && left.len() == before {
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(&path, Value::Array(stored.to_vec()), detail));
        }
    }
    for (index, name) in left {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
             until a storage migration ensures no data remains persisted in {name} and removes {name} from \
             status.storedVersions"
        );
        errors.push(FieldError::invalid(&path.index(index), name, detail));
    }
}
