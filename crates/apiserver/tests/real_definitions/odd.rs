//! Objects that are odd in one field each.

use std::sync::LazyLock;

use kube::Client;
use muster_apiserver::kind::built_in::{catalogue, definitions};
use muster_apiserver::registry::Resource;
use serde_json::{Map, Value, json};

use crate::bases::base;
use crate::server;

/// What is put into fields.
fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(""),
        json!(0),
        json!(false),
        json!([]),
        json!({}),
        json!("x"),
        json!(1.5),
        json!(3_000_000_000_i64),
        json!(["a", null]),
        json!({"a": null}),
        json!({"nonsense": {"a": 1}}),
        json!([{"nonsense": 1}]),
        json!([null]),
        json!("1000m"),
        json!("2024-01-01T00:00:00.5+01:00"),
        json!("2024-01-01T00:00:00.123456Z"),
        json!(true),
        json!(7),
    ]
}

/// How many of them are put into each field.
const EACH: usize = 4;

/// Every place in a value: the fields that there are, and those that its type knows besides.
fn places(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    let schema = resolve(schema);
    match value {
        Value::Object(fields) => {
            let known = schema.get("properties").and_then(Value::as_object);
            for name in known.into_iter().flat_map(serde_json::Map::keys) {
                found.push(format!("{path}/{name}"));
            }
            for (name, value) in fields {
                let inner = schema
                    .pointer(&format!("/properties/{name}"))
                    .or_else(|| schema.get("additionalProperties"));
                places(
                    value,
                    inner.unwrap_or(&Value::Null),
                    &format!("{path}/{}", name.replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, schema.get("items").unwrap_or(&Value::Null), &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn all() -> &'static Map<String, Value> {
    static ALL: LazyLock<Map<String, Value>> = LazyLock::new(definitions);
    &ALL
}

fn resolve(schema: &Value) -> &Value {
    let target = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
    target.and_then(|target| all().get(target.rsplit('/').next()?)).unwrap_or(schema)
}

fn put(object: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match object.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.insert(name.replace("~1", "/"), value)),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
}

#[tokio::test]
async fn odd_objects_are_read_as_the_real_server_reads_them() {
    let client = server::client().await;
    let mut different = Vec::new();
    let mut count = 0_usize;
    for resource in catalogue::resources() {
        let Some(base) = base(&resource) else { continue };
        let schema = definition(&resource);
        let mut found = vec![];
        places(&base, schema, "", &mut found);
        let values = odd_values();
        let mut next = 0;
        for place in found
            .iter()
            .filter(|place| !["/apiVersion", "/kind", "/metadata/resourceVersion"].contains(&place.as_str()))
        {
            for _ in 0..EACH {
                next += 7;
                let value = values[next % values.len()].clone();
                let mut object = base.clone();
                put(&mut object, place, value.clone());
                count += 1;
                if let Some(difference) = compare(&client, &resource, &object).await {
                    different.push(format!("{} {place} = {value}: {difference}", resource.kind_name));
                }
            }
        }
    }
    println!("{count} objects");
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), different.join("\n"));
}

fn definition(resource: &Resource) -> &'static Value {
    let of_kind = json!([{"group": resource.group, "version": resource.version, "kind": resource.kind_name}]);
    let kinds = "x-kubernetes-group-version-kind";
    all().values().find(|schema| schema.get(kinds) == Some(&of_kind)).unwrap()
}

/// What differs between the two, if anything.
async fn compare(client: &Client, resource: &Resource, object: &Value) -> Option<String> {
    let real = server::try_out(client, resource, object, "Strict").await;
    let mut ours = object.clone();
    let kind = &resource.kind_name;
    let prefix = format!("{kind} in version {:?} cannot be handled as a {kind}: ", resource.version);
    let said = match resource.kind.read(&mut ours) {
        Err(error) => Some(error),
        Ok(unknown) if !unknown.is_empty() => {
            let unknown: Vec<_> = unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
            Some(format!("strict decoding error: {}", unknown.join(", ")))
        }
        Ok(_) => None,
    };
    match (real, said) {
        (Err((400, real)), Some(said)) if real == format!("{prefix}{said}") => None,
        (Err((400, real)), None) if !real.starts_with(&prefix) => None,
        (Err((400, real)), said) => Some(format!("real: {real}; ours: {said:?}")),
        (real, Some(said)) => Some(format!(
            "real: {}; ours: {said}",
            real.map_or_else(|error| format!("{error:?}"), |_| "fine".to_owned())
        )),
        (Err(_), None) => None,
        (Ok(real), None) => {
            let mut again = real.clone();
            let unknown = resource.kind.read(&mut again);
            let same = unknown == Ok(Vec::new()) && without_empty(&again) == without_empty(&real);
            let lost = lost(&ours, &real, "");
            if same && lost.is_empty() {
                None
            } else {
                Some(format!("lost {lost:?}, real {real}, read again {again}"))
            }
        }
    }
}

/// A server that only tries does not store, and so keeps lists and maps that are empty where storing would drop them.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), without_empty(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

/// What we read and the server does not have.
fn lost(ours: &Value, real: &Value, path: &str) -> Vec<String> {
    match (ours, real) {
        (Value::Object(ours), Value::Object(real)) => {
            let inner = ours.iter().flat_map(|(name, value)| {
                lost(value, real.get(name).unwrap_or(&Value::Null), &format!("{path}.{name}"))
            });
            inner.collect()
        }
        (Value::Array(ours), Value::Array(real)) if ours.len() <= real.len() => ours
            .iter()
            .zip(real)
            .enumerate()
            .flat_map(|(index, (ours, real))| lost(ours, real, &format!("{path}[{index}]")))
            .collect(),
        // What is not set may be set by the server.
        (Value::Null, _) => Vec::new(),
        // An empty list that is always printed is owned by whoever sent it, and stored as none.
        (Value::Array(ours), Value::Null) if ours.is_empty() => Vec::new(),
        _ if ours == real || is_given_by_the_server(path) => Vec::new(),
        _ => vec![format!("{path}: {ours} is {real}")],
    }
}

/// What is the server's own, whatever was sent, and what it fills in or drops for reasons other than its type.
fn is_given_by_the_server(path: &str) -> bool {
    const OWN: [&str; 21] = [
        ".metadata.creationTimestamp",
        ".metadata.uid",
        ".metadata.generation",
        ".metadata.resourceVersion",
        ".metadata.selfLink",
        ".metadata.deletionTimestamp",
        ".metadata.deletionGracePeriodSeconds",
        ".metadata.managedFields",
        ".metadata.name",
        ".status",
        // Defaults and preparations.
        ".stringData",
        ".data.a",
        ".secrets[0]",
        ".spec.ports[0].targetPort",
        ".spec.volumeClaimTemplates[0].apiVersion",
        ".spec.volumeClaimTemplates[0].kind",
        ".roleRef.apiGroup",
        // Fields of features that are off.
        ".spec.configSource",
        ".spec.preferredHolder",
        ".spec.strategy",
        ".spec.template.spec.schedulingGroup",
    ];
    OWN.iter().any(|own| path.starts_with(own))
}

#[tokio::test]
async fn quantities_are_printed_as_the_real_server_prints_them() {
    let client = server::client().await;
    let nodes = catalogue::resources().into_iter().find(|resource| resource.plural == "nodes").unwrap();
    let numbers = "0 1 7 8 10 100 1000 1024 2048 1500 0.5 1.5 1.500 00.10 +5 -3 1. .5 . 123456789 999999999999999999 \
        1234567890123456789012 0.000000001 0.0000000001 1.0000000000001 12345.678 -0.5 + 1.2.3";
    let suffixes = "n u m k K M G T P E Ki Mi Gi Ti Pi Ei e3 E3 e-3 e+6 e e1 e4 x mm Kib";
    let numbers: Vec<&str> = numbers.split(' ').chain([""]).collect();
    let suffixes: Vec<&str> = suffixes.split(' ').chain(["", " "]).collect();
    let mut different = Vec::new();
    let all =
        numbers.iter().flat_map(|number| suffixes.iter().map(move |suffix| format!("{number}{suffix}")));
    for quantity in all {
        let object = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "q"}, "status": {"volumesAttached": null, "capacity": {"cpu": quantity}},
        });
        let real = match server::try_out(&client, &nodes, &object, "Strict").await {
            Ok(real) => real["status"]["capacity"]["cpu"].clone(),
            Err((400, error)) => error.rsplit_once("as a Node: ").unwrap().1.into(),
            Err((422, _)) => continue,
            Err(other) => panic!("{other:?}"),
        };
        let mut ours = object.clone();
        let ours = nodes
            .kind
            .read(&mut ours)
            .map_or_else(Value::from, |_| ours["status"]["capacity"]["cpu"].clone());
        if real != ours {
            different.push(format!("{quantity:?}: real {real}, ours {ours}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
