//! Schemas that the server refuses, in its words.
#![allow(clippy::needless_pass_by_value)] // cases are written with `json!`, which gives values

use serde_json::{Value, json};

use super::super::Schema;

/// What is wrong with a schema whose field `a` is given, without the path to the schema.
fn of(a: Value) -> Vec<String> {
    whole(json!({"type": "object", "properties": {"a": a}}))
}

fn whole(schema: Value) -> Vec<String> {
    match Schema::compile(&schema) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| error.to_string().trim_start_matches("spec.validation.openAPIV3Schema.").to_owned())
            .collect(),
    }
}

#[test]
fn every_value_has_a_type() {
    assert_eq!(
        of(json!({"items": {}, "properties": {"b": {}}})),
        [
            "properties[a].items.type: Required value: must not be empty for specified array items",
            "properties[a].properties[b].type: Required value: must not be empty for specified object fields",
            "properties[a].type: Required value: must not be empty for specified object fields",
        ]
    );
    assert_eq!(of(json!({"x-kubernetes-preserve-unknown-fields": true})), [""; 0]);
    assert_eq!(of(json!({"x-kubernetes-int-or-string": true})), [""; 0]);
    assert_eq!(of(json!({"type": "array"})), ["properties[a].items: Required value: must be specified"]);
    assert_eq!(
        whole(json!({"type": "string"})),
        [r#"type: Invalid value: "string": must be object at the root"#]
    );
}

#[test]
fn nested_schemas_bound_and_do_not_describe() {
    assert_eq!(
        of(json!({"type": "string", "anyOf": [{"type": "string", "default": "x"}]})),
        [
            "properties[a].anyOf[0].default: Forbidden: must be undefined to be structural",
            "properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ]
    );
    let pair = json!([{"type": "integer"}, {"type": "string"}]);
    assert_eq!(of(json!({"x-kubernetes-int-or-string": true, "anyOf": pair})), [""; 0]);
    assert_eq!(
        of(json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": pair}, {"maxLength": 3}]})),
        [""; 0]
    );
    assert_eq!(
        whole(json!({"type": "object", "not": {"properties": {"b": {"minimum": 1}}}})),
        ["properties[b]: Required value: because it is defined in \
          spec.validation.openAPIV3Schema.not.properties[b]"]
    );
}

#[test]
fn keywords_that_no_crd_may_use_are_refused() {
    let forbidden = |name: &str| [format!("properties[a].{name}: Forbidden: {name} is not supported")];
    assert_eq!(of(json!({"type": "string", "$ref": "#/x"})), forbidden("$ref"));
    assert_eq!(of(json!({"type": "string", "id": "x"})), forbidden("id"));
    assert_eq!(
        of(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
        [
            "properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity \
          becomes quadratic"
        ]
    );
    assert_eq!(
        of(json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false})),
        [
            "properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"
        ]
    );
    assert_eq!(
        whole(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        ["additionalProperties: Forbidden: must not be used at the root"]
    );
}

#[test]
fn lists_say_consistently_what_they_are() {
    let list = |more: Value| {
        let mut schema =
            json!({"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of(schema)
    };
    assert_eq!(
        list(json!({"x-kubernetes-list-type": "map"})),
        [
            "properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"
        ]
    );
    assert_eq!(
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})),
        ["properties[a].items.properties[k].default: Required value: this property is in \
          x-kubernetes-list-map-keys, so it must have a default or be a required property"]
    );
    assert_eq!(
        list(json!({"x-kubernetes-list-type": "set"})),
        [
            "properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with \
          x-kubernetes-list-type=set"
        ]
    );
    assert_eq!(
        list(json!({"x-kubernetes-list-type": "heap"})),
        [
            r#"properties[a].x-kubernetes-list-type: Unsupported value: "heap": supported values: "atomic", "set", "map""#
        ]
    );
}

#[test]
fn defaults_are_valid_and_pruned() {
    assert_eq!(of(json!({"type": "string", "default": "x"})), [""; 0]);
    assert_eq!(
        of(json!({"type": "string", "default": 1})),
        [r#"properties[a].default: Invalid value: "integer":  in body must be of type string: "integer""#]
    );
    assert_eq!(
        of(json!({"type": "object", "properties": {"b": {"type": "string"}}, "default": {"c": 1}})),
        [r#"properties[a].default: Invalid value: {"c":1}: must not have unknown fields"#]
    );
    let rule = json!([{"rule": "self != 'x'"}]);
    assert_eq!(
        of(json!({"type": "string", "default": "x", "x-kubernetes-validations": rule})),
        [r#"properties[a].default: Invalid value: "x": failed rule: self != 'x'"#]
    );
}

#[test]
fn metadata_may_say_more_of_names_only() {
    let metadata = |schema: Value| whole(json!({"type": "object", "properties": {"metadata": schema}}));
    let name = json!({"type": "string", "maxLength": 3});
    assert_eq!(metadata(json!({"type": "object", "properties": {"name": name}})), [""; 0]);
    assert_eq!(
        metadata(json!({"type": "object", "properties": {"labels": {"type": "object"}}})),
        [
            "properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata \
          is implicitly specified"
        ]
    );
}

#[test]
fn rules_are_checked() {
    let rule = |rule: Value| of(json!({"type": "string", "x-kubernetes-validations": [rule]}));
    let at = "properties[a].x-kubernetes-validations[0]";
    assert_eq!(rule(json!({"rule": " "})), [format!("{at}.rule: Required value: rule is not specified")]);
    assert_eq!(
        rule(json!({"rule": "true", "optionalOldSelf": true})),
        [format!("{at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule")]
    );
    assert!(rule(json!({"rule": "self =="}))[0].contains("compilation failed: ERROR: <input>:1:"));
    assert!(
        rule(json!({"rule": "true", "messageExpression": "("}))[0].contains("messageExpression compilation")
    );
    let items = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]});
    assert_eq!(
        of(json!({"type": "array", "items": items})),
        [
            "properties[a].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf cannot be \
          used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[a]"
        ]
    );
}

#[test]
fn rules_use_only_what_is_declared() {
    let on_object = |rule: &str| {
        let l =
            json!({"type": "array", "items": {"type": "object", "properties": {"c": {"type": "boolean"}}}});
        of(json!({
            "type": "object", "x-kubernetes-validations": [{"rule": rule}],
            "properties": {"b-b": {"type": "string"}, "l": l, "p": {"x-kubernetes-preserve-unknown-fields": true}},
        }))
    };
    for rule in
        ["self.b__dash__b == 'x'", "self.l.all(i, i.c)", "self.l[0].c", "has(self.l) && type(self.l) == list"]
    {
        assert_eq!(on_object(rule), [""; 0], "{rule}");
    }
    for (rule, error) in [
        ("self.z", "1:5: undefined field 'z'"),
        ("self.p == self.p", "undefined field 'p'"),
        ("self.l.all(i, i.d)", "1:16: undefined field 'd'"),
        ("self.l[0].d", "undefined field 'd'"),
        ("other == 1", "1:1: undeclared reference to 'other' (in container '')"),
        ("math.greatest(1, 2) == 2", "undeclared reference to 'greatest' (in container '')"),
        ("self.metadata.name == ''", "undefined field 'metadata'"),
        ("self.b__dash__b", "cel expression must evaluate to a bool"),
        ("1", "cel expression must evaluate to a bool"),
    ] {
        assert!(on_object(rule).iter().any(|found| found.contains(error)), "{rule}: {:?}", on_object(rule));
    }
}

#[test]
fn a_pattern_must_be_one() {
    let errors = of(json!({"type": "string", "pattern": "("}));
    assert!(
        errors[0].starts_with(r#"properties[a].pattern: Invalid value: "(": must be a valid regular"#),
        "{errors:?}"
    );
}

#[test]
fn a_status_subresource_wants_a_simple_root() {
    let check = |schema: Value| Schema::check_root_for_status(&super::Path::new("s"), &schema);
    assert_eq!(check(json!({"type": "object", "properties": {}, "x-kubernetes-validations": []})), None);
    assert!(check(json!({"type": "object", "anyOf": [{"required": ["a"]}]})).is_some());
    assert!(check(json!({"type": "string"})).is_some());
}
