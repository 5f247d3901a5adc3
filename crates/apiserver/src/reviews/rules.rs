//! Everything that somebody may do, rule by rule.

use serde_json::{Value, json};

use super::{Asked, reviewed};
use crate::error::ApiError;

/// What a member of `system:masters` gets to see on a real server: first everything, then what everybody may do.
pub(super) fn of_self(asked: &Asked<'_>) -> Result<Value, ApiError> {
    let namespace = asked.body.pointer("/spec/namespace").and_then(Value::as_str).unwrap_or_default();
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let creates = |group: &str, resources: &[&str]| json!({"verbs": ["create"], "apiGroups": [group], "resources": resources});
    let gets = |paths: &[&str]| json!({"verbs": ["get"], "nonResourceURLs": paths});
    let status = json!({
        "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            creates("authorization.k8s.io", &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
            creates("authentication.k8s.io", &["selfsubjectreviews"]),
        ],
        "nonResourceRules": [
            {"verbs": ["*"], "nonResourceURLs": ["*"]},
            gets(&["/healthz", "/livez", "/readyz", "/version", "/version/"]),
            gets(&[
                "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz",
                "/version", "/version/",
            ]),
        ],
        "incomplete": false,
    });
    let mut review = reviewed(asked, "SelfSubjectRulesReview", &status);
    // Made anew, as on the real server.
    review["spec"] = json!({});
    review["metadata"] = json!({});
    Ok(review)
}
