//! The bounds of `ReplicatedCluster` that are worth a manifest.

use serde_json::json;

use crate::case::{Case, REMOVED, bound, run};
use crate::cluster::{FULL, KIND, pools, set, threshold};

const PATTERN: &str = "should match";

fn pool_bounds() -> Vec<Case> {
    vec![
        bound("spec.pools", "should have at least 1 items", set("/spec/pools", json!([])), json!({})),
        bound(
            "spec.pools",
            "must have at most 64 items",
            pools(65, &json!({"nodes": 1})),
            pools(64, &json!({"nodes": 1})),
        ),
        bound("spec.pools[]", "Duplicate value", set("/spec/pools/1/name", "a"), json!({})),
        bound(
            "spec.pools[].name",
            PATTERN,
            set("/spec/pools/0/name", "a-b"),
            set("/spec/pools/0/name", "0ab"),
        ),
        bound(
            "spec.pools[].name",
            "",
            set("/spec/pools/0/name", "a".repeat(16)),
            set("/spec/pools/0/name", "a".repeat(15)),
        ),
        bound("spec.pools[].zone", "", set("/spec/pools/0/zone", ""), set("/spec/pools/0/zone", "eu-1.a_b")),
        bound("spec.pools[].threshold", "Required value", set("/spec/pools/0/threshold", REMOVED), json!({})),
        bound(
            "spec.pools[].threshold.nodes",
            "less than or equal to 512",
            threshold(json!({"nodes": 513})),
            threshold(json!({"nodes": 500})),
        ),
        bound(
            "spec.pools[].threshold.nodes",
            "greater than or equal to 0",
            threshold(json!({"nodes": -1})),
            threshold(json!({"nodes": 0})),
        ),
        bound(
            "spec.pools[].threshold.minNodes",
            "greater than or equal to 0",
            threshold(json!({"minNodes": -1})),
            threshold(json!({"minNodes": 0})),
        ),
        bound(
            "spec.pools[].threshold.maxNodes",
            "greater than or equal to 1",
            threshold(json!({"maxNodes": 0})),
            threshold(json!({"maxNodes": 1})),
        ),
    ]
}

fn storage_bounds() -> Vec<Case> {
    vec![
        bound(
            "spec.pools[].storage.capacity",
            "Required value",
            set("/spec/pools/0/storage/capacity", REMOVED),
            json!({}),
        ),
        bound(
            "spec.pools[].storage.capacity",
            PATTERN,
            set("/spec/pools/0/storage/capacity", "10GB"),
            set("/spec/pools/0/storage/capacity", "10G"),
        ),
        bound(
            "spec.pools[].storage.capacity",
            PATTERN,
            set("/spec/pools/0/storage/capacity", "1e100"),
            set("/spec/pools/0/storage/capacity", "1e10"),
        ),
        bound(
            "spec.pools[].storage.capacity",
            "must be of type",
            set("/spec/pools/0/storage/capacity", 1.5),
            set("/spec/pools/0/storage/capacity", "1.5"),
        ),
        bound(
            "spec.pools[].storage.capacity",
            "may not be more than 32",
            set("/spec/pools/0/storage/capacity", "1".repeat(33)),
            set("/spec/pools/0/storage/capacity", "1".repeat(32)),
        ),
        bound(
            "spec.pools[].storage.retention",
            "Unsupported value",
            set("/spec/pools/0/storage/retention", "retain"),
            set("/spec/pools/0/storage/retention", "Delete"),
        ),
        bound(
            "spec.pools[].resources.requests.cpu",
            PATTERN,
            set("/spec/pools/0/resources/requests/cpu", "-1"),
            set("/spec/pools/0/resources/requests/cpu", "100m"),
        ),
        bound(
            "spec.pools[].tolerations[].operator",
            "Unsupported value",
            set("/spec/pools/0/tolerations/0/operator", "Like"),
            set("/spec/pools/0/tolerations/0/operator", "Equal"),
        ),
    ]
}

fn other_bounds() -> Vec<Case> {
    let many =
        |count: u32| (0..count).map(|n| (format!("p{n}"), json!("1"))).collect::<serde_json::Map<_, _>>();
    vec![
        bound("spec.engine", "Required value", set("/spec/engine", REMOVED), json!({})),
        bound(
            "spec.engine.name",
            PATTERN,
            set("/spec/engine/name", "Galera"),
            set("/spec/engine/name", "galera-4"),
        ),
        bound(
            "spec.engine.version",
            PATTERN,
            set("/spec/engine/version", "latest!"),
            set("/spec/engine/version", "11.4.2-1"),
        ),
        bound(
            "spec.engine.parameters",
            "must have at most 256 items",
            set("/spec/engine/parameters", many(257)),
            set("/spec/engine/parameters", many(256)),
        ),
        bound(
            "spec.engine.parameters.p",
            "may not be more than 1024",
            set("/spec/engine/parameters/p", "x".repeat(1025)),
            set("/spec/engine/parameters/p", "x".repeat(1024)),
        ),
        bound(
            "spec.primaries",
            "greater than or equal to 1",
            set("/spec/primaries", 0),
            set("/spec/primaries", 512),
        ),
        bound(
            "spec.primaries",
            "less than or equal to 512",
            set("/spec/primaries", 513),
            set("/spec/primaries", 1),
        ),
        bound(
            "spec.drivers[].name",
            "Required value",
            set("/spec/drivers", json!([{}])),
            set("/spec/drivers", json!([])),
        ),
        bound(
            "spec.drivers[].replicas",
            "greater than or equal to 0",
            set("/spec/drivers/0/replicas", -1),
            set("/spec/drivers/0/replicas", 0),
        ),
        bound(
            "spec.certificateAuthority.secretName",
            PATTERN,
            set("/spec/certificateAuthority/secretName", "A B"),
            set("/spec/certificateAuthority/secretName", "a.b"),
        ),
        bound(
            "spec.replication.targets[].addresses",
            "should have at least 1 items",
            set("/spec/replication/targets/0/addresses", json!([])),
            json!({}),
        ),
        bound(
            "spec.replication.targets[].addresses[]",
            PATTERN,
            set("/spec/replication/targets/0/addresses/0", "a b"),
            set("/spec/replication/targets/0/addresses/0", "10.0.0.1"),
        ),
        bound(
            "spec.service.type",
            "Unsupported value",
            set("/spec/service/type", "ExternalName"),
            set("/spec/service/type", "NodePort"),
        ),
    ]
}

#[tokio::test]
async fn real_bounds_of_a_cluster_hold() {
    let mut cases = pool_bounds();
    cases.extend(storage_bounds());
    cases.extend(other_bounds());
    run(KIND, FULL, cases).await;
}
