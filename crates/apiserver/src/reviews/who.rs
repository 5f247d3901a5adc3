//! Who somebody is.

use serde_json::{Value, json};

use super::{Asked, reviewed};
use crate::error::ApiError;

pub(super) fn am_i(asked: &Asked<'_>) -> Value {
    json!({
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": asked.now},
        "status": {"userInfo": asked.user.to_json()},
    })
}

/// Tokens are good for this server, and for no other audience.
pub(super) fn has_token(asked: &Asked<'_>) -> Result<Value, ApiError> {
    const AUDIENCE: &str = "https://kubernetes.default.svc";
    let token = asked.body.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences = asked.body.pointer("/spec/audiences").and_then(Value::as_array);
    let meant = audiences.is_none_or(|names| names.is_empty() || names.iter().any(|name| name == AUDIENCE));
    let owner = (asked.owner_of)(token).filter(|_| meant);
    let status = match owner {
        Some(user) => json!({"authenticated": true, "user": user.to_json(), "audiences": [AUDIENCE]}),
        None => json!({"user": {}, "error": "invalid bearer token"}),
    };
    Ok(reviewed(asked, "TokenReview", &status))
}
