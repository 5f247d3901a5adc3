//! `Lease` and `ServiceAccount`, which have little of their own.

use serde_json::{Value, json};

use super::fields::object_at;
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// What is particular to `Lease`.
#[derive(Debug)]
pub(super) struct Lease;

impl Particular for Lease {
    fn prepare(
        &self,
        object: &mut Value,
        _: Option<&Value>,
        _: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        if let Some(spec) = object_at(object, "spec") {
            // Coordinated leader election is switched off in the server that we equal.
            spec.remove("strategy");
            spec.remove("preferredHolder");
        }
        Ok(())
    }

    fn check(&self, object: &Value, _: Option<&Value>, _: Part) -> Vec<FieldError> {
        let spec = Path::new("spec");
        let number = |field: &str| object.pointer(&format!("/spec/{field}")).and_then(Value::as_i64);
        let mut errors = Vec::new();
        if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
            let path = spec.child("leaseDurationSeconds");
            errors.push(FieldError::invalid(&path, seconds, "must be greater than 0"));
        }
        if let Some(count) = number("leaseTransitions") {
            super::fields::check_not_negative(&spec.child("leaseTransitions"), count, &mut errors);
        }
        errors
    }
}

/// An annotation that should not be used any more.
const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

/// What is particular to `ServiceAccount`.
#[derive(Debug)]
pub(super) struct ServiceAccount;

impl Particular for ServiceAccount {
    fn prepare(
        &self,
        object: &mut Value,
        _: Option<&Value>,
        _: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        for secret in object.get_mut("secrets").and_then(Value::as_array_mut).into_iter().flatten() {
            let name = secret.get("name").cloned();
            *secret = name.map_or_else(|| json!({}), |name| json!({"name": name}));
        }
        Ok(())
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let has = |account: &Value| {
            account.pointer("/metadata/annotations").is_some_and(|all| all.get(MOUNTABLE).is_some())
        };
        if !has(object) || old.is_some_and(has) {
            return Vec::new();
        }
        let advice = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        vec![format!("metadata.annotations[{MOUNTABLE}]: {advice}")]
    }
}
