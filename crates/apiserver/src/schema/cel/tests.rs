//! Rules, where they are evaluated, and what they are told of the past.
#![allow(clippy::needless_pass_by_value)] // cases are written with `json!`, which gives values

use serde_json::{Value, json};

use super::super::Schema;

fn compile(spec: Value) -> Schema {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    Schema::compile(&schema).unwrap_or_else(|errors| panic!("{}", super::super::aggregate(&errors)))
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "e/v1", "kind": "E", "metadata": {"name": "e", "labels": {"a": "b"}}, "spec": spec})
}

fn errors(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<String> {
    let old = old.map(object);
    schema.validate(&object(new), old.as_ref()).iter().map(ToString::to_string).collect()
}

/// Whether a rule on `spec`, which has fields of every kind, holds.
fn holds(rule: &str, spec: &Value) -> Vec<String> {
    let text = json!({"type": "string"});
    let schema = compile(json!({
        "type": "object",
        "properties": {
            "text": text, "number": {"type": "number"}, "count": {"type": "integer"}, "flag": {"type": "boolean"},
            "time": {"type": "string", "format": "date-time"}, "length": {"type": "string", "format": "duration"},
            "bytes": {"type": "string", "format": "byte"}, "port": {"x-kubernetes-int-or-string": true},
            "list": {"type": "array", "items": text}, "map": {"type": "object", "additionalProperties": text},
            "a-b": text, "namespace": text,
        },
        "x-kubernetes-validations": [{"rule": rule}],
    }));
    errors(&schema, spec, None)
}

#[test]
fn rules_see_values_of_every_type() {
    let spec = json!({
        "text": "x", "number": 2, "count": 3, "flag": true, "time": "2024-01-01T00:00:00Z", "length": "90s",
        "bytes": "YWI=", "port": 80, "list": ["a", "b"], "map": {"k.1": "v"}, "a-b": "1", "namespace": "n",
    });
    for rule in [
        "self.text == 'x'",
        "self.number == 2.0 && type(self.number) == double",
        "self.count > 2 && type(self.count) == int",
        "self.flag",
        "self.time < timestamp('2024-01-02T00:00:00Z')",
        "self.length > duration('1m')",
        "self.bytes.size() == 2",
        "type(self.port) == int ? self.port < 100 : self.port == 'http'",
        "self.list.all(x, x.size() == 1) && 'a' in self.list",
        "self.list.exists_one(x, x == 'a') && self.list.map(x, x + x) == ['aa', 'bb']",
        "self.map['k.1'] == 'v' && self.map.all(k, k.startsWith('k'))",
        "self.a__dash__b == '1' && self.__namespace__ == 'n'",
        "has(self.text) && !has(self.map.k)",
        "quantity('1Gi').isGreaterThan(quantity('1Mi'))",
        "isQuantity('Ki') && !isQuantity('Pi') && !isQuantity('1e')",
        "self.?text.orValue('') == 'x' && self.map.?z.orValue('none') == 'none'",
        "string(self.port) == '80'",
        "[1, 5, 2].max() == 5 && [1, 2].sum() == 3",
    ] {
        assert_eq!(holds(rule, &spec), [""; 0], "{rule}");
    }
}

#[test]
fn errors_that_do_not_matter_are_passed_over() {
    let spec = json!({"count": 3, "list": ["a", "b"], "map": {"b": "1"}});
    for rule in [
        "self.text == '' || self.count == 3",
        "self.count == 3 || self.text == ''",
        "!(self.text == '' && self.count == 4)",
        "self.list.exists(x, self.map[x] == '1')",
        "!self.list.all(x, self.map[x] == '2')",
        "self.list.exists(x, self.list.exists(y, self.map[y] == '1') && x == 'b')",
    ] {
        assert_eq!(holds(rule, &spec), [""; 0], "{rule}");
    }
    let error = &holds("self.list.exists(x, self.map[x] == '9')", &spec)[0];
    assert!(error.contains("no such key: a evaluating rule"), "{error}");
}

#[test]
fn absent_and_null_fields_are_absent() {
    assert_eq!(holds("!has(self.text)", &json!({})), [""; 0]);
    assert_eq!(
        holds("self.text == ''", &json!({})),
        [r#"spec: Invalid value: "object": no such key: text evaluating rule: self.text == ''"#]
    );
    let schema = compile(json!({
        "type": "object", "properties": {"a": {"type": "string", "nullable": true}},
        "x-kubernetes-validations": [{"rule": "!has(self.a)"}],
    }));
    assert_eq!(errors(&schema, &json!({"a": null}), None), [""; 0]);
}

#[test]
fn a_refusal_has_the_message_the_reason_and_the_field_of_its_rule() {
    let with = |rule: Value| {
        let schema = compile(json!({
            "type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [rule],
        }));
        errors(&schema, &json!({"a": 5}), None)
    };
    assert_eq!(with(json!({"rule": "self.a < 5"})), ["spec: Invalid value: failed rule: self.a < 5"]);
    assert_eq!(with(json!({"rule": "self.a < 5", "message": " no "})), ["spec: Invalid value: no"]);
    assert_eq!(
        with(json!({"rule": "self.a < 5", "messageExpression": "'got ' + string(self.a)"})),
        ["spec: Invalid value: got 5"]
    );
    assert_eq!(
        with(json!({"rule": "self.a < 5", "message": "m", "messageExpression": "''"})),
        ["spec: Invalid value: m"]
    );
    assert_eq!(
        with(
            json!({"rule": "self.a < 5", "message": "m", "reason": "FieldValueForbidden", "fieldPath": ".a"})
        ),
        ["spec.a: Forbidden: m"]
    );
    assert_eq!(
        with(json!({"rule": "self.a < 5", "message": "m", "reason": "FieldValueRequired"})),
        ["spec: Required value: m"]
    );
}

#[test]
fn a_root_rule_sees_names_and_nothing_else_of_metadata() {
    let schema = Schema::compile(&json!({
        "type": "object", "properties": {"spec": {"type": "object"}},
        "x-kubernetes-validations": [
            {"rule": "self.metadata.name == 'e' && self.kind == 'E'"}, {"rule": "!has(self.metadata.generateName)"},
        ],
    }))
    .unwrap();
    assert_eq!(errors(&schema, &json!({}), None), [""; 0]);
}

#[test]
fn rules_about_changes_run_only_where_there_was_something() {
    let schema = compile(json!({
        "type": "object",
        "properties": {"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}},
    }));
    assert_eq!(errors(&schema, &json!({"a": "x"}), None), [""; 0]);
    assert_eq!(errors(&schema, &json!({"a": "x"}), Some(&json!({}))), [""; 0]);
    assert_eq!(
        errors(&schema, &json!({"a": "x"}), Some(&json!({"a": "y"}))),
        [r#"spec.a: Invalid value: "x": failed rule: self == oldSelf"#]
    );
}

#[test]
fn optional_old_self_runs_always() {
    let schema = compile(json!({
        "type": "object",
        "properties": {"a": {"type": "string", "x-kubernetes-validations": [
            {"rule": "oldSelf.hasValue() || self == 'first'", "optionalOldSelf": true},
            {"rule": "!oldSelf.hasValue() || oldSelf.value() != self", "optionalOldSelf": true},
        ]}},
    }));
    assert_eq!(errors(&schema, &json!({"a": "first"}), None), [""; 0]);
    assert_eq!(errors(&schema, &json!({"a": "x"}), None).len(), 1);
    assert_eq!(errors(&schema, &json!({"a": "x"}), Some(&json!({"a": "y"}))), [""; 0]);
    assert_eq!(errors(&schema, &json!({"a": "x"}), Some(&json!({"a": "x"}))).len(), 1);
}

fn keyed(rule_on_items: &str, rule_on_list: &str) -> Schema {
    compile(json!({"type": "object", "properties": {"l": {
        "type": "array", "maxItems": 9, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {
            "type": "object", "required": ["k"],
            "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": rule_on_items}],
        },
        "x-kubernetes-validations": [{"rule": rule_on_list}],
    }}}))
}

#[test]
fn items_find_their_past_by_key_and_not_by_place() {
    let schema = keyed("self.v >= oldSelf.v", "self == oldSelf");
    let old = json!({"l": [{"k": "a", "v": 1}, {"k": "b", "v": 9}]});
    let reordered = json!({"l": [{"k": "b", "v": 9}, {"k": "a", "v": 1}]});
    assert_eq!(errors(&schema, &reordered, Some(&old)), [""; 0]);
    let schema = keyed("self.v >= oldSelf.v", "true");
    let shrunk = json!({"l": [{"k": "new", "v": 0}, {"k": "b", "v": 8}]});
    assert_eq!(
        errors(&schema, &shrunk, Some(&old)),
        ["spec.l[1]: Invalid value: failed rule: self.v >= oldSelf.v"]
    );
}

#[test]
fn what_did_not_change_is_forgiven_unless_the_rule_is_about_changes() {
    let schema = compile(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x'"}]},
            "b": {"type": "string"},
        },
    }));
    assert_eq!(errors(&schema, &json!({"a": "y", "b": "1"}), Some(&json!({"a": "y"}))), [""; 0]);
    assert_eq!(errors(&schema, &json!({"a": "z"}), Some(&json!({"a": "y"}))).len(), 1);
}

#[test]
fn a_rule_that_runs_too_long_ends() {
    let schema = compile(json!({
        "type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))"}],
    }));
    let numbers: Vec<_> = (0..300).collect();
    let errors = errors(&schema, &json!({"l": numbers}), None);
    assert!(errors[0].contains("call cost exceeds limit"), "{errors:?}");
}

#[test]
fn errors_of_the_schema_keep_rules_from_running() {
    let schema = compile(json!({
        "type": "object", "required": ["a"], "properties": {"a": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.a == 'x'"}],
    }));
    assert_eq!(
        errors(&schema, &json!({}), None),
        [
            "spec.a: Required value",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; \
             correct the existing errors to complete validation"
        ]
    );
}
