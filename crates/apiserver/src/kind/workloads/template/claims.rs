//! The devices that a Pod claims for itself.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::{given, list, shown, text};
use super::super::names;
use crate::schema::{FieldError, Path};

const SOURCES: [&str; 2] = ["resourceClaimName", "resourceClaimTemplateName"];

/// Checks the claims, each of which is either there or made from a template.
pub(super) fn check_claims(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    for (index, claim) in list(spec, "resourceClaims").iter().enumerate() {
        let path = path.child("resourceClaims").index(index);
        match text(claim, "name") {
            "" => errors.push(FieldError::required(&path.child("name"), "")),
            name if !seen.insert(name) => {
                errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
            }
            name => names::check(names::dns_label, name, &path.child("name"), errors),
        }
        check_source(claim, &path, errors);
    }
}

fn check_source(claim: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let known: Vec<&str> = SOURCES.into_iter().filter(|source| given(claim, source).is_some()).collect();
    let wrong = match known.len() {
        0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        1 => "",
        _ => "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
    };
    if !wrong.is_empty() {
        let fields = [("name", "".into()), (SOURCES[0], Value::Null), (SOURCES[1], Value::Null)];
        errors.push(FieldError::invalid_shown(path, claim.clone(), shown(claim, &fields), wrong));
    }
    for source in known {
        names::check(names::dns_subdomain, text(claim, source), &path.child(source), errors);
    }
}
