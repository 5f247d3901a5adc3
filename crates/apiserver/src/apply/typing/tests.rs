//! Schemas become the types that the server makes of them.

use serde_json::{Value, json};

use super::*;

fn typing(properties: &Value) -> Typing {
    Typing::of_custom_resource(&json!({"type": "object", "properties": properties})).unwrap()
}

fn list(typing: &Typing, name: &str) -> Items {
    typing.view().map.unwrap().field(name).list.unwrap().items.clone()
}

#[test]
fn lists_are_whole_unless_the_schema_says_otherwise() {
    let list_of = |extra: Value| {
        let mut schema = json!({"type": "array", "items": {"type": "string"}});
        schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        list(&typing(&json!({"a": schema})), "a")
    };
    assert_eq!(list_of(json!({})), Items::Whole);
    assert_eq!(list_of(json!({"x-kubernetes-list-type": "atomic"})), Items::Whole);
    assert_eq!(list_of(json!({"x-kubernetes-list-type": "set"})), Items::Set);
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]});
    assert_eq!(list_of(keyed), Items::Keyed(vec!["a".into(), "b".into()]));
    assert_eq!(list_of(json!({"x-kubernetes-patch-strategy": "merge"})), Items::Set);
    let merged = json!({"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"});
    assert_eq!(list_of(merged), Items::Keyed(vec!["name".into()]));
}

#[test]
fn what_is_open_is_open_below_too() {
    let typing = typing(&json!({
        "closed": {"type": "object", "properties": {"a": {"type": "string"}}},
        "free": {"type": "object"},
        "kept": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"inner": {"type": "object", "properties": {"a": {"type": "string"}}}},
        },
    }));
    let root = typing.view().map.unwrap();
    assert!(!root.open());
    assert!(!root.field("closed").map.unwrap().open());
    assert!(root.field("free").map.unwrap().open());
    assert!(root.field("free").map.unwrap().is_unknown());
    let kept = root.field("kept").map.unwrap();
    assert!(kept.open() && !kept.is_unknown());
    assert!(kept.field("inner").map.unwrap().open());
}

#[test]
fn metadata_is_known_whatever_the_crd_says() {
    let typing = typing(&json!({"metadata": {"type": "object"}}));
    let metadata = typing.view().map.unwrap().field("metadata").map.unwrap();
    assert!(metadata.declares("finalizers"));
    assert_eq!(*metadata.field("finalizers").list.unwrap().items, Items::Set);
    let owners = metadata.field("ownerReferences").list.unwrap();
    assert!(owners.element().map.unwrap().atomic);
    assert!(owners.identify(&json!({"uid": "1"})).is_ok());
}

#[test]
fn keys_have_defaults_and_not_all_may_be_missing() {
    let typing = typing(&json!({"ports": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {
            "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
        }},
    }}));
    let ports = typing.view().map.unwrap().field("ports").list.unwrap();
    assert_eq!(ports.identify(&json!({"port": 80})).unwrap().encode(), r#"k:{"port":80,"protocol":"TCP"}"#);
    assert_eq!(ports.identify(&json!({})).unwrap().encode(), r#"k:{"protocol":"TCP"}"#);
    assert!(ports.identify(&json!(null)).is_err());
    assert!(ports.identify(&json!("x")).is_err());
}

#[test]
fn definitions_refer_to_each_other_and_may_be_made_whole_where_they_are_used() {
    let definitions = json!({
        "Thing": {"type": "object", "properties": {
            "self": {"$ref": "#/definitions/Thing"},
            "whole": {"allOf": [{"$ref": "#/components/schemas/Thing"}], "x-kubernetes-map-type": "atomic"},
            "size": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},
        }},
        "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    });
    let typing = Typing::of_definition("Thing", definitions.as_object().unwrap()).unwrap();
    let root = typing.view().map.unwrap();
    assert!(!root.field("self").map.unwrap().atomic);
    assert!(root.field("self").map.unwrap().field("whole").map.unwrap().atomic);
    assert_eq!(root.field("size").scalar, Some(Scalar::Any));
    assert!(Typing::of_definition("Other", definitions.as_object().unwrap()).is_err());
}

#[test]
fn schemas_that_make_no_sense_are_refused() {
    for schema in
        [json!({"type": "blue"}), json!({"type": "array", "items": {}, "x-kubernetes-list-type": "x"})]
    {
        assert!(Typing::of_custom_resource(&json!({"type": "object", "properties": {"a": schema}})).is_err());
    }
    assert!(Typing::of_custom_resource(&json!(["x"])).is_err());
    let deep = (0..500)
        .fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
    assert!(Typing::of_custom_resource(&deep).is_err());
}

#[test]
fn an_empty_object_has_what_is_always_there() {
    let definitions = json!({
        "Thing": {"properties": {
            "spec": {"allOf": [{"$ref": "#/components/schemas/Spec"}], "default": {}},
            "note": {"type": "string", "default": ""},
        }},
        "Spec": {"required": ["list", "name"], "properties": {
            "list": {"type": "array"}, "name": {"type": "string", "default": ""}, "other": {"type": "string"},
        }},
    });
    let empty = empty_object("Thing", definitions.as_object().unwrap());
    assert_eq!(empty, json!({"spec": {"list": null, "name": ""}}));
}
