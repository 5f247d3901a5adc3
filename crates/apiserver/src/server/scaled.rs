//! What the `scale` of an object is: how many replicas are wanted and there, at the places that its kind says.

use serde_json::{Value, json};

use crate::apply::{FieldSet, ReplicasPaths, scale_owners};
use crate::error::{ApiError, Reason};
use crate::registry::{Resource, ScalePaths};

/// The version of a scale.
pub(super) const API_VERSION: &str = "autoscaling/v1";

/// The scale of this object, with those who own its replicas.
pub(super) fn scale_of(object: &Value, resource: &Resource, paths: &ScalePaths) -> Result<Value, ApiError> {
    let internal = |why: String| ApiError::new(Reason::InternalError, why);
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    let owners = scale_owners(object, &owned_at(resource, paths)).map_err(internal)?;
    if !owners.is_empty() {
        metadata["managedFields"] = Value::Array(owners);
    }
    let count = |path: &str| at(object, path).and_then(Value::as_i64).unwrap_or(0);
    let mut scale = json!({
        "apiVersion": API_VERSION, "kind": "Scale", "metadata": metadata,
        "spec": {}, "status": {"replicas": count(&paths.status)},
    });
    if count(&paths.spec) != 0 {
        scale["spec"]["replicas"] = count(&paths.spec).into();
    }
    let selector = paths.selector.as_deref().and_then(|path| at(object, path));
    if let Some(selector) = selector.map(selector_text) {
        scale["status"]["selector"] = selector.into();
    }
    Ok(scale)
}

/// A selector as text: custom resources have it so, built-in kinds as an object.
fn selector_text(selector: &Value) -> String {
    if let Some(text) = selector.as_str() {
        return text.to_owned();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<(String, String)> =
        labels.map(|(name, value)| (name.clone(), format!("={}", text(value)))).collect();
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let mut values: Vec<String> =
            expression["values"].as_array().into_iter().flatten().map(text).collect();
        values.sort();
        let values = values.join(",");
        let (before, after) = match expression["operator"].as_str().unwrap_or_default() {
            "In" => ("", format!(" in ({values})")),
            "NotIn" => ("", format!(" notin ({values})")),
            "DoesNotExist" => ("!", String::new()),
            _ => ("", String::new()),
        };
        terms.push((format!("{before}{}", text(&expression["key"])), after));
    }
    terms.sort_by(|a, b| a.0.trim_start_matches('!').cmp(b.0.trim_start_matches('!')));
    terms.into_iter().map(|(name, rest)| name + &rest).collect::<Vec<_>>().join(",")
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|name| !name.is_empty())
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    names(path).try_fold(object, |value, name| value.get(name))
}

/// Sets what is at a path like `.spec.replicas`.
pub(super) fn set(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for name in names(path) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[name];
    }
    *place = value;
}

/// Where the replicas of a resource are, in each of its versions.
pub(super) fn owned_at(resource: &Resource, paths: &ScalePaths) -> ReplicasPaths {
    let names: Vec<&str> = names(&paths.spec).collect();
    let path = FieldSet::of_names(&[&names]).paths().into_iter().next();
    let versions = resource.kind.sharing().typings.keys();
    versions.map(|version| (version.clone(), path.clone())).collect()
}
