//! Updates: rules about changes, and what is forgiven because it did not change.

use serde_json::{Value, json};

use crate::server::{Differences, Server, compiled, definition, object_of, our_answer, path_of, refusal};

/// Compares every change from each of the objects, which are there, to each of the specs.
fn compare_changes(server: &Server, definition: &Value, olds: &[Value], specs: &[Value]) -> Differences {
    let (schema, path) = (compiled(definition), path_of(definition));
    let mut differences = Differences::default();
    for old in olds {
        for spec in specs {
            let mut object = old.clone();
            object["spec"] = spec.clone();
            let what = json!({"from": old["spec"], "to": spec});
            let ours = our_answer(&schema, &object, Some(old));
            differences.compare(&what, &ours, &server.replace(&path, &object, true));
        }
    }
    differences
}

/// Creates an object for each of the specs.
fn created(server: &Server, definition: &Value, specs: &[Value]) -> Vec<Value> {
    let create = |(index, spec): (usize, &Value)| {
        let mut object = object_of(definition, spec);
        object["metadata"]["name"] = format!("old-{index}").into();
        server
            .create(&path_of(definition), &object, false)
            .unwrap_or_else(|refusal| panic!("{spec}: {refusal:?}"))
    };
    specs.iter().enumerate().map(create).collect()
}

fn changing(kind: &str) -> Value {
    let text = json!({"type": "string", "maxLength": 9});
    let same = json!([{"rule": "self == oldSelf", "message": "must not change"}]);
    let fixed = |mut schema: Value| {
        schema["x-kubernetes-validations"] = same.clone();
        schema
    };
    let item = json!({"type": "object", "required": ["k"], "properties": {
        "k": text, "v": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}, "w": text,
    }});
    let keyed = json!({"type": "array", "maxItems": 9, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item});
    let set = json!({"type": "array", "maxItems": 9, "x-kubernetes-list-type": "set", "items": text});
    let fields = json!({
        "text": fixed(text.clone()), "keyed": keyed, "keyedFixed": fixed(keyed.clone()), "setFixed": fixed(set),
        "listFixed": fixed(json!({"type": "array", "maxItems": 9, "items": text})),
        "map": {"type": "object", "maxProperties": 9, "additionalProperties": fixed(text.clone())},
        "objectFixed": fixed(json!({"type": "object", "properties": {"a": text, "l": keyed}})),
        "optional": {"type": "string", "maxLength": 9, "nullable": true, "x-kubernetes-validations": [
            {"rule": "oldSelf.orValue('none') != self", "optionalOldSelf": true, "message": "must change"},
        ]},
        "optionalObject": {"type": "object", "properties": {"a": text}, "x-kubernetes-validations": [
            {"rule": "oldSelf.?a.orValue('') == '' || has(self.a)", "optionalOldSelf": true},
        ]},
        "grows": {"type": "array", "maxItems": 9, "items": text, "x-kubernetes-validations": [
            {"rule": "oldSelf.all(x, x in self)"}, {"rule": "self.size() >= oldSelf.size()"},
        ]},
    });
    let schema = json!({"type": "object", "properties": {"spec": {
        "type": "object", "properties": fields,
        "x-kubernetes-validations": [{"rule": "!has(oldSelf.text) || has(self.text)", "message": "text must stay"}],
    }}});
    definition(kind, &schema)
}

#[test]
fn real_rules_about_changes_give_the_same_answers() {
    let server = Server::new();
    let definition = changing("Changing");
    server.install(&definition);
    let ab = json!([{"k": "a", "v": 1}, {"k": "b", "v": 5, "w": "x"}]);
    let ba = json!([{"k": "b", "v": 5, "w": "x"}, {"k": "a", "v": 1}]);
    let specs = [
        json!({}),
        json!({"text": "a"}),
        json!({"text": "b", "optional": "a"}),
        json!({"keyed": ab, "keyedFixed": ab, "objectFixed": {"a": "x", "l": ab}}),
        json!({"keyed": ba, "keyedFixed": ba, "objectFixed": {"a": "x", "l": ba}}),
        json!({"keyed": [{"k": "b", "v": 4}, {"k": "c", "v": 0}], "keyedFixed": [{"k": "a", "v": 1}]}),
        json!({"keyed": [{"k": "a"}, {"k": "b", "v": 6}]}),
        json!({"setFixed": ["a", "b"], "listFixed": ["a", "b"], "grows": ["a", "b"]}),
        json!({"setFixed": ["b", "a"], "listFixed": ["b", "a"], "grows": ["b", "a", "c"]}),
        json!({"setFixed": ["b"], "listFixed": ["b"], "grows": ["b"]}),
        json!({"map": {"a": "1", "b.c": "2"}, "optional": "b", "optionalObject": {"a": "x"}}),
        json!({"map": {"a": "2", "d": "2"}, "optional": null, "optionalObject": {}}),
    ];
    let olds = created(&server, &definition, &specs);
    compare_changes(&server, &definition, &olds, &specs).assert_none(144);
}

#[test]
fn real_what_did_not_change_is_forgiven_the_same() {
    let server = Server::new();
    let schema = |bounded: bool| {
        let bound = |schema: Value, bounds: Value| {
            let mut schema = schema;
            if bounded {
                schema.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
            }
            schema
        };
        let text = || bound(json!({"type": "string"}), json!({"maxLength": 2, "pattern": "^a"}));
        let rule = json!([{"rule": "self.startsWith('a')"}]);
        let ruled =
            || bound(json!({"type": "string"}), json!({"maxLength": 20, "x-kubernetes-validations": rule}));
        let item = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": text(), "r": ruled()}});
        let fields = json!({
            "a": text(), "b": {"type": "integer"}, "r": ruled(),
            "o": bound(json!({"type": "object", "properties": {"a": text(), "b": {"type": "integer"}}}), json!({"required": ["b"]})),
            "l": {"type": "array", "maxItems": 5, "items": text()},
            "lr": {"type": "array", "maxItems": 5, "items": ruled()},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": text()},
            "k": bound(json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item}), json!({"maxItems": 2})),
            "s": bound(json!({"type": "array", "items": {"type": "string"}}), json!({"x-kubernetes-list-type": "set"})),
            "any": bound(json!({"type": "object", "properties": {"x": {"type": "string"}}}), json!({"anyOf": [{"required": ["x"]}, {"properties": {"x": {"maxLength": 1}}, "minProperties": 1}]})),
            "p": bound(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}), json!({"maxProperties": 1})),
            "e": bound(json!({"type": "string"}), json!({"enum": ["x", "y"]})),
        });
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}})
    };
    let loose = definition("Ratchet", &schema(false));
    server.install(&loose);
    let k = json!([{"k": "1", "v": "bbb", "r": "b"}, {"k": "2"}, {"k": "3"}]);
    let specs = [
        json!({}),
        json!({"a": "bbb", "b": 1, "r": "b", "e": "z"}),
        json!({"a": "bbb", "b": 2, "r": "b", "e": "z"}),
        json!({"a": "ccc", "r": "c", "e": "w"}),
        json!({"o": {"a": "bbb"}, "any": {}, "p": {"x": 1, "y": 2}}),
        json!({"o": {"a": "bbb", "b": 1}, "any": {}, "p": {"x": 1, "y": 2, "z": 3}}),
        json!({"o": {"a": "ccc"}, "any": {"x": "long"}, "p": {"x": 1, "y": 2}, "b": 1}),
        json!({"l": ["bbb", "c"], "lr": ["b", "c"], "m": {"x": "bbb", "y": "c"}, "s": ["a", "a"]}),
        json!({"l": ["bbb", "c", "d"], "lr": ["b", "c", "d"], "m": {"x": "bbb", "y": "d"}, "s": ["a", "a", "b"]}),
        json!({"l": ["bbb", "c"], "lr": ["b", "c"], "b": 1, "s": ["a"]}),
        json!({"k": k}),
        json!({"k": [{"k": "3"}, {"k": "1", "v": "bbb", "r": "b"}, {"k": "2"}]}),
        json!({"k": [{"k": "1", "v": "bbb", "r": "b"}, {"k": "4", "v": "bbb"}]}),
        json!({"k": [{"k": "1", "v": "ccc", "r": "c"}, {"k": "2", "v": "ab"}]}),
    ];
    let olds = created(&server, &loose, &specs);
    let tight = definition("Ratchet", &schema(true));
    server.tighten(&tight, &object_of(&tight, &json!({"e": "z"})));
    compare_changes(&server, &tight, &olds, &specs).assert_none(196);
}

#[test]
fn real_only_the_status_is_held_against_the_schema_when_it_is_replaced() {
    let server = Server::new();
    let text = json!({"type": "string", "maxLength": 3});
    let condition =
        json!({"type": "object", "required": ["type"], "properties": {"type": text, "status": text}});
    let rules =
        json!([{"rule": "!has(self.n) || self.n >= oldSelf.n"}, {"rule": "!has(self.t) || self.t != 'bad'"}]);
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": text, "max": {"type": "integer"}}},
        "status": {
            "type": "object", "x-kubernetes-validations": rules, "required": ["n"],
            "properties": {
                "n": {"type": "integer", "minimum": 0}, "t": text, "d": {"type": "string", "default": "d"},
                "kind": text, "any": {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]},
                "conditions": {
                    "type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                    "items": condition,
                },
            },
        },
    }, "x-kubernetes-validations": [
        {"rule": "!has(self.status) || !has(self.spec.max) || self.status.n <= self.spec.max", "message": "too many"},
    ]});
    let mut definition = definition("Statused", &schema);
    definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    server.install(&definition);
    let (schema, path) = (compiled(&definition), path_of(&definition));
    let old = created(&server, &definition, &[json!({"a": "x", "max": 5})]).remove(0);
    let statuses = [
        json!({}),
        json!({"n": 1}),
        json!({"n": 6}),
        json!({"n": -1, "t": "long"}),
        json!({"n": 1, "t": "bad"}),
        json!({"n": "x"}),
        json!({"n": 1, "any": 3, "kind": "long"}),
        json!({"n": 1, "unknown": 1, "d": null}),
        json!({"n": 1, "conditions": [{"type": "a"}, {"type": "b", "status": "no"}]}),
        json!({"n": 1, "conditions": [{"type": "a"}, {"type": "a"}]}),
        json!({"n": 1, "conditions": [{"status": "x"}, 1]}),
        json!([]),
        Value::Null,
    ];
    let mut differences = Differences::default();
    for status in statuses {
        let mut object = old.clone();
        object["status"] = status.clone();
        let theirs = server.replace_status(&path, &object);
        schema.default(&mut object);
        schema.prune(&mut object);
        let errors = schema.validate_status(&object, &old, Vec::new());
        let ours = if errors.is_empty() { Ok(object) } else { Err(refusal(&errors)) };
        differences.compare(&status, &ours, &theirs);
    }
    differences.assert_none(13);
}
