//! A schema from beginning to end.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

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

/// Values of every shape, with the names that schemas here use.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]|spec|metadata|kind", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Schemas that are often sound.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "maxLength": 3, "default": "x"})),
        Just(json!({"type": "integer", "minimum": 1, "multipleOf": 2, "nullable": true})),
        Just(json!({"type": "number", "x-kubernetes-validations": [{"rule": "self > 1.0"}]})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
        Just(json!({"type": "string", "enum": ["a", "b"], "format": "email"})),
        any_value(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let fields = prop::collection::btree_map("[a-d]", inner.clone(), 0..4);
        prop_oneof![
            fields.clone().prop_map(|fields| json!({"type": "object", "properties": fields, "default": {}})),
            fields.prop_map(|fields| {
                let rules = [json!({"rule": "has(self.a) || self == oldSelf", "optionalOldSelf": false})];
                json!({"type": "object", "properties": fields, "required": ["a"], "x-kubernetes-validations": rules})
            }),
            inner.clone().prop_map(|item| json!({"type": "array", "items": item, "x-kubernetes-list-type": "set"})),
            inner.clone().prop_map(|item| json!({"type": "object", "additionalProperties": item, "maxProperties": 2})),
            inner.prop_map(|other| json!({"type": "object", "anyOf": [other, {"required": ["b"]}]})),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_given_is_answered(schema in any_schema(), new in any_value(), old in any_value()) {
        let schema = json!({"type": "object", "properties": {"spec": schema}});
        let Ok(schema) = Schema::compile(&schema) else { return Ok(()) };
        let mut object = json!({"metadata": {"name": "x"}, "spec": new});
        schema.default(&mut object);
        schema.prune(&mut object);
        let mut again = object.clone();
        schema.default(&mut again);
        prop_assert_eq!(&again, &object, "defaults are filled in once");
        prop_assert!(schema.prune(&mut again).is_empty(), "what was pruned is gone");
        let old = json!({"metadata": {"name": "x"}, "spec": old});
        schema.validate(&object, Some(&old));
        let errors = schema.validate(&object, None);
        let unchanged = schema.validate(&object, Some(&object));
        prop_assert!(unchanged.len() <= errors.len() + 1, "{errors:?} {unchanged:?}");
    }

    #[test]
    fn rules_of_any_text_are_read_or_refused(rule in "[a-z0-9.?!&|()\\[\\]{}'\" :,+<=>*/%-]{0,40}") {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "string", "x-kubernetes-validations": [{"rule": rule}]},
        }});
        if let Ok(schema) = Schema::compile(&schema) {
            schema.validate(&json!({"spec": "x"}), None);
        }
    }
}
