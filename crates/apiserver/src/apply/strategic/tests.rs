//! Strategic merge patches on pods, whose fields use every strategy.

use serde_json::{Value, json};

use super::*;

fn keys() -> MergeKeys {
    let merge = |key: &str| FieldMerge::new("merge", Some(key));
    [
        ("metadata.finalizers", FieldMerge::new("merge", None)),
        ("spec.containers", merge("name")),
        ("spec.containers.env", merge("name")),
        ("spec.containers.ports", merge("containerPort")),
        ("spec.volumes", FieldMerge::new("merge,retainKeys", Some("name"))),
        ("spec.strategy", FieldMerge::new("retainKeys", None)),
        ("spec.whole", FieldMerge::new("replace", None)),
    ]
    .into_iter()
    .collect()
}

fn patched(object: &Value, patch: &Value) -> Result<Value, PatchError> {
    strategic_merge_patch(object, patch, &keys())
}

#[test]
fn lists_merge_by_their_key_in_the_order_of_the_patch() {
    let object = json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b"}]}});
    let patch =
        json!({"spec": {"containers": [{"name": "c"}, {"name": "a", "image": "2", "env": [{"name": "X"}]}]}});
    let expected = json!([{"name": "c"}, {"name": "a", "image": "2", "env": [{"name": "X"}]}, {"name": "b"}]);
    assert_eq!(patched(&object, &patch).unwrap()["spec"]["containers"], expected);
}

#[test]
fn lists_without_a_strategy_are_replaced() {
    let object = json!({"spec": {"args": ["a", "b"]}});
    assert_eq!(patched(&object, &json!({"spec": {"args": ["c"]}})), Ok(json!({"spec": {"args": ["c"]}})));
}

#[test]
fn scalars_merge_as_sets_and_are_deleted_by_name() {
    let object = json!({"metadata": {"finalizers": ["a", "b"]}});
    let added = patched(&object, &json!({"metadata": {"finalizers": ["c", "a"]}})).unwrap();
    assert_eq!(added["metadata"]["finalizers"], json!(["c", "a", "b"]));
    let deleted =
        patched(&object, &json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}})).unwrap();
    assert_eq!(deleted["metadata"]["finalizers"], json!(["b"]));
    let nothing = patched(&json!({}), &json!({"$deleteFromPrimitiveList/x": ["a"]})).unwrap();
    assert_eq!(nothing, json!({}));
}

#[test]
fn marks_delete_and_replace_items_and_objects() {
    let object = json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}], "x": {"p": 1, "q": 2}}});
    let run = |patch: Value| patched(&object, &json!({"spec": patch})).unwrap()["spec"].clone();
    let deleted = run(json!({"containers": [{"$patch": "delete", "name": "a"}]}));
    assert_eq!(deleted["containers"], json!([{"name": "b"}]));
    let replaced = run(json!({"containers": [{"$patch": "replace"}, {"name": "c"}]}));
    assert_eq!(replaced["containers"], json!([{"name": "c"}]));
    assert_eq!(run(json!({"x": {"$patch": "replace", "r": 3}}))["x"], json!({"r": 3}));
    assert_eq!(run(json!({"x": {"$patch": "delete"}}))["x"], json!({}));
    assert_eq!(run(json!({"new": {"$patch": "delete"}})).get("new"), None);
    assert_eq!(run(json!({"x": null})).get("x"), None);
}

#[test]
fn elements_are_put_in_the_order_that_the_patch_gives() {
    let object = json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}});
    let patch = json!({"spec": {
        "$setElementOrder/containers": [{"name": "c"}, {"name": "d"}, {"name": "a"}],
        "containers": [{"name": "d", "image": "1"}],
    }});
    let expected = json!([{"name": "b"}, {"name": "c"}, {"name": "d", "image": "1"}, {"name": "a"}]);
    assert_eq!(patched(&object, &patch).unwrap()["spec"]["containers"], expected);
    let wrong =
        json!({"spec": {"$setElementOrder/containers": [{"name": "c"}], "containers": [{"name": "d"}]}});
    assert!(matches!(patched(&object, &wrong), Err(PatchError::Internal(_))));
}

#[test]
fn only_retained_keys_stay() {
    let object = json!({"spec": {"strategy": {"type": "Rolling", "rolling": {"max": 1}}}});
    let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
    assert_eq!(patched(&object, &patch).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    let wrong = json!({"spec": {"strategy": {"$retainKeys": ["type"], "other": 1}}});
    assert!(matches!(patched(&object, &wrong), Err(PatchError::BadRequest(_))));
}

#[test]
fn malformed_patches_are_refused() {
    let object =
        json!({"spec": {"containers": [{"name": "a"}], "lists": [[1]]}, "metadata": {"finalizers": ["a"]}});
    let refused = |patch: Value| patched(&object, &patch).unwrap_err();
    assert!(matches!(refused(json!([])), PatchError::BadRequest(_)));
    assert!(matches!(refused(json!({"$deleteFromPrimitiveList": []})), PatchError::BadRequest(_)));
    let no_key = refused(json!({"spec": {"containers": [{"image": "x"}]}}));
    assert_eq!(no_key.to_string(), "map: map[image:x] does not contain declared merge key: name");
    assert!(matches!(refused(json!({"metadata": {"finalizers": [1]}})), PatchError::Internal(_)));
    assert!(matches!(refused(json!({"metadata": {"$patch": "x"}})), PatchError::Internal(_)));
}

#[test]
fn nulls_in_what_is_new_are_dropped() {
    let patch = json!({"spec": {"new": {"a": null, "b": [{"c": null}]}}});
    assert_eq!(patched(&json!({}), &patch), Ok(json!({"spec": {"new": {"b": [{}]}}})));
}

#[test]
fn keys_are_read_from_definitions_that_refer_to_themselves() {
    let definitions = json!({
        "Pod": {"properties": {"spec": {"$ref": "#/definitions/Spec"}}},
        "Spec": {"properties": {
            "nested": {"$ref": "#/definitions/Spec"},
            "containers": {
                "type": "array", "items": {"$ref": "#/definitions/Container"},
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
            },
        }},
        "Container": {"properties": {"tags": {"type": "array", "x-kubernetes-patch-strategy": "merge"}}},
    });
    let keys = MergeKeys::of_definition("Pod", definitions.as_object().unwrap());
    assert_eq!(keys.at("spec.containers"), FieldMerge::new("merge", Some("name")));
    assert_eq!(keys.at("spec.containers.tags"), FieldMerge::new("merge", None));
    assert_eq!(keys.at("spec.nested.containers"), FieldMerge::new("merge", Some("name")));
    assert!(keys.iter().count() < 100);
}
