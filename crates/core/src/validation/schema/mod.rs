//! The half of validation that the CRDs do by themselves, in Rust: what `kubectl apply` would refuse.
//!
//! It reads the very schemas that are installed, so a bound stands in one place only. The CEL rules in them
//! have a counterpart each in `rules`, found by the rule's text, so that a rule can neither be forgotten nor
//! stand at another place than in the CRD. A property test compares the verdicts with a real API server's.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use muster_api::crds;
use serde_json::Value;

use super::{Path, Violation};

mod bounds;
mod rules;
mod walk;

/// The schema of each kind, by name.
static SCHEMAS: LazyLock<BTreeMap<String, JSONSchemaProps>> = LazyLock::new(|| {
    let schema = |crd: CustomResourceDefinition| {
        let version = crd.spec.versions.into_iter().next()?;
        Some((crd.spec.names.kind, version.schema?.open_api_v3_schema?))
    };
    crds().into_iter().filter_map(schema).collect()
});

/// What the API server would refuse in `object`, or in changing `old` to it. Status is not looked at: it is
/// not written with the spec.
pub fn refusals(kind: &str, object: &Value, old: Option<&Value>) -> Vec<Violation> {
    let Some(schema) = SCHEMAS.get(kind) else {
        let message = format!("{kind:?} is not a kind of this API");
        return vec![Violation { path: "kind".to_owned(), message }];
    };
    let (object, old) = (without_nulls(object), old.map(without_nulls));
    let mut walk = walk::Walk::default();
    if object.pointer("/metadata/name").and_then(Value::as_str).is_none_or(str::is_empty) {
        walk.malformed(&Path::root("metadata").field("name"), "is required");
    }
    walk.object(schema, &object, old.as_ref(), &Path::root(""), &["status"]);
    walk.violations
}

/// As the API server reads it: a field that is null is one that is not given. An item of a list stays what it
/// is.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, item)| !item.is_null());
            Value::Object(given.map(|(name, item)| (name.clone(), without_nulls(item))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
