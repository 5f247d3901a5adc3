//! A schema with a field for each keyword, and values that are just right and just wrong.

use serde_json::{Value, json};

use crate::formats;

/// A field of the probe: its name, its schema, and values for it.
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) values: Value,
}

fn probe(name: &'static str, schema: Value, values: Value) -> Probe {
    Probe { name, schema, values }
}

/// The schema of an object with all probes in its `spec`.
pub(crate) fn schema(probes: &[Probe]) -> Value {
    let fields: serde_json::Map<_, _> =
        probes.iter().map(|probe| (probe.name.to_owned(), probe.schema.clone())).collect();
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}})
}

/// Every probe of the `OpenAPI` part.
pub(crate) fn all() -> Vec<Probe> {
    [types(), numbers(), texts(), formats::all(), containers(), composites(), structure(), defaults()]
        .into_iter()
        .flatten()
        .collect()
}

fn types() -> Vec<Probe> {
    let any =
        json!(["x", "", 1, 1.0, 1.5, -1, true, null, [], [1], {}, {"a": 1}, 1e20, 9_007_199_254_740_993_i64]);
    let mut probes: Vec<_> = ["string", "integer", "number", "boolean"]
        .into_iter()
        .zip(["typeString", "typeInteger", "typeNumber", "typeBoolean"])
        .map(|(kind, name)| probe(name, json!({"type": kind}), any.clone()))
        .collect();
    probes.extend([
        probe("typeArray", json!({"type": "array", "items": {"type": "string"}}), any.clone()),
        probe(
            "typeObject",
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            any.clone(),
        ),
        probe("nullable", json!({"type": "string", "nullable": true}), any.clone()),
        probe("anything", json!({"x-kubernetes-preserve-unknown-fields": true}), any.clone()),
        probe("intOrString", json!({"x-kubernetes-int-or-string": true}), any.clone()),
        probe(
            "intOrStringBounded",
            json!({
                "x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}],
                "maxLength": 3, "pattern": "^[0-9]+%$",
            }),
            json!(["1%", "1234%", "x", 5, true, 1.5, {}]),
        ),
        probe(
            "int32",
            json!({"type": "integer", "format": "int32"}),
            json!([1, 2_147_483_648_i64, 1.5, "x", true, -2_147_483_648_i64]),
        ),
        probe(
            "int64",
            json!({"type": "integer", "format": "int64"}),
            json!([1, 9_223_372_036_854_775_807_i64, 1e19, 1.5, true]),
        ),
        probe("float", json!({"type": "number", "format": "float"}), json!([1, 1.5, 1e39, "x", true])),
        probe("double", json!({"type": "number", "format": "double"}), json!([1, 1.5, 1e39, "x", {}])),
    ]);
    probes
}

fn numbers() -> Vec<Probe> {
    let values = json!([0, 1, 2, 3, 4, 5, 6, 7, 10, -1, 1.5, 2.5, 1e21, 1e-7, 0.3]);
    vec![
        probe("atLeast", json!({"type": "integer", "minimum": 3}), values.clone()),
        probe("atMost", json!({"type": "integer", "maximum": 3}), values.clone()),
        probe("above", json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true}), values.clone()),
        probe("below", json!({"type": "number", "maximum": 2.5, "exclusiveMaximum": true}), values.clone()),
        probe("numberAtLeast", json!({"type": "number", "minimum": 1.5}), values.clone()),
        probe(
            "numberAbove",
            json!({"type": "number", "minimum": 1e21, "exclusiveMinimum": true}),
            values.clone(),
        ),
        probe("multiple", json!({"type": "integer", "multipleOf": 3}), values.clone()),
        probe("multipleOfTenth", json!({"type": "number", "multipleOf": 0.1}), values.clone()),
        probe("oddBound", json!({"type": "integer", "maximum": 2.5}), values.clone()),
        probe("enumNumber", json!({"type": "number", "enum": [1, 2.5]}), values),
    ]
}

fn texts() -> Vec<Probe> {
    let values = json!([
        "",
        "a",
        "ab",
        "abc",
        "abcd",
        "éé",
        "ééé",
        "日本語です",
        "a\nb",
        "a\"b",
        "<a&b>",
        "\u{1}",
        "\u{a0}x",
        "123",
        "a1"
    ]);
    vec![
        probe("maxLength", json!({"type": "string", "maxLength": 3}), values.clone()),
        probe("oneLetter", json!({"type": "string", "maxLength": 1}), values.clone()),
        probe("minLength", json!({"type": "string", "minLength": 3}), values.clone()),
        probe("pattern", json!({"type": "string", "pattern": "^[a-z]+$"}), values.clone()),
        probe("patternInside", json!({"type": "string", "pattern": "b"}), values.clone()),
        probe("patternDigits", json!({"type": "string", "pattern": r"^\d+$|^\w\d$"}), values.clone()),
        probe("lengthAndPattern", json!({"type": "string", "minLength": 2, "pattern": "^a"}), values.clone()),
        probe("enumText", json!({"type": "string", "enum": ["a", "abc", "x\"y"]}), values),
        probe(
            "enumNullable",
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!(["a", "b", null]),
        ),
    ]
}

fn containers() -> Vec<Probe> {
    let lists = json!([[], ["a"], ["a", "b"], ["a", "b", "a"], ["a", "a", "a", "b"], ["a", 1], [null]]);
    let list = |more: Value| {
        let mut schema = json!({"type": "array", "items": {"type": "string"}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let maps = json!([{}, {"a": "x"}, {"a": "x", "b": "y"}, {"a": "x", "b": "y", "c": "z"}, {"a.b/c": 1, "d": null}]);
    let keyed = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"],
        "items": {"type": "object", "required": ["k"], "properties": {
            "k": {"type": "string"}, "p": {"type": "integer", "default": 1}, "v": {"type": "string"},
        }},
    });
    vec![
        probe("minItems", list(json!({"minItems": 2})), lists.clone()),
        probe("maxItems", list(json!({"maxItems": 1})), lists.clone()),
        probe("set", list(json!({"x-kubernetes-list-type": "set"})), lists.clone()),
        probe("atomic", list(json!({"x-kubernetes-list-type": "atomic"})), lists),
        probe(
            "keyed",
            keyed,
            json!([
                [{"k": "a"}, {"k": "b"}], [{"k": "a"}, {"k": "a", "p": 1}], [{"k": "a"}, {"k": "a", "p": 2}], [{}], [null],
                [{"k": "a", "x": 1}, {"k": "a"}, {"k": "a"}], ["a"],
            ]),
        ),
        probe(
            "keyedByOne",
            json!({
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "integer"}}},
            }),
            json!([[{"k": 1}, {"k": 1}], [{"k": 1}, {"k": 2}], [{}, {}], [{"k": "a"}, {"k": 1}]]),
        ),
        probe(
            "mapOfText",
            json!({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 2}),
            maps.clone(),
        ),
        probe("mapOfAny", json!({"type": "object", "additionalProperties": true}), maps.clone()),
        probe("mapOfNone", json!({"type": "object", "additionalProperties": false}), maps.clone()),
        probe(
            "mapOfLists",
            json!({"type": "object", "additionalProperties": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}),
            json!([{"a": ["x", "x"]}, {"a": ["x"], "b.c": ["y", "y"]}]),
        ),
        probe(
            "setOfObjects",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {
                "type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            }}),
            json!([[{"a": 1}, {"a": 1}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [{"a": 1}, {"a": 2}]]),
        ),
        probe(
            "required",
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
            maps,
        ),
    ]
}

fn composites() -> Vec<Probe> {
    let ab = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    let object = |more: Value| {
        let mut schema = json!({"type": "object", "properties": ab});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let objects = json!([{}, {"a": "x"}, {"b": 1}, {"a": "x", "b": 1}, {"a": "xyz", "b": 9}, {"a": 1}]);
    let numbers = json!([0, 3, 5, 7, 9, 11, 15, 30, "x"]);
    vec![
        probe("anyOf", object(json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})), objects.clone()),
        probe("oneOf", object(json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})), objects.clone()),
        probe("allOf", object(json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]})), objects.clone()),
        probe("not", object(json!({"not": {"required": ["a", "b"]}})), objects.clone()),
        probe(
            "anyOfDeep",
            object(json!({"anyOf": [
                {"properties": {"a": {"maxLength": 2}, "b": {"minimum": 5}}, "required": ["b"]}, {"properties": {"a": {"pattern": "^y"}}},
            ]})),
            objects,
        ),
        probe(
            "anyOfNumbers",
            json!({"type": "integer", "anyOf": [{"maximum": 3}, {"minimum": 10, "multipleOf": 5}]}),
            numbers.clone(),
        ),
        probe(
            "oneOfNumbers",
            json!({"type": "integer", "oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]}),
            numbers.clone(),
        ),
        probe(
            "allOfNumbers",
            json!({"type": "integer", "allOf": [{"minimum": 5}, {"multipleOf": 3}, {"maximum": 9}]}),
            numbers.clone(),
        ),
        probe("notNumbers", json!({"type": "integer", "not": {"enum": [3, 5]}}), numbers.clone()),
        probe(
            "nested",
            json!({"type": "integer", "anyOf": [{"allOf": [{"minimum": 5}, {"not": {"multipleOf": 5}}]}, {"enum": [0]}]}),
            numbers,
        ),
        probe(
            "enumObjects",
            json!({"type": "object", "enum": [{"a": 1}, {}], "x-kubernetes-preserve-unknown-fields": true}),
            json!([{}, {"a": 1}, {"a": 2}]),
        ),
        probe(
            "enumLists",
            json!({"type": "array", "items": {"type": "integer"}, "enum": [[1, 2], []]}),
            json!([[], [1, 2], [2, 1]]),
        ),
    ]
}

fn structure() -> Vec<Probe> {
    let deep = json!({"type": "object", "properties": {"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "integer"}}}}}});
    vec![
        probe(
            "deep",
            deep,
            json!([{"a": "x", "z": 1, "l": [{"b": 1, "c": 2}, {}, null]}, {"l": [{"b": "x"}], "y": {"z": 1}}]),
        ),
        probe(
            "preserved",
            json!({
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
            }),
            json!([{"x": {"y": [1]}, "a": {"b": "x", "c": 1}}, {"a": null, "n": null}, {"a": {"b": 1}}]),
        ),
        probe(
            "embedded",
            json!({
                "type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
            }),
            json!([
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"a": "x", "b": 1}, "other": 1},
                {"kind": "Pod"}, {"apiVersion": "v1"}, {"apiVersion": "a/b/c", "kind": "x y"}, {"apiVersion": "", "kind": ""},
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b"}},
            ]),
        ),
        probe(
            "embeddedPreserved",
            json!({
                "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
            }),
            json!([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "other": {"b": 1}}, {}]),
        ),
        probe("odd-name.of/it", json!({"type": "string", "maxLength": 1}), json!(["x", "xx", null])),
    ]
}

fn defaults() -> Vec<Probe> {
    vec![
        probe("defaulted", json!({"type": "string", "default": "d"}), json!([null, "x"])),
        probe(
            "defaultedNullable",
            json!({"type": "string", "nullable": true, "default": "d"}),
            json!([null, "x"]),
        ),
        probe(
            "defaultedObject",
            json!({"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "object", "properties": {"c": {"type": "boolean", "default": true}}}}}),
            json!([null, {}, {"b": {}}, {"a": null, "b": null}]),
        ),
        probe(
            "defaultedItems",
            json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}),
            json!([[{}, {"a": 2}, {"a": null}], [null]]),
        ),
        probe(
            "defaultedItem",
            json!({"type": "array", "items": {"type": "string", "default": "d"}}),
            json!([[null, "x"]]),
        ),
        probe(
            "defaultedValues",
            json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "number", "default": 1.5}}}}),
            json!([{"x": {}, "y": {"a": 2}}, {"x": null}]),
        ),
        probe(
            "defaultedValue",
            json!({"type": "object", "additionalProperties": {"type": "string", "default": "d"}}),
            json!([{"x": null, "y": "z"}]),
        ),
    ]
}
