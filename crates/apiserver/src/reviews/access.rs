//! What somebody may do.

use serde_json::{Value, json};

use super::{AUTHORIZATION, Asked, MASTERS, reviewed};
use crate::error::{ApiError, Cause, Subject};
use crate::kind::built_in::order;

pub(super) fn of_self(asked: &Asked<'_>) -> Result<Value, ApiError> {
    let mut wrong = Wrong::default();
    check_attributes(asked.body, &mut wrong);
    check_metadata(asked, &mut wrong);
    wrong.refuse()?;
    let allowed = asked.user.groups.iter().any(|group| group == MASTERS);
    Ok(reviewed(asked, "SelfSubjectAccessReview", &json!({"allowed": allowed})))
}

pub(super) fn of_others(asked: &Asked<'_>) -> Result<Value, ApiError> {
    let mut wrong = Wrong::default();
    check_attributes(asked.body, &mut wrong);
    check_subject(asked.body, &mut wrong);
    check_metadata(asked, &mut wrong);
    wrong.refuse()?;
    let status = json!({"allowed": is_master(asked.body)});
    Ok(reviewed(asked, "SubjectAccessReview", &status))
}

pub(super) fn within_namespace(asked: &Asked<'_>) -> Result<Value, ApiError> {
    let mut wrong = Wrong::default();
    check_attributes(asked.body, &mut wrong);
    check_subject(asked.body, &mut wrong);
    check_metadata(asked, &mut wrong);
    let meant = asked.body.pointer("/spec/resourceAttributes/namespace").and_then(Value::as_str);
    if meant != asked.namespace && asked.body.pointer("/spec/resourceAttributes").is_some() {
        let field = "spec.resourceAttributes.namespace";
        let value = format!("{:?}", meant.unwrap_or_default());
        wrong.say(field, &value, "must match metadata.namespace");
    }
    wrong.refuse()?;
    let status = json!({"allowed": is_master(asked.body)});
    Ok(reviewed(asked, "LocalSubjectAccessReview", &status))
}

/// Groups decide, not names: the one user there is has every right by its group.
fn is_master(body: &Value) -> bool {
    let groups = body.pointer("/spec/groups").and_then(Value::as_array);
    groups.is_some_and(|groups| groups.iter().any(|group| group == MASTERS))
}

/// It is about a resource or about a path, and not about both.
fn check_attributes(body: &Value, wrong: &mut Wrong) {
    let given = |name: &str| body.pointer(&format!("/spec/{name}")).filter(|value| !value.is_null());
    match (given("resourceAttributes"), given("nonResourceAttributes")) {
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            wrong.say("spec.resourceAttributes", "null", why);
        }
        (Some(_), Some(path)) => {
            let text = |name: &str| path.get(name).and_then(Value::as_str).unwrap_or_default();
            // The real server says this with the names of Go's fields.
            let value = format!(r#"{{"Path":{:?},"Verb":{:?}}}"#, text("path"), text("verb"));
            let why = "cannot be specified in combination with resourceAttributes";
            wrong.say("spec.nonResourceAttributes", &value, why);
        }
        _ => {}
    }
}

fn check_subject(body: &Value, wrong: &mut Wrong) {
    let user = body.pointer("/spec/user").and_then(Value::as_str).unwrap_or_default();
    let groups = body.pointer("/spec/groups").and_then(Value::as_array);
    if user.is_empty() && groups.is_none_or(Vec::is_empty) {
        wrong.say("spec.user", "\"\"", "at least one of user or group must be specified");
    }
}

/// A review is not kept, and has no name; who wrote its fields is no fault of the client.
fn check_metadata(asked: &Asked<'_>, wrong: &mut Wrong) {
    let Some(metadata) = asked.body.get("metadata") else { return };
    let allowed = |name: &str| name == "managedFields" || name == "namespace" && asked.namespace.is_some();
    let fields = metadata.as_object().into_iter().flatten();
    if fields.filter(|(_, value)| !value.is_null()).all(|(name, _)| allowed(name)) {
        return;
    }
    let why = if asked.namespace.is_some() { "must be empty except for namespace" } else { "must be empty" };
    wrong.say("metadata", &order::metadata(metadata), why);
}

/// All that is wrong with a review.
#[derive(Default)]
struct Wrong(Vec<Cause>);

impl Wrong {
    fn say(&mut self, field: &str, value: &str, why: &str) {
        let message = format!("Invalid value: {value}: {why}");
        self.0.push(Cause { reason: "FieldValueInvalid".into(), message, field: field.into() });
    }

    fn refuse(self) -> Result<(), ApiError> {
        let said: Vec<String> =
            self.0.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let details = match said.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let subject = Subject { group: AUTHORIZATION.into(), ..Subject::default() };
        Err(ApiError::invalid(subject, &details, self.0))
    }
}
