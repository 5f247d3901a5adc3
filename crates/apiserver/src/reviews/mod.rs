//! Questions that are asked by creating an object which is never kept: who am I, may I, is this token good.
//!
//! There is one user, who may do everything; nobody else is known.

mod access;
mod rules;
mod who;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::discovery::Served;
use crate::error::ApiError;

/// The group of the questions who somebody is.
pub const AUTHENTICATION: &str = "authentication.k8s.io";
/// The group of the questions what somebody may do.
pub const AUTHORIZATION: &str = "authorization.k8s.io";
/// The group whose members may do everything.
const MASTERS: &str = "system:masters";

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The uid; may be empty.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// What else is known.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Who may do everything: whoever shows the token, and whoever calls without a socket, for they hold the whole server
    /// in their hands.
    pub fn administrator() -> Self {
        Self { uid: String::new(), ..Self::master("muster:admin") }
    }

    /// The one user there is, by this name: a member of `system:masters`.
    pub fn master(name: &str) -> Self {
        let groups = vec![MASTERS.to_owned(), "system:authenticated".to_owned()];
        Self { name: name.to_owned(), uid: name.to_owned(), groups, ..Self::default() }
    }

    fn to_json(&self) -> Value {
        let mut user = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            user["uid"] = self.uid.clone().into();
        }
        if !self.extra.is_empty() {
            user["extra"] = json!(self.extra);
        }
        user
    }
}

/// What a review may look at.
pub struct Asked<'a> {
    /// The API group of the path.
    pub group: &'a str,
    /// The resource of the path.
    pub resource: &'a str,
    /// The namespace of the path.
    pub namespace: Option<&'a str>,
    /// The review as it was sent.
    pub body: &'a Value,
    /// Who asks.
    pub user: &'a User,
    /// The present time, as Kubernetes writes it.
    pub now: &'a str,
    /// Whose token this is.
    pub owner_of: &'a dyn Fn(&str) -> Option<User>,
}

/// The resources that are reviews, for discovery.
pub fn served() -> Vec<Served> {
    let authentication = ["SelfSubjectReview", "TokenReview"];
    let authorization = ["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"];
    let local = Served::review(AUTHORIZATION, "LocalSubjectAccessReview", true);
    let of = |group, kinds: &[&str]| {
        kinds.iter().map(|kind| Served::review(group, kind, false)).collect::<Vec<_>>()
    };
    [of(AUTHENTICATION, &authentication), vec![local], of(AUTHORIZATION, &authorization)].concat()
}

/// The kind of a review; none where there is none of this name.
pub fn kind(group: &str, resource: &str) -> Option<String> {
    let review = served().into_iter().find(|review| review.group == group && review.plural == resource);
    review.map(|review| review.kind)
}

/// The answer to a review, which is created with 201; none where the path does not lead to one.
pub fn answer(asked: &Asked<'_>) -> Option<Result<Value, ApiError>> {
    let local = asked.namespace.is_some();
    let answer = match (asked.group, asked.resource, local) {
        (AUTHENTICATION, "selfsubjectreviews", false) => Ok(who::am_i(asked)),
        (AUTHENTICATION, "tokenreviews", false) => who::has_token(asked),
        (AUTHORIZATION, "selfsubjectaccessreviews", false) => access::of_self(asked),
        (AUTHORIZATION, "subjectaccessreviews", false) => access::of_others(asked),
        (AUTHORIZATION, "localsubjectaccessreviews", true) => access::within_namespace(asked),
        (AUTHORIZATION, "selfsubjectrulesreviews", false) => rules::of_self(asked),
        _ => return None,
    };
    Some(answer)
}

/// The review with its answer.
fn reviewed(asked: &Asked<'_>, kind: &str, status: &Value) -> Value {
    let empty = Map::new();
    let metadata = asked.body.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let mut metadata: Map<String, Value> = metadata
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(namespace) = asked.namespace {
        metadata.insert("namespace".into(), namespace.into());
    }
    json!({
        "kind": kind,
        "apiVersion": format!("{}/v1", asked.group),
        "metadata": metadata,
        "spec": asked.body.get("spec").cloned().unwrap_or_else(|| json!({})),
        "status": status,
    })
}

#[cfg(test)]
mod tests;
