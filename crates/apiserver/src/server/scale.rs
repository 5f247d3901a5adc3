//! The `scale` of an object: how many replicas are wanted and there, whatever its kind.

use http::StatusCode;
use serde_json::{Value, json};

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::decode;
use super::incoming::decode_unkept;
use super::modify::Proposal;
use super::objects;
use super::options::{WriteKind, WriteOptions};
use super::patch::not_applied;
use crate::apply::{
    FieldSet, PatchError, ReplicasPaths, apply, json_patch, merge_patch, owners_after_scale, scale_owners,
    track_update,
};
use crate::apply::{Typing, Typings, Write};
use crate::error::ApiError;
use crate::lifecycle::{Source, metadata};
use crate::registry::{Resource, ScalePaths};

/// The content type of an apply.
const APPLY: &str = "application/apply-patch+yaml";
/// The version of a scale.
const API_VERSION: &str = "autoscaling/v1";

impl Server {
    /// The scale of an object.
    pub(super) fn get_scale(&self, call: &Call, paths: &ScalePaths) -> Result<Answer, ApiError> {
        let stored = self.store().get(&call.key()).ok_or_else(|| ApiError::not_found(call.subject()))?;
        let object = objects::load_stored(&call.resource, &stored);
        Ok(Answer::json(without_owners(scale_of(&object, &call.resource, paths)?)))
    }

    /// Replaces or patches the scale of an object.
    pub(super) async fn set_scale(&self, call: &Call, paths: &ScalePaths) -> Result<Answer, ApiError> {
        let patches = call.content_type().ends_with("-patch+json");
        let applies = call.content_type() == APPLY;
        let kind = match (applies, patches) {
            (true, _) => WriteKind::Apply,
            (_, true) => WriteKind::Patch,
            _ => WriteKind::Update,
        };
        let options = WriteOptions::of(call, kind)?;
        let whole = Call { subresource: None, ..call.clone() };
        let propose = |server: &Self, old: &Value| {
            let scale = scale_of(old, &call.resource, paths)?;
            let wanted = wanted(call, &scale)?;
            if !applies {
                check(call, old, &wanted)?;
            }
            let now = server.source().now();
            let typings = Typings::from([(API_VERSION.to_owned(), Typing::deduced())]);
            let write = Write {
                typings: &typings,
                api_version: API_VERSION,
                kind: "Scale",
                subresource: "scale",
                manager: &options.manager,
                reset: &FieldSet::new(),
                empty: &json!({}),
                now,
            };
            let tracked = if applies {
                let outcome = apply(Some(&scale), &wanted, options.force, &write);
                outcome.map_err(|error| not_applied(call, &error))?.object
            } else {
                track_update(Some(&scale), &wanted, &write)
            };
            let wanted = if applies { &tracked } else { &wanted };
            let mut object = old.clone();
            let replicas = wanted.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
            set(&mut object, &paths.spec, replicas);
            let owners = owners_after_scale(
                old,
                &tracked,
                &call.resource.api_version(),
                &owned_at(&call.resource, paths),
            )
            .map_err(|why| ApiError::new(crate::error::Reason::InternalError, why))?;
            metadata::set(&mut object, "managedFields", (!owners.is_empty()).then_some(Value::Array(owners)));
            Ok(Proposal { object, warnings: Vec::new() })
        };
        let answer = self.modify(&whole, &options, propose).await?;
        let Content::Object(resource, object) = answer.content else { return Ok(answer) };
        let content = Content::Json(without_owners(scale_of(&object, &resource, paths)?));
        Ok(Answer { code: StatusCode::OK, content, warnings: answer.warnings })
    }
}

/// A scale as clients see it: they are not told who owns its fields.
fn without_owners(mut scale: Value) -> Value {
    metadata::set(&mut scale, "managedFields", None);
    scale
}

/// The scale that the request asks for.
fn wanted(call: &Call, scale: &Value) -> Result<Value, ApiError> {
    let patch = || {
        decode::json(&call.body).map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))
    };
    let patched = match call.content_type() {
        "application/json-patch+json" => json_patch(scale, &patch()?.value),
        // A scale has no lists, so that these two are one.
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            merge_patch(scale, &patch()?.value)
        }
        APPLY => decode::yaml(&call.body)
            .map(|decoded| decoded.value)
            .map_err(|why| PatchError::BadRequest(format!("error decoding YAML: {why}"))),
        other => Ok(decode_unkept(other, &call.body, API_VERSION, "Scale")?),
    };
    patched.map_err(|error| ApiError::bad_request(error.to_string()))
}

/// A scale must be of the object that its path is about, and not older than it.
fn check(call: &Call, old: &Value, wanted: &Value) -> Result<(), ApiError> {
    let version = metadata::text(wanted, "resourceVersion");
    if !version.is_empty() && version != metadata::text(old, "resourceVersion") {
        return Err(ApiError::modified(call.subject()));
    }
    let name = metadata::text(wanted, "name");
    if name != call.name() {
        let path = call.name();
        let message = format!("the name of the object ({name}) does not match the name on the URL ({path})");
        return Err(ApiError::bad_request(message));
    }
    let replicas = wanted.pointer("/spec/replicas");
    match replicas.map(Value::as_i64) {
        None | Some(Some(0..)) => Ok(()),
        _ => {
            let path = crate::schema::Path::new("spec.replicas");
            let value = replicas.cloned().unwrap_or_default();
            let error =
                crate::schema::FieldError::invalid(&path, value, "must be greater than or equal to 0");
            let (group, kind) = ("autoscaling".to_owned(), "Scale".to_owned());
            let subject = crate::error::Subject { group, kind, ..call.subject() };
            Err(super::options::invalid(subject, &[error]))
        }
    }
}

fn scale_of(object: &Value, resource: &Resource, paths: &ScalePaths) -> Result<Value, ApiError> {
    let internal = |why: String| ApiError::new(crate::error::Reason::InternalError, why);
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

fn set(object: &mut Value, path: &str, value: Value) {
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
fn owned_at(resource: &Resource, paths: &ScalePaths) -> ReplicasPaths {
    let names: Vec<&str> = names(&paths.spec).collect();
    let path = FieldSet::of_names(&[&names]).paths().into_iter().next();
    let versions = resource.kind.sharing().typings.keys();
    versions.map(|version| (version.clone(), path.clone())).collect()
}
