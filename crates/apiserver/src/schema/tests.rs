//! A schema from beginning to end.

use serde_json::{Value, json};

use super::Schema;

#[test]
fn schemas_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Schema>();
}

#[test]
fn an_object_is_defaulted_pruned_and_validated() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {"spec": {
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "default": 3, "maximum": 5}},
    }}}))
    .unwrap();
    let mut object = json!({"metadata": {"name": "x"}, "spec": {"a": "y", "c": 1}});
    schema.default(&mut object);
    assert_eq!(schema.prune(&mut object), ["spec.c"]);
    assert_eq!(object["spec"], json!({"a": "y", "b": 3}));
    assert!(schema.validate(&object, None).is_empty());
    object["spec"]["b"] = Value::from(6);
    assert_eq!(schema.validate(&object, None).len(), 1);
}

#[test]
fn duplicates_are_forgiven_if_there_were_some() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {
        "l": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    }}))
    .unwrap();
    let twice = json!({"l": ["a", "a"]});
    assert_eq!(schema.validate(&twice, None).len(), 1);
    assert_eq!(schema.validate(&twice, Some(&json!({"l": ["a"]}))).len(), 1);
    assert!(schema.validate(&twice, Some(&twice)).is_empty());
}
