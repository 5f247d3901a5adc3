//! A Pod is bound to a node: `pods/NAME/binding`, which is how a scheduler says where it shall run.

use http::StatusCode;
use serde_json::{Value, json};

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::incoming::{decode_unkept, store_refused};
use super::modify::check_identity;
use super::objects;
use super::options::{WriteKind, WriteOptions};
use crate::error::{ApiError, Reason, Subject};
use crate::kind::Around;
use crate::lifecycle::metadata;
use crate::schema::{FieldError, Path, aggregate};
use crate::store::{Expect, WriteError};

/// How often a Pod is bound again when someone else writes it at the same time.
const MAX_TRIES: usize = 100;

/// Whether a request is for the binding of a Pod.
pub(super) fn is_binding(call: &Call) -> bool {
    &*call.resource.id == "/pods" && call.subresource.as_deref() == Some("binding")
}

impl Server {
    /// Binds a Pod to the node that the body names.
    pub(super) async fn bind(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Create)?;
        let mut binding = decode_unkept(call.content_type(), &call.body, "v1", "Binding")?;
        if metadata::text(&binding, "name") != call.name() {
            return Err(ApiError::bad_request("name in URL does not match name in Binding object"));
        }
        check_identity(call, &mut binding)?;
        check(&binding)?;
        for _ in 0..MAX_TRIES {
            let Some(stored) = self.store().get(&call.key()) else {
                return Err(ApiError::not_found(call.subject()));
            };
            let pod = objects::load_stored(&call.resource, &stored);
            let bound = bound(&pod, &binding, &Around::now(self)).map_err(|why| refused(call, &why))?;
            if options.dry_run {
                return Ok(done());
            }
            match self.put(&call.resource, call.key(), bound, Expect::At(stored.revision)).await {
                Ok(_) => return Ok(done()),
                Err(WriteError::Changed) => {}
                Err(error) => return Err(store_refused(call, call.name(), &error)),
            }
        }
        Err(ApiError::modified(call.subject()))
    }
}

fn done() -> Answer {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Answer { code: StatusCode::CREATED, content: Content::Json(status), warnings: Vec::new() }
}

fn refused(call: &Call, why: &str) -> ApiError {
    let subject = Subject { kind: "pods/binding".to_owned(), ..call.subject() };
    ApiError::conflict(subject, why)
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// A Pod is bound to a node, which has a name. The real server has not thought of this error as an answer.
fn check(binding: &Value) -> Result<(), ApiError> {
    let mut errors = Vec::new();
    let kind = text(binding, "/target/kind");
    if !matches!(kind, "" | "Node") {
        let allowed = ["Node", "<empty>"].map(str::to_owned);
        errors.push(FieldError::not_supported(&Path::new("target.kind"), kind, &allowed));
    }
    if text(binding, "/target/name").is_empty() {
        errors.push(FieldError::required(&Path::new("target.name"), ""));
    }
    if errors.is_empty() { Ok(()) } else { Err(ApiError::new(Reason::Unknown, aggregate(&errors))) }
}

/// The Pod on its node, or why it cannot be there.
fn bound(pod: &Value, binding: &Value, now: &str) -> Result<Value, String> {
    let (name, node) = (metadata::text(pod, "name"), text(pod, "/spec/nodeName"));
    for (field, what) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let (asked, known) = (metadata::text(binding, field), metadata::text(pod, field));
        if !asked.is_empty() && asked != known {
            return Err(format!(
                "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {known}"
            ));
        }
    }
    if metadata::is_ending(pod) {
        return Err(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !node.is_empty() {
        return Err(format!("pod {name} is already assigned to node {node:?}"));
    }
    if pod.pointer("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|gates| !gates.is_empty()) {
        return Err(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut bound = pod.clone();
    bound["spec"]["nodeName"] = text(binding, "/target/name").into();
    for field in ["annotations", "labels"] {
        let given = binding.pointer(&format!("/metadata/{field}")).and_then(Value::as_object);
        for (name, value) in given.into_iter().flatten() {
            bound["metadata"][field][name] = value.clone();
        }
    }
    if let Some(status) = bound.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("nominatedNodeName");
    }
    set_scheduled(&mut bound, now);
    Ok(bound)
}

/// That it is scheduled, since now if it was not.
fn set_scheduled(pod: &mut Value, now: &str) {
    let scheduled =
        json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = pod["status"]["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|one| one["type"] == "PodScheduled") {
        Some(known) => *known = scheduled,
        None => conditions.push(scheduled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(spec: &Value) -> Value {
        json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "spec": spec, "status": {}})
    }

    fn binding() -> Value {
        json!({"metadata": {"name": "a", "annotations": {"x": "y"}}, "target": {"kind": "Node", "name": "n"}})
    }

    #[test]
    fn a_pod_is_bound_once() {
        let there = bound(&pod(&json!({})), &binding(), "t").unwrap();
        assert_eq!(
            (&there["spec"]["nodeName"], &there["metadata"]["annotations"]["x"]),
            (&json!("n"), &json!("y"))
        );
        assert_eq!(there["status"]["conditions"][0]["type"], "PodScheduled");
        let again = bound(&there, &binding(), "t").unwrap_err();
        assert_eq!(again, "pod a is already assigned to node \"n\"");
    }

    #[test]
    fn what_is_not_ready_or_another_is_not_bound() {
        assert!(bound(&pod(&json!({"schedulingGates": [{"name": "g"}]})), &binding(), "t").is_err());
        let mut other = binding();
        other["metadata"]["uid"] = "v".into();
        assert!(bound(&pod(&json!({})), &other, "t").is_err());
        assert!(check(&json!({"target": {"kind": "Pod"}})).is_err() && check(&binding()).is_ok());
    }
}
