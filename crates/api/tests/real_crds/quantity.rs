//! Quantities mean the same to us and to the API server: what is one, which is greater, and how it is printed.

use std::collections::BTreeMap;

use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use muster_api::{Quantity, limits, rules};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::server::{Cause, Server, installed};

/// Pools in one manifest, each with something to ask about: as many as a cluster may have.
const BATCH: usize = 64;
/// Manifests; with this many the test takes a few seconds.
const BATCHES: usize = 40;
/// Capacities of one device of a `ResourceSlice`, and devices of one slice: what Kubernetes admits.
const CAPACITIES: usize = 32;
const DEVICES: usize = 16;

/// Random values, the same in every run.
fn samples<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Texts that the schema admits: of every form, and small ones that come near each other.
fn admitted() -> impl Strategy<Value = String> {
    let any_form = limits::QUANTITY_PATTERN.trim_matches(['^', '$']);
    prop_oneof![
        any_form.prop_filter("too long", |text| text.len() <= 32),
        r"[0-9]{1,4}(\.[0-9]{1,3})?(Ki|Mi|Gi|k|M|G|m|u|n|)".prop_map(|text| text),
        r"(0|1|2|10|1000|1024|1048576|0\.001|1\.5)(Ki|Mi|k|M|m|u|e3|E-3|)".prop_map(|text| text),
        r"[0-9]{15,22}(Ei|Pi|E|P|)".prop_map(|text| text),
    ]
}

fn cluster(pools: &[Value]) -> Value {
    let named = |(n, pool): (usize, &Value)| {
        let mut pool = pool.clone();
        pool["name"] = format!("p{n}").into();
        pool
    };
    let pools: Vec<_> = pools.iter().enumerate().map(named).collect();
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": "quantities", "namespace": "default"},
        "spec": {"engine": {"name": "any"}, "pools": pools},
    })
}

/// What the API server says about each pool of a manifest.
async fn verdicts(server: &Server, pools: &[Value]) -> BTreeMap<usize, Vec<Cause>> {
    let mut found: BTreeMap<usize, Vec<Cause>> = BTreeMap::new();
    for cause in server.create(&cluster(pools), true).await.err().unwrap_or_default() {
        let index = cause.field.split(['[', ']']).nth(1).unwrap_or_else(|| panic!("{cause:?}"));
        found.entry(index.parse().unwrap()).or_default().push(cause);
    }
    found
}

fn says(verdicts: &BTreeMap<usize, Vec<Cause>>, index: usize, text: &str) -> bool {
    verdicts.get(&index).is_some_and(|causes| causes.iter().any(|cause| cause.message.contains(text)))
}

#[tokio::test]
async fn real_order_and_sign_of_quantities_agree() {
    let server = Server::of("ReplicatedCluster").await;
    let texts = samples((admitted(), admitted()), BATCH * BATCHES);
    let mut seen = [0_usize; 3];
    for batch in texts.chunks(BATCH) {
        let pools: Vec<_> = batch
            .iter()
            .map(|(low, high)| {
                json!({
                    "threshold": {"maxNodes": 1, "freeStorageMin": low, "freeStorageMax": high},
                    "storage": {"capacity": "1"},
                })
            })
            .collect();
        let verdicts = verdicts(&server, &pools).await;
        for (index, (low, high)) in batch.iter().enumerate() {
            let (a, b): (Quantity, Quantity) = (low.parse().unwrap(), high.parse().unwrap());
            let positive = a.is_positive() && b.is_positive();
            assert_eq!(!positive, says(&verdicts, index, rules::QUANTITY_POSITIVE.message), "{low} {high}");
            let refused = says(&verdicts, index, rules::THRESHOLD_FREE_STORAGE_ORDER.message);
            assert_eq!(a >= b, refused, "{low} {high}");
            seen[match a.cmp(&b) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Greater => 2,
            }] += 1;
        }
    }
    println!("less, equal, greater: {seen:?}");
    assert!(seen.iter().all(|count| *count > 20), "the samples are lopsided: {seen:?}");
}

#[tokio::test]
async fn real_the_schema_admits_exactly_what_parses() {
    let server = Server::of("ReplicatedCluster").await;
    let texts = samples(
        r"[-+]{0,2}[0-9]{0,3}\.?[0-9]{0,2}([KMGTPEkmun]i?|[eE][-+]?[0-9.]{0,3}|[-+0-9.eEinumkKMGTP]{0,3})",
        BATCH * BATCHES,
    );
    let mut admitted = 0;
    for batch in texts.chunks(BATCH) {
        let pools: Vec<_> = batch
            .iter()
            .map(|text| json!({"threshold": {"nodes": 1}, "storage": {"capacity": text}}))
            .collect();
        let verdicts = verdicts(&server, &pools).await;
        for (index, text) in batch.iter().enumerate() {
            let parses = text.parse::<Quantity>().is_ok();
            assert_eq!(!parses, says(&verdicts, index, "should match"), "{text}");
            admitted += usize::from(parses);
        }
    }
    println!("{admitted} of {} were quantities", texts.len());
    assert!(admitted > texts.len() / 10, "the samples are lopsided: {admitted}");
}

/// Kubernetes reads the quantities of its own kinds and prints them in canonical form. A `ResourceSlice` holds many.
#[tokio::test]
async fn real_canonical_forms_agree() {
    let client = installed().plane.client().await.unwrap();
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("resource.k8s.io", "v1", "ResourceSlice"));
    let slices: Api<DynamicObject> = Api::all_with(client, &resource);
    let mut agreed = 0;
    for batch in samples(admitted(), CAPACITIES * DEVICES * 4).chunks(CAPACITIES * DEVICES) {
        let devices: Vec<_> = batch
            .chunks(CAPACITIES)
            .enumerate()
            .map(|(n, texts)| {
                let capacity: BTreeMap<_, _> = texts
                    .iter()
                    .enumerate()
                    .map(|(c, text)| (format!("c{c}"), json!({"value": text})))
                    .collect();
                json!({"name": format!("d{n}"), "capacity": capacity})
            })
            .collect();
        let slice = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "quantities"},
            "spec": {
                "driver": "quantities.example.com", "allNodes": true, "devices": devices,
                "pool": {"name": "quantities", "generation": 1, "resourceSliceCount": 1},
            },
        });
        let parameters = PostParams { dry_run: true, ..PostParams::default() };
        let created = slices.create(&parameters, &serde_json::from_value(slice).unwrap()).await.unwrap();
        for (n, text) in batch.iter().enumerate() {
            let (device, capacity) = (n / CAPACITIES, n % CAPACITIES);
            let theirs =
                &created.data["spec"]["devices"][device]["capacity"][format!("c{capacity}")]["value"];
            let ours: Quantity = text.parse().unwrap();
            // Beyond exa their printer drops the suffix, and with it the amount.
            if ours.bytes().unsigned_abs() >= i64::MAX.unsigned_abs() {
                continue;
            }
            // Some texts that are not canonical they keep as they are: leading zeros, a plus sign, 1.500.
            let kept = theirs == text && *theirs != json!(ours.to_string());
            assert!(
                kept || *theirs == json!(ours.to_string()),
                "{text} is {theirs} to them and {ours} to us"
            );
            agreed += usize::from(!kept);
        }
    }
    println!("{agreed} canonical forms agree");
    assert!(agreed > CAPACITIES * DEVICES * 2, "the samples are lopsided: {agreed}");
}
