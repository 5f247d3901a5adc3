//! From client-side to server-side apply: `kubectl` may take over what its annotation says it applied before.

use serde_json::{Map, Value};

use super::Write;
use super::move_fields::typing_of;
use crate::apply::fields::FieldSet;
use crate::apply::literal;
use crate::apply::typed::{Duplicates, check, collect, compare};

/// The one writer whose annotation counts.
pub(super) const MANAGER: &str = "kubectl";
/// Where client-side apply keeps what it applied.
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How much all annotations may hold; the server drops this one rather than go over.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}

/// What was applied from the client and is still so; none if that cannot be told.
pub(super) fn allowed_conflicts(live: &Value, write: &Write<'_>) -> Option<FieldSet> {
    let last: Value = serde_json::from_str(annotation(live)?).ok()?;
    let typing = typing_of(write).ok()?;
    let fits = |object| check(typing.view(), object, Duplicates::Refused).is_empty();
    if last.get("apiVersion")?.as_str()? != write.api_version || !fits(live) || !fits(&last) {
        return None;
    }
    let changes = compare(typing.view(), &last, live).ok()?;
    let unchanged = collect(typing.view(), &last);
    Some(unchanged.difference(&changes.modified).difference(&changes.added).difference(&changes.removed))
}

/// Keeps the annotation in step with what is applied now, if the object has one.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(metadata) = config.get_mut("metadata").and_then(Value::as_object_mut) {
        // Reading the annotations and writing them back without this one leaves none where there were no others.
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        let empty = annotations.is_none_or(|annotations| {
            annotations.remove(ANNOTATION);
            annotations.is_empty()
        });
        if empty {
            metadata.remove("annotations");
        }
    }
    let text = literal::json(&config) + "\n";
    if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
        annotations.insert(ANNOTATION.into(), Value::String(text));
        if bytes(annotations) > MAX_ANNOTATIONS_BYTES {
            annotations.remove(ANNOTATION);
        }
    }
}

fn bytes(annotations: &Map<String, Value>) -> usize {
    annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum()
}
