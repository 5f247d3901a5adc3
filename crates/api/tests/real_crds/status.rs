//! Whatever the API server lets into status can be read: one object that cannot would fail the LIST of all.

use muster_api::{Member, ReplicatedCluster, ReplicationEngine, crds};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::server::{CHANGES, Server};

/// Requests under way at the same time.
const AT_ONCE: usize = 32;

/// Values that a hand, a script or another version might put where this is expected.
fn garbage(schema: &Value) -> Vec<Value> {
    let container = schema["type"] == "object" || schema["type"] == "array";
    let (all, some) = if container { (containers(), scalars()) } else { (scalars(), containers()) };
    // One or two of the wrong sort are as good as many.
    all.into_iter().chain(some.into_iter().take(2)).collect()
}

fn containers() -> Vec<Value> {
    vec![
        json!([]),
        json!({}),
        json!([null]),
        json!([1]),
        json!(["a", "a"]),
        json!([{}]),
        json!({"a": null}),
        json!({"a": 1}),
        json!({"a": "b"}),
    ]
}

fn scalars() -> Vec<Value> {
    vec![
        json!(null),
        json!(""),
        json!(true),
        json!(0),
        json!(-1),
        json!(3),
        json!(1.0),
        json!(1.5),
        json!(1e18),
        json!(1e30),
        json!(2_147_483_648_i64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!("7"),
        json!("10Gi"),
        json!("1e99"),
        json!("True"),
        json!("2026-01-01T00:00:00Z"),
        json!("2026-01-01T00:00:00.123456789Z"),
        json!("2026-01-01t00:00:00z"),
        json!("2026-01-01T00:00:00+99:99"),
        json!("2026-01-01T23:59:60Z"),
        json!("2026-02-30T00:00:00Z"),
        json!("0000-01-01T00:00:00Z"),
        json!("9999-12-31T23:59:59Z"),
        json!("1.2"),
    ]
}

/// The least that the schema asks for.
fn least(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let fields = required.iter().map(|name| {
                let name = name.as_str().unwrap();
                (name.to_owned(), least(&schema["properties"][name]))
            });
            Value::Object(fields.collect())
        }
        Some("array") => json!([]),
        Some("integer") => schema["minimum"].clone(),
        Some("boolean") => json!(false),
        _ if schema["format"] == "date-time" => json!("2026-01-01T00:00:00Z"),
        _ => schema["enum"][0].as_str().unwrap_or("a").into(),
    }
}

/// Every status that is empty but for one field, at any depth, which holds garbage.
fn garbled(schema: &Value) -> Vec<Value> {
    let mut found = garbage(schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        for value in garbled(property) {
            let mut object = least(schema);
            object[name.as_str()] = value;
            found.push(object);
        }
    }
    if schema["items"].is_object() {
        found.extend(garbled(&schema["items"]).into_iter().map(|value| json!([value])));
    }
    found
}

async fn everything_let_in_can_be_read<T: DeserializeOwned>(kind: &str, manifest: &str) {
    let server = Server::in_namespace(kind, CHANGES).await;
    let mut object: Value = serde_yaml_ng::from_str(manifest).unwrap();
    object["metadata"]["name"] = "garbled".into();
    if kind != "ReplicationEngine" {
        object["metadata"]["namespace"] = CHANGES.into();
    }
    let created = server.create(&object, false).await.unwrap();
    let crd = crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    let schema = json!(crd.spec.versions[0].schema)["openAPIV3Schema"]["properties"]["status"].clone();
    let (mut tried, mut let_in) = (0, 0);
    for statuses in garbled(&schema).chunks(AT_ONCE) {
        let mut answers = JoinSet::new();
        for status in statuses {
            let (server, mut object) = (server.clone(), created.clone());
            object["status"] = status.clone();
            answers.spawn(async move { server.replace_status(&object).await });
        }
        for answer in answers.join_all().await {
            tried += 1;
            if let Ok(kept) = answer {
                let_in += 1;
                let read = serde_json::from_value::<T>(kept.clone());
                assert!(read.is_ok(), "{} was let in, and cannot be read: {:?}", kept["status"], read.err());
            }
        }
    }
    server.delete("garbled").await;
    println!("{kind}: {let_in} of {tried} were let in, and all were read");
    assert!(let_in > 40, "{let_in}");
}

#[tokio::test]
async fn real_r0_8_any_status_of_a_cluster_that_is_let_in_can_be_read() {
    let manifest = include_str!("../manifests/cluster-small.yaml");
    everything_let_in_can_be_read::<ReplicatedCluster>("ReplicatedCluster", manifest).await;
}

#[tokio::test]
async fn real_any_status_of_a_member_that_is_let_in_can_be_read() {
    let manifest = include_str!("../manifests/member-external.yaml");
    everything_let_in_can_be_read::<Member>("Member", manifest).await;
}

#[tokio::test]
async fn real_any_status_of_an_engine_that_is_let_in_can_be_read() {
    let manifest = include_str!("../manifests/engine-ledger.yaml");
    everything_let_in_can_be_read::<ReplicationEngine>("ReplicationEngine", manifest).await;
}
