//! What can be said of the CRDs without an API server: their size, that everything is bounded and described, that
//! every rule is used, and that the sample manifests are what the types say.
#![cfg(test)] // so that the lints for tests hold in helper functions too

use std::collections::{BTreeMap, BTreeSet};

use muster_api::rules::{self, CelRule};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine, crds, limits};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Client-side apply stores the object in an annotation, and annotations end at 256 KB.
const SIZE_MAX: usize = 200 * 1000;

/// Every schema of every kind, by kind and path: `ReplicatedCluster spec.pools[].name`.
fn schemas() -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for crd in crds() {
        let root = serde_json::to_value(&crd.spec.versions[0].schema).unwrap()["openAPIV3Schema"].clone();
        collect(&format!("{} ", crd.spec.names.kind), &root, &mut found);
    }
    found
}

fn collect(path: &str, schema: &Value, found: &mut BTreeMap<String, Value>) {
    found.insert(path.to_owned(), schema.clone());
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if path.ends_with(' ') { "" } else { "." };
        collect(&format!("{path}{dot}{name}"), property, found);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            collect(&format!("{path}{suffix}"), &schema[key], found);
        }
    }
}

/// `cargo xtask crds` writes them anew.
#[test]
fn the_manifests_in_the_tree_are_those_of_the_types() {
    let deploy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    for (name, manifest) in muster_api::crds::manifests().unwrap() {
        assert!(
            std::fs::read_to_string(deploy.join(&name)).unwrap() == manifest,
            "{name} is stale: cargo xtask crds"
        );
    }
}

#[test]
fn each_crd_is_small_enough_for_client_side_apply() {
    for (name, yaml) in crds::manifests().unwrap() {
        let value: Value = serde_yaml_ng::from_str(&yaml).unwrap();
        let json = serde_json::to_string(&value).unwrap();
        println!("{name}: {} bytes as YAML, {} as JSON", yaml.len(), json.len());
        assert!(yaml.len() < SIZE_MAX && json.len() < SIZE_MAX, "{name} is too large");
    }
}

#[test]
fn everything_is_bounded() {
    for (path, schema) in schemas() {
        let has = |keys: &[&str]| keys.iter().all(|key| !schema[*key].is_null());
        let bounded = match schema["type"].as_str() {
            Some("string") => has(&["maxLength"]) || has(&["enum"]),
            Some("array") => has(&["items", "maxItems"]),
            Some("integer") => {
                has(&["minimum", "format"]) && (has(&["maximum"]) || schema["format"] == "int64")
            }
            Some("object") => has(&["properties"]) || has(&["additionalProperties", "maxProperties"]),
            Some("boolean") => true,
            None => schema["x-kubernetes-int-or-string"] == true && has(&["maxLength"]),
            Some(other) => panic!("{path}: {other}"),
        };
        assert!(bounded, "{path} has no bound: {schema}");
        if schema["type"] == "integer" {
            assert!(
                ["int32", "int64"].map(Value::from).contains(&schema["format"]),
                "{path}: {}",
                schema["format"]
            );
        }
    }
}

#[test]
fn everything_is_described() {
    for (path, schema) in schemas() {
        let inner = path.ends_with("[]") || path.ends_with("{}") || path.ends_with(' ');
        let described = schema["description"].as_str().is_some_and(|text| text.ends_with(['.', ']', '}']));
        assert!(inner || described, "{path} has no description: {}", schema["description"]);
    }
}

#[test]
fn nothing_is_nullable_and_status_is_never_required() {
    for (path, schema) in schemas() {
        assert!(schema["nullable"].is_null(), "{path} is nullable");
        if path.ends_with(" status") {
            assert!(schema["required"].is_null(), "{path} requires {}", schema["required"]);
        }
    }
}

#[test]
fn enums_are_closed_in_spec_and_open_in_status() {
    for (path, schema) in schemas() {
        let condition_status = path.ends_with("conditions[].status");
        if path.contains(" status") && !condition_status {
            assert!(schema["enum"].is_null(), "{path} is closed, so a later version could not be read");
        }
    }
}

#[test]
fn every_rule_is_used_and_none_is_unknown() {
    let known: BTreeSet<_> = rules::ALL.iter().map(|rule| rule.rule).collect();
    let schemas = schemas();
    let used: BTreeSet<_> = schemas
        .values()
        .flat_map(|schema| schema["x-kubernetes-validations"].as_array().into_iter().flatten())
        .map(|rule| {
            assert!(rule["message"].is_string(), "{rule} has no message");
            rule["rule"].as_str().unwrap()
        })
        .collect();
    assert_eq!(known, used);
}

#[test]
fn rules_state_the_limits() {
    let states = |rule: CelRule, parts: &[String]| {
        for part in parts {
            assert!(rule.rule.contains(part.as_str()), "{} does not say {part}", rule.rule);
        }
    };
    let name = |max: u32, pattern: &str| [format!("size() <= {max} "), format!("matches('{pattern}')")];
    states(rules::CLUSTER_NAME, &name(limits::CLUSTER_NAME_MAX, limits::CLUSTER_NAME_PATTERN));
    states(rules::MEMBER_NAME, &name(limits::MEMBER_NAME_MAX, limits::MEMBER_NAME_PATTERN));
    states(rules::ENGINE_NAME, &name(limits::ENGINE_NAME_MAX, limits::ENGINE_NAME_PATTERN));
    states(rules::FILE_NAMES, &name(limits::FILE_NAME_MAX, limits::KEY_PATTERN));
    states(rules::PARAMETER_NAMES, &[format!("matches('{}')", limits::PARAMETER_NAME_PATTERN)]);
    states(rules::CLAIM_OF_POOL_MEMBER, &[format!("matches('{}')", limits::ORDINAL_PATTERN)]);
    states(rules::ACKNOWLEDGED_COPIES, &[format!("<= {}", limits::MAX_MEMBERS)]);
    states(
        rules::POOLS_TOTAL,
        &[format!("<= {}", limits::MAX_MEMBERS), format!("? {} : 0", limits::DEFAULT_MAX_NODES)],
    );
}

/// Reads a manifest strictly as its type, and writes it again.
fn survives<T: DeserializeOwned + Serialize>(yaml: &str) {
    let value: Value = serde_yaml_ng::from_str(yaml).unwrap();
    let typed: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let written = serde_json::to_value(&typed).unwrap();
    assert_nothing_lost("", &value, &written);
    let again: T = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), written);
}

/// Everything in a manifest is there after it was read and written, apart from defaults that may be left out.
fn assert_nothing_lost(path: &str, before: &Value, after: &Value) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let path = format!("{path}.{key}");
                match after.get(key) {
                    Some(kept) => assert_nothing_lost(&path, value, kept),
                    None => assert!(
                        [".spec.failover", ".spec.desiredState"].contains(&path.as_str()),
                        "{path} was lost"
                    ),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len(), "{path}");
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                assert_nothing_lost(&format!("{path}[{index}]"), before, after);
            }
        }
        // A quantity that was written as an integer is a string afterwards.
        (Value::Number(before), Value::String(after)) => assert_eq!(&before.to_string(), after, "{path}"),
        _ => assert_eq!(before, after, "{path}"),
    }
}

#[test]
fn the_sample_manifests_are_what_the_types_say() {
    survives::<ReplicatedCluster>(include_str!("manifests/cluster-galera.yaml"));
    survives::<ReplicatedCluster>(include_str!("manifests/cluster-small.yaml"));
    survives::<Member>(include_str!("manifests/member-pool.yaml"));
    survives::<Member>(include_str!("manifests/member-external.yaml"));
    survives::<Member>(include_str!("manifests/member-devices.yaml"));
    survives::<ReplicationEngine>(include_str!("manifests/engine-ledger.yaml"));
}

#[test]
fn a_garbled_status_leaves_the_object_readable() {
    let mut value: Value = serde_yaml_ng::from_str(include_str!("manifests/cluster-small.yaml")).unwrap();
    value["status"] = serde_json::json!({
        "phase": "ANewPhase",
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "yesterday", "reason": "R", "message": ""},
            {"type": "Healthy", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R", "message": "", "observedGeneration": 3},
            "nonsense",
        ],
        "pools": {"a": 1},
        "recovery": "what",
        "lastRequest": 7,
        "lastBackupTime": "soon",
        "freeStorage": "plenty",
        "members": null,
        "somethingNew": {},
    });
    let cluster: ReplicatedCluster = serde_json::from_value(value).unwrap();
    let status = cluster.status.unwrap();
    assert_eq!(status.phase.as_deref(), Some("ANewPhase"));
    assert_eq!(status.conditions.iter().map(|c| c.type_.as_str()).collect::<Vec<_>>(), ["Healthy"]);
    assert!(status.pools.is_empty() && status.recovery.is_none() && status.last_request.is_none());
    assert!(status.last_backup_time.is_none() && status.free_storage.is_none() && status.members.is_none());
}

#[test]
fn an_empty_status_is_written_as_nothing() {
    let empty = serde_json::json!({});
    assert_eq!(serde_json::to_value(muster_api::ReplicatedClusterStatus::default()).unwrap(), empty);
    assert_eq!(serde_json::to_value(muster_api::MemberStatus::default()).unwrap(), empty);
    assert_eq!(serde_json::to_value(muster_api::ReplicationEngineStatus::default()).unwrap(), empty);
}
