//! Every rule of `Member`, and its bounds of note.

use muster_api::rules;
use serde_json::{Value, json};

use crate::case::{Case, REMOVED, assert_complete, bound, change, rule, run};
use crate::server::Server;

const KIND: &str = "Member";
const POOL: &str = include_str!("../manifests/member-pool.yaml");
const EXTERNAL: &str = include_str!("../manifests/member-external.yaml");
const DEVICES: &str = include_str!("../manifests/member-devices.yaml");

/// A pool member by another name, with the claim that goes with it.
fn named(name: &str) -> Value {
    json!({"/metadata/name": name, "/spec/storage/0/pvcName": format!("data-{name}")})
}

fn set(pointer: &str, value: impl Into<Value>) -> Value {
    json!({pointer: value.into()})
}

fn claim_rules() -> Vec<Case> {
    let of_pool = rules::CLAIM_OF_POOL_MEMBER;
    let claim = "/spec/storage/0/claim";
    vec![
        rule("", of_pool, named("orders-b-0"), named("orders-a-9999")),
        rule("", of_pool, named("orders-a-00"), named("orders-a-0")),
        rule("", of_pool, named("orders-a-x"), named("orders-a-10")),
        rule("", of_pool, named("orders-a"), named("orders-a-1")),
        rule("", of_pool, named("orders"), named("orders-a-2")),
        rule(
            "",
            rules::CLAIM_NAME,
            set("/spec/storage/0/pvcName", "data-orders-a-1"),
            json!({"/spec/storage/0/pvcName": "data-orders-a-1", claim: REMOVED}),
        ),
        rule(
            "",
            rules::CLAIM_NAME,
            json!({"/spec/storage/0/pvcName": REMOVED, "/spec/storage/0/device": "/dev/sdb"}),
            json!({}),
        ),
        rule(
            "spec.storage[].claim.capacity",
            rules::QUANTITY_POSITIVE,
            set("/spec/storage/0/claim/capacity", "0"),
            set("/spec/storage/0/claim/capacity", "1Mi"),
        ),
        change(
            "spec",
            rules::CLAIM_GROWS,
            json!({}),
            set("/spec/storage/0/claim/capacity", "9Gi"),
            set("/spec/storage/0/claim/capacity", "20Gi"),
        ),
        change(
            "spec",
            rules::CLAIM_GROWS,
            json!({}),
            set(claim, REMOVED),
            set("/spec/storage/1", json!({"device": "/dev/sdb"})),
        ),
        change(
            "spec",
            rules::CLAIM_CLASS_IMMUTABLE,
            json!({}),
            set("/spec/storage/0/claim/storageClassName", "slow"),
            set("/spec/storage/0/claim/retention", "Delete"),
        ),
        change(
            "spec",
            rules::CLAIM_CLASS_IMMUTABLE,
            json!({}),
            set("/spec/storage/0/claim/storageClassName", REMOVED),
            set("/spec/desiredState", "Disabled"),
        ),
        change(
            "spec",
            rules::CLAIM_CLASS_IMMUTABLE,
            set("/spec/storage/0/claim/storageClassName", REMOVED),
            set("/spec/storage/0/claim/storageClassName", "fast"),
            set("/spec/zone", "zone-b"),
        ),
    ]
}

fn device_rules() -> Vec<Case> {
    let external = json!({"address": "a", "credentials": {"secretName": "a"}});
    let long = |length: usize| set("/metadata/name", "m".repeat(length));
    vec![
        rule("", rules::MEMBER_NAME, long(53), long(52)),
        rule("", rules::MEMBER_NAME, set("/metadata/name", "a.b"), set("/metadata/name", "1-a")),
        rule("spec", rules::EXTERNAL_OR_STORAGE, set("/spec/external", external.clone()), json!({})),
        rule(
            "spec",
            rules::EXTERNAL_OR_STORAGE,
            set("/spec/storage", REMOVED),
            json!({"/spec/storage": REMOVED, "/spec/external": external.clone()}),
        ),
        rule(
            "spec.storage[]",
            rules::DEVICE_OR_PVC,
            set("/spec/storage/0/pvcName", "a"),
            set("/spec/storage/0/device", "/dev/sdz"),
        ),
        rule(
            "spec.storage[]",
            rules::DEVICE_OR_PVC,
            set("/spec/storage/0", json!({})),
            set("/spec/storage/0", json!({"pvcName": "a"})),
        ),
        rule(
            "spec.storage",
            rules::STORAGE_UNIQUE,
            set("/spec/storage/1/device", "/dev/sdb"),
            set("/spec/storage/1/device", "/dev/sdc"),
        ),
        rule(
            "spec.storage",
            rules::STORAGE_UNIQUE,
            set("/spec/storage/3", json!({"pvcName": "bricks-meta"})),
            set("/spec/storage/3", json!({"pvcName": "bricks-more"})),
        ),
        change(
            "spec.clusterName",
            rules::MEMBER_CLUSTER_IMMUTABLE,
            json!({}),
            set("/spec/clusterName", "other"),
            json!({}),
        ),
        change(
            "spec.pool",
            rules::MEMBER_POOL_IMMUTABLE,
            json!({}),
            set("/spec/pool", "b"),
            set("/spec/storage/0/device", "/dev/sdq"),
        ),
        change(
            "spec",
            rules::EXTERNAL_IMMUTABLE,
            json!({}),
            json!({"/spec/storage": REMOVED, "/spec/external": external}),
            set("/spec/storage/2", json!({"device": "/dev/sde"})),
        ),
    ]
}

fn external_cases() -> Vec<Case> {
    let address = "/spec/external/address";
    vec![
        change(
            "spec",
            rules::EXTERNAL_IMMUTABLE,
            json!({}),
            json!({"/spec/external": REMOVED, "/spec/storage": [{"device": "/dev/sdb"}]}),
            set(address, "other.example.com"),
        ),
        bound(
            "spec.external.address",
            "should match",
            set(address, "https://host"),
            set(address, "[fd00::7]:7443"),
        ),
        bound("spec.external.address", "", set(address, ""), set(address, "10.0.0.7")),
        bound("spec.external.address", "should match", set(address, "h:65536"), set(address, "h:65535")),
        bound("spec.external.address", "should match", set(address, "h:0"), set(address, "h:1")),
        bound(
            "spec.external.credentials",
            "Required value",
            set("/spec/external/credentials", REMOVED),
            json!({}),
        ),
        bound(
            "spec.desiredState",
            "Unsupported value",
            set("/spec/desiredState", "enabled"),
            set("/spec/desiredState", "Enabled"),
        ),
    ]
}

fn bounds() -> Vec<Case> {
    let devices = |count: usize| {
        let list: Vec<_> = (0..count).map(|n| json!({"device": format!("/dev/sd{n}")})).collect();
        set("/spec/storage", list)
    };
    vec![
        bound("spec.clusterName", "Required value", set("/spec/clusterName", REMOVED), json!({})),
        bound(
            "spec.clusterName",
            "may not be more than 30",
            set("/spec/clusterName", "a".repeat(31)),
            set("/spec/clusterName", "a".repeat(30)),
        ),
        bound("spec.pool", "Required value", set("/spec/pool", REMOVED), json!({})),
        bound("spec.pool", "should match", set("/spec/pool", "a-b"), set("/spec/pool", "ab")),
        bound("spec.storage", "should have at least 1 items", set("/spec/storage", json!([])), json!({})),
        bound("spec.storage", "must have at most 32 items", devices(33), devices(32)),
        bound(
            "spec.storage[].device",
            "should match",
            set("/spec/storage/0/device", "dev/sdb"),
            set("/spec/storage/0/device", "/dev/nvme0n1"),
        ),
        bound(
            "spec.storage[].tags[]",
            "Duplicate value",
            set("/spec/storage/0/tags", json!(["a", "a"])),
            set("/spec/storage/0/tags", json!(["a", "b"])),
        ),
        bound(
            "spec.workload.version",
            "Required value",
            set("/spec/workload", json!({"config": "c"})),
            set("/spec/workload", json!({"config": "c", "version": "1"})),
        ),
        bound(
            "spec.workload.secretsHash",
            "should match",
            set("/spec/workload", json!({"config": "c", "version": "1", "secretsHash": "XYZ"})),
            json!({}),
        ),
    ]
}

#[tokio::test]
async fn real_r2_8_every_rule_of_a_member_refuses_and_its_twin_passes() {
    let mut refusals = run(KIND, POOL, claim_rules()).await;
    refusals.extend(run(KIND, DEVICES, device_rules()).await);
    refusals.extend(run(KIND, EXTERNAL, external_cases()).await);
    assert_complete(KIND, &refusals);
}

#[tokio::test]
async fn real_bounds_of_a_member_hold() {
    run(KIND, DEVICES, bounds()).await;
}

#[tokio::test]
async fn real_a_member_is_enabled_by_default() {
    let object: Value = serde_yaml_ng::from_str(DEVICES).unwrap();
    let created = Server::of(KIND).await.create(&object, true).await.unwrap();
    assert_eq!(created["spec"]["desiredState"], "Enabled");
}
