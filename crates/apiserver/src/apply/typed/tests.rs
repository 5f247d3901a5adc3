//! Walking values with their types: the cases that the server's own rules name.

use serde_json::{Value, json};

use super::*;
use crate::apply::fields::FieldSet;
use crate::apply::typing::Typing;

pub(crate) fn typing() -> Typing {
    let item = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
    }});
    Typing::of_custom_resource(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "whole": {"type": "array", "items": {"type": "string"}},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "items": {"type": "array", "items": item, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "protocol"]},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "rgb": {"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
    }}}}))
    .unwrap()
}

fn merged(live: &Value, applied: &Value) -> Value {
    merge(typing().view(), &json!({"spec": live}), &json!({"spec": applied})).unwrap()["spec"].clone()
}

#[test]
fn lists_follow_what_is_applied_and_live_items_keep_their_neighbours() {
    let set = |live: &[&str], applied: &[&str]| {
        merged(&json!({"set": live}), &json!({"set": applied}))["set"].clone()
    };
    assert_eq!(set(&["a", "b", "c"], &["b", "d"]), json!(["a", "b", "c", "d"]));
    assert_eq!(set(&["a", "b", "c"], &["c", "a"]), json!(["b", "c", "a"]));
    assert_eq!(set(&["a", "b"], &["b", "a"]), json!(["b", "a"]));
    assert_eq!(set(&["a", "a", "b"], &["b"]), json!(["a", "a", "b"]));
    assert_eq!(set(&[], &["b", "a"]), json!(["b", "a"]));
}

#[test]
fn items_merge_by_their_keys_with_defaults() {
    let live = json!({"items": [{"name": "x", "protocol": "TCP", "port": 1}, {"name": "y", "port": 2}]});
    let applied = json!({"items": [{"name": "x", "port": 3}]});
    let expected = json!([{"name": "x", "protocol": "TCP", "port": 3}, {"name": "y", "port": 2}]);
    assert_eq!(merged(&live, &applied)["items"], expected);
}

#[test]
fn whole_things_are_replaced_and_the_rest_is_kept() {
    let live =
        json!({"whole": ["a"], "rgb": {"r": "1", "g": "2"}, "map": {"k": "1"}, "any": {"x": {"y": [1]}}});
    let applied = json!({"whole": ["b"], "rgb": {"r": "3"}, "map": {"l": "2"}, "any": {"x": {"z": null}}});
    let expected = json!({"whole": ["b"], "rgb": {"r": "3"}, "map": {"k": "1", "l": "2"}, "any": {"x": {"y": [1], "z": null}}});
    assert_eq!(merged(&live, &applied), expected);
}

#[test]
fn the_fields_of_a_value_are_its_leaves_and_items() {
    let value = json!({"spec": {
        "a": "x", "whole": [], "set": ["s"], "items": [{"name": "x"}], "map": {"k": "v"}, "rgb": {"r": "1"}, "any": {"e": {}},
    }});
    assert_eq!(
        collect(typing().view(), &value).to_json(),
        json!({"f:spec": {
            "f:a": {}, "f:whole": {}, "f:set": {"v:\"s\"": {}},
            "f:items": {"k:{\"name\":\"x\",\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}},
            "f:map": {"f:k": {}}, "f:rgb": {}, "f:any": {"f:e": {}},
        }})
    );
}

#[test]
fn comparing_tells_added_from_changed_from_removed() {
    let old = json!({"spec": {"a": "x", "n": 1, "set": ["p", "q"], "map": {"k": "v"}}});
    let new = json!({"spec": {"a": "y", "n": 1.0, "set": ["q", "r"], "rgb": {}}});
    let changes = compare(typing().view(), &old, &new).unwrap();
    assert_eq!(changes.modified.to_json(), json!({"f:spec": {"f:a": {}}}));
    assert_eq!(changes.added.to_json(), json!({"f:spec": {"f:set": {"v:\"r\"": {}}, "f:rgb": {}}}));
    let removed = json!({"f:spec": {"f:set": {"v:\"p\"": {}}, "f:map": {".": {}, "f:k": {}}}});
    assert_eq!(changes.removed.to_json(), removed);
}

#[test]
fn items_that_are_there_twice_count_as_one() {
    let twice = json!({"spec": {"items": [{"name": "x", "port": 1}, {"name": "x", "port": 2}]}});
    let once = json!({"spec": {"items": [{"name": "x", "port": 1}]}});
    let key = "k:{\"name\":\"x\",\"protocol\":\"TCP\"}";
    let changes = compare(typing().view(), &twice, &once).unwrap();
    assert_eq!(changes.removed.to_json(), json!({"f:spec": {"f:items": {key: {}}}}));
    assert_eq!(
        changes.added.to_json(),
        json!({"f:spec": {"f:items": {key: {".": {}, "f:name": {}, "f:port": {}}}}})
    );
    assert_eq!(collect(typing().view(), &twice).to_json(), json!({"f:spec": {"f:items": {key: {}}}}));
}

#[test]
fn removing_leaves_null_where_nothing_is_left() {
    let value = json!({"spec": {"a": "x", "map": {"k": "v"}, "set": ["p"]}});
    let mut fields = FieldSet::of_names(&[&["spec", "map", "k"]]);
    fields = fields.union(&FieldSet::from_json(&json!({"f:spec": {"f:set": {"v:\"p\"": {}}}})).unwrap());
    let expected = json!({"spec": {"a": "x", "map": null, "set": null}});
    assert_eq!(remove(typing().view(), &value, &fields), expected);
}

#[test]
fn named_parents_are_implied_and_keys_of_maps_are_not() {
    let set = FieldSet::of_names(&[&["spec", "map", "k"], &["spec", "any", "x", "y"]]);
    let expected =
        json!({"f:spec": {".": {}, "f:map": {".": {}, "f:k": {}}, "f:any": {".": {}, "f:x": {"f:y": {}}}}});
    assert_eq!(with_named(Some(typing().view()), &set).to_json(), expected);
}

#[test]
fn what_became_whole_is_owned_whole() {
    let set = FieldSet::from_json(&json!({"f:spec": {
        "f:rgb": {".": {}, "f:r": {}}, "f:whole": {"v:\"x\"": {}}, "f:map": {"f:k": {}}, "f:any": {"f:x": {}}}}));
    let expected =
        json!({"f:spec": {"f:rgb": {}, "f:whole": {}, "f:map": {"f:k": {}}, "f:any": {"f:x": {}}}});
    assert_eq!(reconcile(typing().view(), set.unwrap()).to_json(), expected);
}

#[test]
fn what_does_not_fit_is_named_with_its_path() {
    let problem =
        |spec: Value| check(typing().view(), &json!({"spec": spec}), Duplicates::Refused).to_string();
    assert_eq!(problem(json!({"b": 1})), ".spec.b: field not declared in schema");
    assert_eq!(problem(json!({"n": "1"})), ".spec.n: expected numeric (int or float), got string");
    assert_eq!(problem(json!({"set": ["a", "a"]})), ".spec.set: duplicate entries for key [=\"a\"]");
    assert_eq!(problem(json!({"whole": {"a": 1}})), ".spec.whole: expected list, got &{map[a:1]}");
    let allowed = check(typing().view(), &json!({"spec": {"set": ["a", "a"]}}), Duplicates::Allowed);
    assert!(allowed.is_empty());
}
