//! `Namespace`: it is marked with its own name, and stays until those who clean it up have let go of it.

use serde_json::{Value, json};

use super::fields::{check_form, list, object_at, take_over, text, texts};
use crate::error::{ApiError, Reason, Subject};
use crate::kind::metadata::label_key;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// The finalizer of the controller that empties a namespace.
const KUBERNETES: &str = "kubernetes";
/// Finalizers that need no domain.
const STANDARD: [&str; 3] = [KUBERNETES, "orphan", "foregroundDeletion"];
/// What nobody may delete.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// What is particular to `Namespace`.
#[derive(Debug)]
pub(super) struct Namespace;

impl Particular for Namespace {
    fn default(&self, object: &mut Value) {
        let name = text(object, "/metadata/name").to_owned();
        if let Some(labels) = object.get_mut("metadata").and_then(|metadata| object_at(metadata, "labels")) {
            labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
        }
        if let Some(status) = object_at(object, "status") {
            super::fields::fill_text(status, "phase", "Active");
        }
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        let Some(old) = old else {
            object["status"] = json!({"phase": "Active"});
            let mut finalizers = list(object, "/spec/finalizers").to_vec();
            if !finalizers.contains(&KUBERNETES.into()) {
                finalizers.push(KUBERNETES.into());
            }
            if let Some(spec) = object_at(object, "spec") {
                spec.insert("finalizers".to_owned(), Value::Array(finalizers));
            }
            return Ok(());
        };
        if part == Part::Whole {
            take_over(object, old, "spec");
        }
        if part != Part::Status {
            take_over(object, old, "status");
        }
        Ok(())
    }

    fn check(&self, object: &Value, _: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = Path::new("spec.finalizers");
        let finalizers = texts(list(object, "/spec/finalizers"));
        match part {
            Part::Whole => finalizers.for_each(|name| check_finalizer(&path, name, &mut errors)),
            Part::Finalize => {
                for (index, name) in finalizers.enumerate() {
                    check_finalizer(&path.index(index), name, &mut errors);
                }
            }
            Part::Status => check_phase(object, &mut errors),
        }
        errors
    }

    fn marked(&self, object: &Value, now: &str) -> Option<Value> {
        Some(terminating(object, now))
    }

    fn refuse_end(&self, object: &Value) -> Result<(), ApiError> {
        refuses_deletion(text(object, "/metadata/name")).map_or(Ok(()), Err)
    }

    fn is_held(&self, object: &Value) -> bool {
        !list(object, "/spec/finalizers").is_empty()
    }
}

fn check_finalizer(path: &Path, name: &str, errors: &mut Vec<FieldError>) {
    check_form(path, name, label_key(name), errors);
    if !name.contains('/') && !STANDARD.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

fn check_phase(object: &Value, errors: &mut Vec<FieldError>) {
    let (wanted, when) =
        if metadata::is_ending(object) { ("Terminating", "is not empty") } else { ("Active", "is empty") };
    let phase = text(object, "/status/phase");
    if phase != wanted {
        let detail = format!("may only be '{wanted}' if `deletionTimestamp` {when}");
        errors.push(FieldError::invalid(&Path::new("status.Phase"), phase, detail));
    }
}

/// Why a namespace cannot be deleted at all; none if it can.
pub fn refuses_deletion(name: &str) -> Option<ApiError> {
    if !IMMORTAL.contains(&name) {
        return None;
    }
    let message = format!("namespaces {name:?} is forbidden: this namespace may not be deleted");
    let subject = Subject { name: name.to_owned(), kind: "namespaces".to_owned(), ..Subject::default() };
    Some(ApiError { subject: Some(Box::new(subject)), ..ApiError::new(Reason::Forbidden, message) })
}

/// The namespace as its deletion leaves it at first: marked, with no grace period, and terminating.
#[must_use]
pub fn terminating(namespace: &Value, now: &str) -> Value {
    let mut next = namespace.clone();
    if !metadata::is_ending(namespace) {
        metadata::set(&mut next, "deletionTimestamp", Some(now.into()));
    }
    if let Some(status) = object_at(&mut next, "status") {
        status.insert("phase".to_owned(), "Terminating".into());
    }
    next
}
