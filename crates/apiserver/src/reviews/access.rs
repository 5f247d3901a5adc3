//! What somebody may do.

use serde_json::{Value, json};

use super::{AUTHORIZATION, Asked, MASTERS, reviewed};
use crate::error::{ApiError, Cause, Subject};

pub(super) fn of_self(asked: &Asked<'_>) -> Result<Value, ApiError> {
    check_attributes(asked.body)?;
    let allowed = asked.user.groups.iter().any(|group| group == MASTERS);
    Ok(reviewed(asked, "SelfSubjectAccessReview", &json!({"allowed": allowed})))
}

pub(super) fn of_others(asked: &Asked<'_>) -> Result<Value, ApiError> {
    check_attributes(asked.body)?;
    check_subject(asked.body)?;
    let status = json!({"allowed": is_master(asked.body)});
    Ok(reviewed(asked, "SubjectAccessReview", &status))
}

pub(super) fn within_namespace(asked: &Asked<'_>) -> Result<Value, ApiError> {
    check_attributes(asked.body)?;
    check_subject(asked.body)?;
    let meant = asked.body.pointer("/spec/resourceAttributes/namespace").and_then(Value::as_str);
    if meant != asked.namespace {
        let field = "spec.resourceAttributes.namespace";
        let value = format!("{:?}", meant.unwrap_or_default());
        return Err(invalid(field, &value, "must match metadata.namespace"));
    }
    let status = json!({"allowed": is_master(asked.body)});
    Ok(reviewed(asked, "LocalSubjectAccessReview", &status))
}

/// Groups decide, not names: the one user there is has every right by its group.
fn is_master(body: &Value) -> bool {
    let groups = body.pointer("/spec/groups").and_then(Value::as_array);
    groups.is_some_and(|groups| groups.iter().any(|group| group == MASTERS))
}

/// It is about a resource or about a path, and not about both.
fn check_attributes(body: &Value) -> Result<(), ApiError> {
    let given = |name: &str| body.pointer(&format!("/spec/{name}")).filter(|value| !value.is_null());
    match (given("resourceAttributes"), given("nonResourceAttributes")) {
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            Err(invalid("spec.resourceAttributes", "null", why))
        }
        (Some(_), Some(path)) => {
            let text = |name: &str| path.get(name).and_then(Value::as_str).unwrap_or_default();
            // The real server says this with the names of Go's fields.
            let value = format!(r#"{{"Path":{:?},"Verb":{:?}}}"#, text("path"), text("verb"));
            let why = "cannot be specified in combination with resourceAttributes";
            Err(invalid("spec.nonResourceAttributes", &value, why))
        }
        _ => Ok(()),
    }
}

fn check_subject(body: &Value) -> Result<(), ApiError> {
    let user = body.pointer("/spec/user").and_then(Value::as_str).unwrap_or_default();
    let groups = body.pointer("/spec/groups").and_then(Value::as_array);
    if user.is_empty() && groups.is_none_or(Vec::is_empty) {
        return Err(invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
    }
    Ok(())
}

fn invalid(field: &str, value: &str, why: &str) -> ApiError {
    let message = format!("Invalid value: {value}: {why}");
    let details = format!("{field}: {message}");
    let cause = Cause { reason: "FieldValueInvalid".into(), message, field: field.into() };
    let subject = Subject { group: AUTHORIZATION.into(), ..Subject::default() };
    ApiError::invalid(subject, &details, vec![cause])
}
