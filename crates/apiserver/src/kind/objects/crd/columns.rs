//! Subresources and columns of a version: paths that the server follows in its objects.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::text;
use super::internal::given;
use crate::schema::{FieldError, Path};

/// The types of columns, and all formats of them.
const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// What is wrong with the subresources.
pub(super) fn check_subresources(path: &Path, subresources: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(scale) = subresources.and_then(|all| given(all, "scale")) else { return };
    let under =
        |field: &str, places: &[&str], is_required: bool, words: &str, errors: &mut Vec<FieldError>| {
            let (at, wanted) = (path.child("scale").child(field), text(scale, &format!("/{field}")));
            if wanted.is_empty() {
                if is_required {
                    errors.push(FieldError::required(&at, ""));
                }
            } else if !check_path(&at, wanted, errors)
                && !places.iter().any(|place| wanted.starts_with(place))
            {
                errors.push(FieldError::invalid(&at, wanted, format!("should be a json path under {words}")));
            }
        };
    under("specReplicasPath", &[".spec."], true, ".spec", errors);
    under("statusReplicasPath", &[".status."], true, ".status", errors);
    under("labelSelectorPath", &[".spec.", ".status."], false, "either .spec or .status", errors);
}

/// What is wrong with the columns.
pub(super) fn check_columns(path: &Path, columns: &[Value], errors: &mut Vec<FieldError>) {
    for (index, column) in columns.iter().enumerate() {
        let path = path.index(index);
        if text(column, "/name").is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        let must = |allowed: &[&str]| format!("must be one of {}", allowed.join(","));
        match text(column, "/type") {
            "" => errors.push(FieldError::required(&path.child("type"), must(&TYPES))),
            kind if TYPES.contains(&kind) => {}
            kind => errors.push(FieldError::invalid(&path.child("type"), kind, must(&TYPES))),
        }
        let format = text(column, "/format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            errors.push(FieldError::invalid(&path.child("format"), format, must(&FORMATS)));
        }
        match text(column, "/jsonPath") {
            "" => errors.push(FieldError::required(&path.child("JSONPath"), "")),
            wanted => drop(check_path(&path.child("JSONPath"), wanted, errors)),
        }
    }
}

/// Whether something is wrong with a path, which is then said.
fn check_path(at: &Path, wanted: &str, errors: &mut Vec<FieldError>) -> bool {
    let is_wrong = !wanted.starts_with('.');
    if is_wrong {
        errors.push(FieldError::invalid(at, wanted, "must be a simple json path starting with ."));
    }
    is_wrong
}

/// How many fields a version may be selected by.
const MAX_SELECTABLE: usize = 8;

/// What is wrong with the fields that objects can be selected by.
pub(super) fn check_selectable(path: &Path, wanted: &[Value], schema: &Value, errors: &mut Vec<FieldError>) {
    let mut known: HashSet<String> = HashSet::new();
    for (index, field) in wanted.iter().enumerate() {
        let (at, json_path) = (path.index(index).child("jsonPath"), text(field, "/jsonPath"));
        if json_path.is_empty() {
            errors.push(FieldError::required(&at, ""));
            continue;
        }
        let (found, schema) = match super::selectable::follow(json_path, schema) {
            Ok(found) => found,
            Err(why) => {
                errors.push(FieldError::invalid(&at, json_path, format!("is an invalid path: {why}")));
                continue;
            }
        };
        if found.first().is_some_and(|first| first == "metadata") {
            errors.push(FieldError::invalid(&at, json_path, "must not point to fields in metadata"));
        }
        if !matches!(text(schema, "/type"), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                 with formats are allowed.";
            errors.push(FieldError::invalid(&at, json_path, detail));
        }
        let found = found.join(".");
        if !known.insert(found) {
            errors.push(FieldError::duplicate(&at, Some(json_path.into())));
        }
    }
    if known.len() > MAX_SELECTABLE {
        errors.push(FieldError::too_many(path, known.len(), 8));
    }
}
