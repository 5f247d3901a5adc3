//! Each keyword, with the words of the server.
#![allow(clippy::needless_pass_by_value)] // cases are written with `json!`, which gives values

use serde_json::{Value, json};

use super::super::node::Node;
use super::super::path::Path;

fn errors(schema: &Value, value: &Value, old: Option<&Value>) -> Vec<String> {
    let node = Node::read(schema, &Path::root()).unwrap();
    super::validate(value, &node, old).iter().map(ToString::to_string).collect()
}

/// What is wrong with a value of field `a`.
fn of(schema: Value, value: Value) -> Vec<String> {
    errors(&json!({"type": "object", "properties": {"a": schema}}), &json!({"a": value}), None)
}

#[test]
fn types_are_named() {
    let wrong = |wanted: &str, got: &str| {
        [format!(r#"a: Invalid value: "{got}": a in body must be of type {wanted}: "{got}""#)]
    };
    assert_eq!(of(json!({"type": "string"}), json!(1)), wrong("string", "integer"));
    assert_eq!(of(json!({"type": "object"}), json!([])), wrong("object", "array"));
    assert_eq!(of(json!({"type": "boolean"}), json!(1.5)), wrong("boolean", "number"));
    assert_eq!(of(json!({"type": "string"}), Value::Null), wrong("string", "null"));
    assert_eq!(
        of(json!({"x-kubernetes-int-or-string": true}), json!(true)),
        wrong("integer,string", "boolean")
    );
    assert_eq!(of(json!({"type": "string", "nullable": true}), Value::Null), [""; 0]);
    assert_eq!(of(json!({"type": "integer"}), json!(1.0)), [""; 0]);
    assert_eq!(of(json!({"type": "number"}), json!(1)), [""; 0]);
}

#[test]
fn numbers_have_bounds() {
    let schema =
        json!({"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": true, "multipleOf": 2});
    assert_eq!(of(schema.clone(), json!(4)), [""; 0]);
    assert_eq!(
        of(schema.clone(), json!(0)),
        ["a: Invalid value: 0: a in body should be greater than or equal to 1"]
    );
    assert_eq!(
        of(schema, json!(9)),
        [
            "a: Invalid value: 9: a in body should be a multiple of 2",
            "a: Invalid value: 9: a in body should be less than 9"
        ]
    );
    assert_eq!(
        of(json!({"type": "integer", "format": "int32"}), json!(3_000_000_000_u32)),
        [r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a"#]
    );
}

#[test]
fn texts_have_lengths_in_characters_patterns_and_formats() {
    assert_eq!(of(json!({"type": "string", "maxLength": 2}), json!("éé")), [""; 0]);
    assert_eq!(
        of(json!({"type": "string", "maxLength": 1}), json!("éé")),
        ["a: Too long: may not be more than 1 byte"]
    );
    assert_eq!(
        of(json!({"type": "string", "minLength": 2}), json!("")),
        [r#"a: Invalid value: "": a in body should be at least 2 chars long"#]
    );
    assert_eq!(
        of(json!({"type": "string", "pattern": "^b"}), json!("a")),
        [r#"a: Invalid value: "a": a in body should match '^b'"#]
    );
    assert_eq!(
        of(json!({"type": "string", "format": "date-time"}), json!("x")),
        [r#"a: Invalid value: "x": a in body must be of type date-time: "x""#]
    );
    assert_eq!(of(json!({"type": "string", "format": "unknown"}), json!("x")), [""; 0]);
}

#[test]
fn only_allowed_values_are() {
    let schema = json!({"type": "string", "enum": ["x", "y"]});
    assert_eq!(of(schema.clone(), json!("x")), [""; 0]);
    assert_eq!(of(schema, json!("z")), [r#"a: Unsupported value: "z": supported values: "x", "y""#]);
    assert_eq!(of(json!({"enum": [1, {"b": 1}]}), json!({"b": 1})), [""; 0]);
}

#[test]
fn objects_and_lists_have_sizes_and_required_fields() {
    let schema = json!({
        "type": "object", "required": ["b"], "minProperties": 1, "additionalProperties": {"type": "string"},
    });
    assert_eq!(
        of(schema, json!({})),
        ["a: Invalid value: 0: a in body should have at least 1 properties", "a.b: Required value"]
    );
    assert_eq!(
        of(json!({"type": "object", "maxProperties": 1}), json!({"b": 1, "c": 2})),
        ["a: Too many: 2: must have at most 1 item"]
    );
    let list = json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2});
    assert_eq!(
        of(list.clone(), json!(["b"])),
        ["a: Invalid value: 1: a in body should have at least 2 items"]
    );
    assert_eq!(of(list.clone(), json!(["b", "c", "d"])), ["a: Too many: 3: must have at most 2 items"]);
    assert_eq!(
        of(list, json!(["b", 1])),
        [r#"a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer""#]
    );
    assert_eq!(
        of(json!({"type": "object", "additionalProperties": false}), json!({"b": 1})),
        [r#"a: Invalid value: "b": a.b in body is a forbidden property"#]
    );
}

#[test]
fn the_nearest_of_several_schemas_is_explained() {
    let any = json!({"type": "object", "anyOf": [{"required": ["b"]}, {"required": ["c"]}]});
    assert_eq!(
        of(any, json!({})),
        [r#"<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)"#, "a.b: Required value"]
    );
    let one = json!({"type": "string", "oneOf": [{"minLength": 1}, {"maxLength": 3}]});
    assert_eq!(of(one.clone(), json!("abcd")), [""; 0]);
    assert_eq!(
        of(one, json!("ab")),
        [
            r#"<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives"#
        ]
    );
    let all = json!({"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 9}]});
    assert_eq!(
        of(all, json!(3)),
        [
            "a: Invalid value: 3: a in body should be greater than or equal to 5",
            r#"<nil>: Invalid value: "": "a" must validate all the schemas (allOf)"#
        ]
    );
    assert_eq!(
        of(json!({"type": "string", "not": {"enum": ["x"]}}), json!("x")),
        [r#"<nil>: Invalid value: "": "a" must not validate the schema (not)"#]
    );
}

#[test]
fn what_did_not_change_may_stay_wrong() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1}, "b": {"type": "string"},
        "l": {"type": "array", "items": {"type": "string", "maxLength": 1}},
        "m": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {
                "k": {"type": "string"}, "v": {"type": "string", "maxLength": 1},
            }},
        },
    }});
    let old = json!({"a": "xx", "l": ["xx"], "m": [{"k": "1", "v": "xx"}, {"k": "2"}]});
    let new = json!({"a": "xx", "b": "y", "l": ["xx"], "m": [{"k": "2"}, {"k": "1", "v": "xx"}]});
    assert_eq!(errors(&schema, &new, Some(&old)), [""; 0]);
    let changed = json!({"a": "yy", "l": ["xx", "y"], "m": [{"k": "3", "v": "xx"}]});
    assert_eq!(
        errors(&schema, &changed, Some(&old)),
        ["a", "l[0]", "m[0].v"].map(|field| format!("{field}: Too long: may not be more than 1 byte"))
    );
}
