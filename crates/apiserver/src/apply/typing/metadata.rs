//! The types of `metadata`, which every kind shares and no CRD describes.

use serde_json::{Value, json};

/// The definition that a CRD's `metadata`, and that of embedded resources, refers to.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The schema of `metadata`, as the server publishes it without its words.
pub(super) fn object_meta() -> Value {
    let time = json!({"type": "string", "format": "date-time"});
    let text = json!({"type": "string"});
    let number = json!({"type": "integer", "format": "int64"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let owner = json!({
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "apiVersion": text, "kind": text, "name": text, "uid": text,
            "controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"},
        },
    });
    let entry = json!({
        "type": "object",
        "properties": {
            "manager": text, "operation": text, "apiVersion": text, "time": time,
            "fieldsType": text, "fieldsV1": {"type": "object"}, "subresource": text,
        },
    });
    json!({
        "type": "object",
        "properties": {
            "annotations": texts,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": number,
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
            "generateName": text,
            "generation": number,
            "labels": texts,
            "managedFields": {"type": "array", "items": entry, "x-kubernetes-list-type": "atomic"},
            "name": text,
            "namespace": text,
            "ownerReferences": {
                "type": "array", "items": owner,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"],
            },
            "resourceVersion": text,
            "selfLink": text,
            "uid": text,
        },
    })
}
