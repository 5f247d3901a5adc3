//! Groups of the Kubernetes community: their CRDs say that they were approved.

use serde_json::{Value, json};

use super::super::fields::text;
use crate::schema::{FieldError, Path};

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    Missing,
    Invalid,
    Bypassed,
    Approved,
}

/// What is wrong with the approval, where it changed.
pub(super) fn check(crd: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if !is_protected(text(crd, "/spec/group")) {
        return;
    }
    let (approval, reason) = approval(crd);
    if old.is_some_and(|old| self::approval(old).0 == approval) {
        return;
    }
    let path = Path::new("metadata.annotations").key(ANNOTATION);
    match approval {
        Approval::Missing => errors.push(FieldError::required(&path, reason)),
        Approval::Invalid => errors.push(FieldError::invalid(&path, annotation(crd), reason)),
        Approval::Bypassed | Approval::Approved => {}
    }
}

/// The condition that tells of it; none where no approval is needed.
pub(super) fn condition(crd: &Value) -> Option<Value> {
    if !is_protected(text(crd, "/spec/group")) {
        return None;
    }
    let (approval, message) = approval(crd);
    let (status, reason) = match approval {
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
        Approval::Approved => ("True", "ApprovedAnnotation"),
    };
    let kind = "KubernetesAPIApprovalPolicyConformant";
    Some(json!({"type": kind, "status": status, "reason": reason, "message": message}))
}

fn is_protected(group: &str) -> bool {
    let is_in = |domain: &str| group == domain || group.ends_with(&format!(".{domain}"));
    is_in("k8s.io") || is_in("kubernetes.io")
}

fn annotation(crd: &Value) -> &str {
    crd.pointer("/metadata/annotations")
        .and_then(|all| all.get(ANNOTATION))
        .and_then(Value::as_str)
        .unwrap_or("")
}

fn approval(crd: &Value) -> (Approval, String) {
    match annotation(crd) {
        "" => (
            Approval::Missing,
            format!("protected groups must have approval annotation {ANNOTATION:?}, {SEE}"),
        ),
        text if text.starts_with("unapproved") => (Approval::Bypassed, format!("not approved: {text:?}")),
        text if is_url(text) => (Approval::Approved, format!("approved in {text}")),
        _ => (
            Approval::Invalid,
            format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason \
                 starting with \"unapproved\", {SEE}"
            ),
        ),
    }
}

/// Whether it has a scheme and a host.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = !text.contains(|c: char| c.is_ascii_control() || c == ' ');
    is_scheme && !host.is_empty() && is_plain
}
