//! CRDs that are refused: what is wrong with their schemas.

use serde_json::{Value, json};

use crate::server::{Differences, Refusal, Server, definition, refusal};
use muster_apiserver::schema::Schema;

/// Schemas of a field that may be refused.
fn fields() -> Vec<Value> {
    let text = json!({"type": "string"});
    let keyed = |items: Value, keys: Value| {
        json!({
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items,
        })
    };
    let item =
        json!({"type": "object", "required": ["k"], "properties": {"k": text, "o": {"type": "object"}}});
    vec![
        json!({}),
        json!({"type": "quux"}),
        json!({"type": "null"}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
        json!({"properties": {"b": {}}}),
        json!({"type": "array", "items": [text]}),
        json!({"type": "object", "properties": {"b": text}, "additionalProperties": text}),
        json!({"type": "object", "properties": {"b": text}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"b": text}, "additionalProperties": true}),
        json!({"type": "string", "$ref": "#/a"}),
        json!({"type": "string", "id": "a"}),
        json!({"type": "object", "patternProperties": {"a": text}}),
        json!({"type": "object", "definitions": {"a": text}}),
        json!({"type": "object", "dependencies": {"a": ["b"]}}),
        json!({"type": "array", "items": text, "additionalItems": false}),
        json!({"type": "array", "items": text, "uniqueItems": true}),
        json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        json!({"x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "string", "x-kubernetes-embedded-resource": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "additionalProperties": text, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"kind": {"type": "integer"}, "metadata": {"type": "string"}, "apiVersion": {"type": "object"}}}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}),
        json!({"type": "string", "anyOf": [{"type": "string"}]}),
        json!({"type": "string", "oneOf": [{"default": "x", "title": "t", "description": "d", "nullable": true}]}),
        json!({"type": "object", "allOf": [{"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic", "additionalProperties": text}]}),
        json!({"type": "object", "not": {"properties": {"metadata": {"maxProperties": 1}, "b": {"minimum": 1}}}}),
        json!({"type": "array", "items": text, "allOf": [{"items": {"type": "string"}, "x-kubernetes-list-type": "set"}]}),
        json!({"type": "string", "anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "a"}]}),
        json!({"type": "string", "pattern": "("}),
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        json!({"x-kubernetes-list-type": "set", "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "array", "items": text, "x-kubernetes-list-type": "heap"}),
        json!({"type": "array", "items": text, "x-kubernetes-list-map-keys": ["k"]}),
        json!({"type": "array", "items": text, "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["k"]}),
        json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "array", "items": text, "x-kubernetes-list-type": "set"}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "string", "nullable": true}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": text, "x-kubernetes-list-type": "map"}),
        json!({"type": "array", "x-kubernetes-list-type": "map"}),
        keyed(text.clone(), json!(["k"])),
        keyed(item.clone(), json!(["k"])),
        keyed(item.clone(), json!(["z"])),
        keyed(item.clone(), json!(["k", "k"])),
        keyed(item, json!(["o"])),
        keyed(json!({"type": "object", "properties": {"k": text}}), json!(["k"])),
        keyed(
            json!({"type": "object", "nullable": true, "properties": {"k": {"type": "string", "nullable": true, "default": "x"}}}),
            json!(["k"]),
        ),
        json!({"type": "object", "x-kubernetes-map-type": "heap"}),
        json!({"type": "string", "x-kubernetes-map-type": "atomic"}),
        json!({"type": "string", "default": "x"}),
        json!({"type": "string", "default": 1}),
        json!({"type": "integer", "default": 9, "maximum": 5}),
        json!({"type": "object", "default": {"b": 1}}),
        json!({"type": "object", "properties": {"b": {"type": "integer"}}, "default": {"b": "x"}}),
        json!({"type": "object", "default": {"b": 1}, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "additionalProperties": {"type": "string", "default": "x"}}),
        json!({"type": "array", "items": {"type": "string", "default": 1}}),
        json!({"type": "string", "nullable": true, "default": null}),
        json!({"type": "string", "default": "x", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == 'y'"}]}),
        json!({"type": "object", "properties": {"b": {"type": "object", "required": ["c"], "properties": {"c": text}, "default": {}}}}),
    ]
}

/// Rules that may be refused, on texts.
fn rules() -> Vec<Value> {
    vec![
        json!({}),
        json!({"rule": ""}),
        json!({"rule": " "}),
        json!({"rule": "true", "message": " "}),
        json!({"rule": "true", "message": "a\nb"}),
        json!({"rule": "true &&\ntrue"}),
        json!({"rule": "true &&\ntrue", "message": "m"}),
        json!({"rule": "true", "messageExpression": " "}),
        json!({"rule": "true", "reason": "Quux"}),
        json!({"rule": "true", "fieldPath": " "}),
        json!({"rule": "true", "fieldPath": ".a\n"}),
        json!({"rule": "true", "fieldPath": ".z"}),
        json!({"rule": "true", "fieldPath": "z"}),
        json!({"rule": "true", "optionalOldSelf": true}),
        json!({"rule": "self == oldSelf"}),
        json!({"rule": "self =="}),
        json!({"rule": "true", "messageExpression": "("}),
        json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true}),
        json!({"rule": "self.z == 1"}),
        json!({"rule": "other"}),
        json!({"rule": "self"}),
        json!({"rule": "1"}),
        json!({"rule": "math.greatest(1, 2) == 2"}),
        json!({"rule": "cel.bind(x, 1, x == 1)"}),
        json!({"rule": "nothing(self)"}),
        json!({"rule": "self.all(x, true)", "message": "m"}),
        json!({"rule": "true", "messageExpression": "1"}),
        json!({"rule": "true", "messageExpression": "self.z"}),
        json!({"rule": "self == 'a' && self.size() < 3 && self.matches('^a') && type(self) == string"}),
    ]
}

/// Whole schemas that may be refused.
fn wholes() -> Vec<Value> {
    let with = |name: &str, schema: Value| json!({"type": "object", "properties": {name: schema}});
    vec![
        json!({"type": "object"}),
        json!({}),
        json!({"type": "string"}),
        json!({"type": "object", "nullable": true}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "$schema": "x"}),
        with("metadata", json!({"type": "object"})),
        with("metadata", json!({"type": "string"})),
        with(
            "metadata",
            json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}),
        ),
        with("metadata", json!({"type": "object", "properties": {"labels": {"type": "object"}}})),
        with("metadata", json!({"type": "object", "description": "d"})),
        with("metadata", json!({"type": "object", "default": {}})),
        with("kind", json!({"type": "integer"})),
        with("kind", json!({"type": "string", "default": "x"})),
        json!({"type": "object", "not": {"properties": {"b": {"minimum": 1}}}}),
        json!({"type": "object", "allOf": [{"properties": {"b": {"minimum": 1}, "metadata": {}}}], "properties": {"b": {"type": "integer"}}}),
        json!({"type": "object", "properties": {"spec": {"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "true"}]}}}),
    ]
}

/// What compilers say differs; that they say it, and of what, does not.
fn without_texts_of_compilers(refusal: Refusal) -> Refusal {
    let Refusal::Causes(causes) = refusal else { return refusal };
    let shorten = |message: String| {
        let known = ["compilation failed", "must be a valid regular expression"];
        known.iter().find(|text| message.contains(**text)).map_or(message, |text| (*text).to_owned())
    };
    Refusal::Causes(
        causes.into_iter().map(|(reason, field, message)| (reason, field, shorten(message))).collect(),
    )
}

fn compare(server: &Server, schemas: &[Value], at_least: usize) {
    let mut differences = Differences::default();
    for schema in schemas {
        let accepted = || json!({});
        let ours = Schema::compile(schema).map(|_| accepted()).map_err(|errors| refusal(&errors));
        let theirs = server.try_definition(&definition("Refused", schema)).map(|_| accepted());
        let (ours, theirs) =
            (ours.map_err(without_texts_of_compilers), theirs.map_err(without_texts_of_compilers));
        differences.compare(schema, &ours, &theirs);
    }
    differences.assert_none(at_least);
}

#[test]
fn real_schemas_are_refused_for_the_same_reasons() {
    let server = Server::new();
    let mut schemas: Vec<_> =
        fields().into_iter().map(|field| json!({"type": "object", "properties": {"a": field}})).collect();
    schemas.extend(wholes());
    compare(&server, &schemas, 75);
}

#[test]
fn real_rules_are_refused_for_the_same_reasons() {
    let server = Server::new();
    let text = |rule: &Value| json!({"type": "string", "maxLength": 9, "x-kubernetes-validations": [rule]});
    let field = |rule: &Value| json!({"type": "object", "properties": {"a": text(rule)}});
    let item = |rule: &Value| json!({"type": "object", "properties": {"a": {"type": "array", "maxItems": 9, "items": text(rule)}}});
    let schemas: Vec<_> = rules().iter().flat_map(|rule| [field(rule), item(rule)]).collect();
    compare(&server, &schemas, 36);
}
