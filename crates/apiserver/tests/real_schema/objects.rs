//! New objects: what is filled in, what is taken away, and what is refused.

use serde_json::{Value, json};

use crate::server::{Differences, Refusal, Server, compiled, definition, object_of, our_answer, path_of};
use crate::{generate, probes};

/// Objects with several probes at once.
const COMBINATIONS: usize = 300;

#[test]
fn real_every_keyword_accepts_and_refuses_the_same() {
    let server = Server::new();
    let probes = probes::all();
    let definition = definition("Probe", &probes::schema(&probes));
    server.install(&definition);
    let schema = compiled(&definition);
    let path = path_of(&definition);
    let mut differences = Differences::default();
    let single = probes.iter().flat_map(|probe| {
        probe.values.as_array().unwrap().iter().map(|value| json!({probe.name: value})).collect::<Vec<_>>()
    });
    for spec in single.chain(generate::specs(&probes, COMBINATIONS)) {
        let object = object_of(&definition, &spec);
        differences.compare(&spec, &our_answer(&schema, &object, None), &server.create(&path, &object, true));
    }
    differences.assert_none(800);
}

#[test]
fn real_unknown_fields_are_named_the_same() {
    let server = Server::new();
    let inner = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "o": inner, "l": {"type": "array", "items": inner}, "m": {"type": "object", "additionalProperties": inner},
        "p": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"o": inner}},
        "e": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": inner}},
    }}}});
    let definition = definition("Unknown", &schema);
    server.install(&definition);
    let schema = compiled(&definition);
    let path = path_of(&definition);
    let specs = [
        json!({}),
        json!({"x": 1, "y": {"z": 1}}),
        json!({"o": {"a": "1", "b": 2}, "l": [{"b": 1}, {"a": "1"}, {"c": {"d": 1}}]}),
        json!({"m": {"k": {"b": 1}, "k.l": {"c": 1}}, "p": {"q": 1, "o": {"r": 1}}}),
        json!({"e": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "no": 1}, "spec": {"z": 1}, "x": 1}}),
    ];
    let tops = [json!({}), json!({"other": 1}), json!({"status": {"a": 1}})];
    for spec in &specs {
        for top in &tops {
            let mut object = object_of(&definition, spec);
            object.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
            let mut pruned = object.clone();
            schema.default(&mut pruned);
            let unknown: Vec<_> =
                schema.prune(&mut pruned).iter().map(|path| format!("unknown field \"{path}\"")).collect();
            match server.create_strictly(&path, &object) {
                Ok(_) => assert!(unknown.is_empty(), "{object}: {unknown:?}"),
                Err(Refusal::Message(message)) => {
                    let named: Vec<_> = message.split("unknown field ").skip(1).collect();
                    let named: Vec<_> = named
                        .iter()
                        .map(|name| format!("unknown field {}", name.trim_end_matches(", ")))
                        .collect();
                    assert_eq!(unknown, named, "{object}: {message}");
                }
                other => panic!("{object}: {other:?}"),
            }
        }
    }
}

#[test]
fn real_metadata_that_nobody_knows_is_named_the_same() {
    let server = Server::new();
    let definition = definition("Metadata", &json!({"type": "object"}));
    server.install(&definition);
    let mut object = object_of(&definition, &Value::Null);
    object["metadata"]["color"] = "red".into();
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "size": 1}]);
    object.as_object_mut().unwrap().remove("spec");
    let unknown = compiled(&definition).prune(&mut object.clone());
    assert_eq!(unknown, ["metadata.color", "metadata.ownerReferences[0].size"]);
    let Err(Refusal::Message(message)) = server.create_strictly(&path_of(&definition), &object) else {
        panic!("accepted")
    };
    for name in unknown {
        assert!(message.contains(&format!("unknown field \"{name}\"")), "{message}");
    }
}
