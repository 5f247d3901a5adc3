//! Every rule of `ReplicatedCluster`.

use muster_api::rules;
use serde_json::{Value, json};

use crate::case::{Case, REMOVED, assert_complete, change, rule, run};

pub(crate) const KIND: &str = "ReplicatedCluster";
pub(crate) const FULL: &str = include_str!("../manifests/cluster-galera.yaml");
const SMALL: &str = include_str!("../manifests/cluster-small.yaml");

const THRESHOLD: &str = "spec.pools[].threshold";

pub(crate) fn threshold(threshold: Value) -> Value {
    set("/spec/pools/0/threshold", threshold)
}

pub(crate) fn set(pointer: &str, value: impl Into<Value>) -> Value {
    json!({pointer: value.into()})
}

/// As many pools, each with this threshold.
pub(crate) fn pools(count: usize, threshold: &Value) -> Value {
    let pools: Vec<_> = (0..count)
        .map(|n| json!({"name": format!("p{n}"), "threshold": threshold, "storage": {"capacity": "1Gi"}}))
        .collect();
    set("/spec/pools", pools)
}

fn threshold_rules() -> Vec<Case> {
    let alone = rules::THRESHOLD_NODES_ALONE;
    vec![
        rule(THRESHOLD, rules::THRESHOLD_GIVEN, threshold(json!({})), threshold(json!({"nodes": 0}))),
        rule(
            THRESHOLD,
            alone,
            threshold(json!({"nodes": 1, "minNodes": 1})),
            threshold(json!({"minNodes": 1})),
        ),
        rule(
            THRESHOLD,
            alone,
            threshold(json!({"nodes": 1, "maxNodes": 1})),
            threshold(json!({"maxNodes": 1})),
        ),
        rule(
            THRESHOLD,
            alone,
            threshold(json!({"nodes": 1, "freeStorageMin": "1"})),
            threshold(json!({"freeStorageMin": "1"})),
        ),
        rule(
            THRESHOLD,
            alone,
            threshold(json!({"nodes": 1, "freeStorageMax": "1"})),
            threshold(json!({"freeStorageMax": 1})),
        ),
        rule(
            THRESHOLD,
            rules::THRESHOLD_NODES_ORDER,
            threshold(json!({"minNodes": 2, "maxNodes": 2})),
            threshold(json!({"minNodes": 2, "maxNodes": 3})),
        ),
    ]
}

fn free_storage_rules() -> Vec<Case> {
    let order = rules::THRESHOLD_FREE_STORAGE_ORDER;
    vec![
        // Not in the order of the text: as a string "9Gi" is greater than "10Gi".
        rule(
            THRESHOLD,
            order,
            threshold(json!({"freeStorageMin": "10Gi", "freeStorageMax": "9Gi"})),
            threshold(json!({"freeStorageMin": "9Gi", "freeStorageMax": "10Gi"})),
        ),
        rule(
            THRESHOLD,
            order,
            threshold(json!({"freeStorageMin": "1Gi", "freeStorageMax": "1024Mi"})),
            threshold(json!({"freeStorageMin": "1G", "freeStorageMax": "1Gi"})),
        ),
        rule(
            THRESHOLD,
            order,
            threshold(json!({"freeStorageMin": 1000, "freeStorageMax": "1e3"})),
            threshold(json!({"freeStorageMin": 999, "freeStorageMax": "1e3"})),
        ),
        rule(
            "spec.pools[].threshold.freeStorageMin",
            rules::QUANTITY_POSITIVE,
            threshold(json!({"freeStorageMin": "0Gi"})),
            threshold(json!({"freeStorageMin": "1n"})),
        ),
        rule(
            "spec.pools[].threshold.freeStorageMax",
            rules::QUANTITY_POSITIVE,
            threshold(json!({"freeStorageMax": "-1"})),
            threshold(json!({"freeStorageMax": "+1"})),
        ),
        rule(
            "spec.pools",
            rules::POOLS_TOTAL,
            pools(2, &json!({"minNodes": 1, "maxNodes": 257})),
            pools(2, &json!({"minNodes": 1, "maxNodes": 256})),
        ),
        // Sized by free storage: 32 each, unless minNodes is higher.
        rule(
            "spec.pools",
            rules::POOLS_TOTAL,
            pools(17, &json!({"freeStorageMin": "1Gi"})),
            pools(16, &json!({"freeStorageMin": "1Gi", "minNodes": 32})),
        ),
    ]
}

fn other_rules() -> Vec<Case> {
    vec![
        rule(
            "",
            rules::CLUSTER_NAME,
            set("/metadata/name", "a".repeat(31)),
            set("/metadata/name", "a".repeat(30)),
        ),
        rule("", rules::CLUSTER_NAME, set("/metadata/name", "1a"), set("/metadata/name", "a1-b")),
        rule("", rules::CLUSTER_NAME, set("/metadata/name", "a.b"), set("/metadata/name", "a")),
        rule(
            "spec.engine.parameters",
            rules::PARAMETER_NAMES,
            set("/spec/engine/parameters", json!({"../up": "1"})),
            set("/spec/engine/parameters", json!({"up_to.date-now": "1"})),
        ),
        rule(
            "spec.engine.parameters",
            rules::PARAMETER_NAMES,
            set("/spec/engine/parameters", json!({"a".repeat(64): "1"})),
            set("/spec/engine/parameters", json!({"a".repeat(63): "1"})),
        ),
        rule(
            "spec.pools[].storage.capacity",
            rules::QUANTITY_POSITIVE,
            set("/spec/pools/0/storage/capacity", 0),
            set("/spec/pools/0/storage/capacity", 1),
        ),
        change(
            "spec.engine.name",
            rules::ENGINE_IMMUTABLE,
            json!({}),
            set("/spec/engine/name", "mariadb"),
            set("/spec/engine/version", "11.4"),
        ),
    ]
}

fn storage_changes() -> Vec<Case> {
    let class = "/spec/pools/0/storage/storageClassName";
    let capacity = "/spec/pools/0/storage/capacity";
    let immutable = rules::STORAGE_CLASS_IMMUTABLE;
    let swapped = |first: &str, second: &str| {
        let pool = |name: &str, capacity: &str| {
            json!({"name": name, "threshold": {"nodes": 1},
                "storage": {"storageClassName": "fast", "capacity": capacity}})
        };
        json!({"/spec/pools": [pool("b", first), pool("a", second)]})
    };
    vec![
        change("spec.pools[].storage", immutable, json!({}), set(class, "slow"), set(class, "fast")),
        change(
            "spec.pools[].storage",
            immutable,
            json!({}),
            set(class, REMOVED),
            set("/spec/pools/0/zone", "zone-b"),
        ),
        change("spec.pools[].storage", immutable, set(class, REMOVED), set(class, "fast"), json!({})),
        change(
            "spec.pools[].storage.capacity",
            rules::CAPACITY_GROWS,
            json!({}),
            set(capacity, "9Gi"),
            set(capacity, "11Gi"),
        ),
        // The same amount in other words, and a fraction less.
        change(
            "spec.pools[].storage.capacity",
            rules::CAPACITY_GROWS,
            json!({}),
            set(capacity, "10737418239"),
            set(capacity, 10_737_418_240_i64),
        ),
        // Pools are known by name: their order means nothing.
        change(
            "spec.pools[].storage.capacity",
            rules::CAPACITY_GROWS,
            json!({}),
            swapped("10Gi", "9Gi"),
            swapped("12Gi", "10Gi"),
        ),
    ]
}

#[tokio::test]
async fn real_r2_4_every_rule_of_a_cluster_refuses_and_its_twin_passes() {
    let mut cases = threshold_rules();
    cases.extend(free_storage_rules());
    cases.extend(other_rules());
    cases.extend(storage_changes());
    let refusals = run(KIND, FULL, cases).await;
    assert_complete(KIND, &refusals);
}

#[tokio::test]
async fn real_the_least_cluster_is_accepted_and_gets_its_defaults() {
    let server = crate::server::Server::of(KIND).await;
    let object: Value = serde_yaml_ng::from_str(SMALL).unwrap();
    let created = server.create(&object, true).await.unwrap();
    assert_eq!(created["spec"]["pools"][0]["storage"]["retention"], "Retain");
    assert!(created["spec"].get("failover").is_none(), "nothing is put into a spec without need");
}
