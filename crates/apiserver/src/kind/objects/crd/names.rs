//! The names of a CRD: those it wants, and those it has.

use serde_json::Value;

use super::super::fields::{check_form, list, text, texts};
use crate::kind::metadata::label_1035;
use crate::schema::{FieldError, Path};

/// What is wrong with names that are given; which of them must be given is not looked at.
pub(super) fn check(path: &Path, names: &Value, errors: &mut Vec<FieldError>) {
    let joined = |found: Vec<String>| if found.is_empty() { found } else { vec![found.join(",")] };
    for field in ["plural", "singular"] {
        let name = text(names, &format!("/{field}"));
        if !name.is_empty() {
            check_form(&path.child(field), name, joined(label_1035(name)), errors);
        }
    }
    for field in ["kind", "listKind"] {
        let name = text(names, &format!("/{field}"));
        let found = label_1035(&name.to_lowercase());
        if !name.is_empty() && !found.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", found.join(","));
            errors.push(FieldError::invalid(&path.child(field), name, detail));
        }
    }
    check_list(path, names, "shortNames", errors);
    let kind = text(names, "/kind");
    if !kind.is_empty() && kind == text(names, "/listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&path.child("listKind"), kind, detail));
    }
    check_list(path, names, "categories", errors);
}

fn check_list(path: &Path, names: &Value, field: &str, errors: &mut Vec<FieldError>) {
    for (index, name) in texts(list(names, &format!("/{field}"))).enumerate() {
        let found = label_1035(name);
        if !found.is_empty() {
            errors.push(FieldError::invalid(&path.child(field).index(index), name, found.join(",")));
        }
    }
}
