//! The metadata of objects without the rest of them.

use serde_json::{Value, json};

/// `PartialObjectMetadata` of an object, in this version of `meta.k8s.io`.
pub fn partial(object: &Value, version: &str) -> Value {
    let mut metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    without_generation(&mut metadata);
    json!({"kind": "PartialObjectMetadata", "apiVersion": format!("meta.k8s.io/{version}"), "metadata": metadata})
}

/// The annotation in which daemon sets carry what is a field of their specification inside the real server: it is not
/// among what the real server takes for metadata.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn without_generation(metadata: &mut Value) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(TEMPLATE_GENERATION);
    if annotations.is_empty()
        && let Some(metadata) = metadata.as_object_mut()
    {
        metadata.remove("annotations");
    }
}

/// `PartialObjectMetadataList`: `metadata` is that of the list.
pub fn partial_list(objects: &[Value], metadata: &Value, version: &str) -> Value {
    let items: Vec<Value> = objects.iter().map(|object| partial(object, version)).collect();
    json!({
        "kind": "PartialObjectMetadataList",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": metadata,
        "items": items,
    })
}
