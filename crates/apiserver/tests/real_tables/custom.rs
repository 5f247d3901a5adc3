//! Custom resources: declared columns of every type, over values that fit and values that do not.

use muster_apiserver::registry::Definition;
use muster_apiserver::table;
use serde_json::{Value, json};

use crate::server::Server;
use crate::tables::compare;

/// The group of the kinds that are defined here.
pub(crate) const GROUP: &str = "columns.example.org";

fn definition(plural: &str, columns: &Value) -> Value {
    let kind = format!("{}{}", plural[..1].to_uppercase(), &plural[1..]);
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "additionalPrinterColumns": columns,
            }],
        },
    })
}

fn columns() -> Value {
    let kinds = ["string", "integer", "number", "boolean", "date"];
    let paths = [
        ".spec.value",
        ".spec.deep.value",
        ".spec.list[*].name",
        ".spec.list[0].n",
        ".spec.list[-1].n",
        ".spec.list[5].n",
        ".spec.list[0:1].name",
        r#".spec.list[?(@.name=="b")].n"#,
        ".spec.list[?(@.n>1)].name",
        ".spec.list[?(@.on==true)].name",
        ".spec.list[?(@.name)].n",
        r".metadata.annotations.example\.org/x",
        ".spec.none",
        ".spec['value']",
    ];
    let every = paths.iter().enumerate().flat_map(|(place, path)| {
        kinds.map(move |kind| json!({"name": format!("C{place}{kind}"), "type": kind, "jsonPath": path}))
    });
    let mut all: Vec<Value> = every.collect();
    all.push(json!({"name": "Wide", "type": "integer", "jsonPath": ".spec.value", "priority": 1, "format": "int32", "description": "In words."}));
    all.into()
}

fn objects() -> Vec<Value> {
    let spec = |value: Value| {
        json!({"spec": {
            "value": value, "deep": {"value": value},
            "list": [{"name": "a", "n": 1, "on": true}, {"name": "b", "n": 2, "on": false}],
        }})
    };
    let mut all: Vec<Value> = [
        json!("text"),
        json!(""),
        json!(7),
        json!(2.9),
        json!(-2.9),
        json!(1e21),
        json!(1e20),
        json!(123_456_789.5),
        json!(0.000_001),
        json!(0.000_000_1),
        json!(true),
        json!(null),
        json!([1, "x"]),
        json!({"b": 1, "a": {"<": "&"}}),
        json!("2026-01-01T00:00:00Z"),
        json!("2026-01-01T00:00:00+02:00"),
        json!("2026-01-01T00:00:00.123Z"),
        json!("2126-01-01T00:00:00Z"),
        json!("null"),
        json!("yesterday"),
    ]
    .into_iter()
    .map(spec)
    .collect();
    all.push(json!({"metadata": {"annotations": {"example.org/x": "y"}}}));
    all.push(json!({"spec": {"list": "no list"}}));
    all.push(json!({"spec": {"list": []}}));
    all.push(json!({"spec": {"list": [{"n": "1"}, {"name": 1}]}}));
    all
}

fn check(plural: &str, columns: &Value, objects: Vec<Value>) {
    let server = Server::new();
    let crd = definition(plural, columns);
    let answer = server.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd);
    assert_eq!(answer["kind"], "CustomResourceDefinition", "{answer}");
    let path = format!("/apis/{GROUP}/v1/{plural}");
    let list = server.wait_for(&path, "application/json", |answer| answer["items"].is_array());
    for (place, mut object) in objects.into_iter().enumerate() {
        object["apiVersion"] = format!("{GROUP}/v1").into();
        object["kind"] = list["kind"].as_str().unwrap().trim_end_matches("List").into();
        object["metadata"]["name"] = format!("o{place:02}").into();
        let answer = server.send("POST", &path, &object);
        assert_eq!(answer["metadata"]["name"], object["metadata"]["name"], "{answer}");
    }
    let resource = Definition::read(&crd).unwrap().resources().remove(0);
    compare(&server, &*table::printer(&resource), &path);
}

#[test]
fn declared_columns_show_what_the_real_server_shows() {
    check("shown", &columns(), objects());
}

#[test]
fn without_columns_there_is_the_age() {
    check("plain", &json!([]), objects().into_iter().take(2).collect());
}
