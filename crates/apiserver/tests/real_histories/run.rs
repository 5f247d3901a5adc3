//! Plays histories on both servers and compares.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube::Client;
use muster_apiserver::server::Server;
use muster_test_control_plane::ControlPlane;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{ProptestConfig, Strategy, any};
use proptest::test_runner::TestRunner;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::normal::difference;
use crate::operation::{Kind, Operation};
use crate::side::Side;

/// How many histories are played.
const HISTORIES: u32 = 8;
/// How many operations each of them could have.
const LONGEST: usize = 800;
/// How many are to be played in all, at least.
const THOUSANDS: usize = 2_000;
/// How often a history that fails is made shorter: each try takes as long as what is left of it.
const SHORTER: u32 = 200;
/// How long a new definition may take to be served.
const SERVED_WITHIN: Duration = Duration::from_secs(30);

fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "default": 1, "minimum": 0},
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
        }, "x-kubernetes-validations": [{"rule": "self.size < 4 || oldSelf.size >= 2", "message": "grows slowly"}]},
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}, "size": {"type": "integer"}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.histories.muster.dev"},
        "spec": {
            "group": "histories.muster.dev", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }],
        },
    })
}

/// Defines widgets, and waits until they are served.
async fn define(client: &Client) {
    let request = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    let request =
        request.header("content-type", "application/json").body(definition().to_string().into_bytes());
    match client.request::<Value>(request.unwrap()).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => drop(other.unwrap()),
    }
    let served = async {
        loop {
            let request =
                http::Request::get("/apis/histories.muster.dev/v1/widgets").body(Vec::new()).unwrap();
            if client.request::<Value>(request).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(SERVED_WITHIN, served).await.expect("widgets are served");
}

/// Plays this history on both, in a namespace that no other one had.
async fn play(operations: &[Operation]) {
    static PLAYED: AtomicUsize = AtomicUsize::new(0);
    let namespace = format!("history-{}", PLAYED.fetch_add(1, Ordering::Relaxed));
    let real = ControlPlane::shared().unwrap().client().await.unwrap();
    let ours = Client::new(Server::builder().build().await, "default");
    define(&real).await;
    define(&ours).await;
    let mut sides = [Side::new(real, &namespace).await, Side::new(ours, &namespace).await];
    let mut starts = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        if index % 100 == 0 {
            // Watches are begun from here on, later: what they then tell is what happened since.
            let mut versions = Vec::new();
            for side in &sides {
                versions.push([side.version(Kind::Widget).await, side.version(Kind::ConfigMap).await]);
            }
            starts.push(versions);
        }
        let real = sides[0].play(operation).await;
        let ours = sides[1].play(operation).await;
        assert!(real == ours, "operation {index}: {operation:#?}\n{}", difference(&real, &ours));
    }
    for (which, kind) in [Kind::Widget, Kind::ConfigMap].into_iter().enumerate() {
        for side in &sides {
            side.end(kind, "last").await;
        }
        for (number, versions) in starts.iter().enumerate() {
            let real = sides[0].history(kind, &versions[0][which], "last").await;
            let ours = sides[1].history(kind, &versions[1][which], "last").await;
            let what = format!("watch {number} of {kind:?}");
            assert_eq!(real.len(), ours.len(), "{what}");
            for (real, ours) in real.iter().zip(&ours) {
                assert!(real == ours, "{what}: {}", difference(real, ours));
            }
        }
    }
}

/// Any history: about half of the longest, never so short that all together would say nothing. One that fails is made
/// shorter, operation by operation.
fn histories() -> impl Strategy<Value = Vec<Operation>> {
    let operation = any::<u64>().no_shrink();
    let operation = operation.prop_map(|chance| Operation::random(&mut StdRng::seed_from_u64(chance)));
    vec(option::of(operation), LONGEST).prop_map(|played| played.into_iter().flatten().collect())
}

/// `PROPTEST_RNG_SEED=N` plays others, `PROPTEST_CASES=N` more of them.
#[test]
fn real_histories_are_the_same_on_both_servers() {
    let asked = std::env::var("PROPTEST_CASES").ok().map(|text| text.parse().unwrap());
    let config = ProptestConfig {
        cases: asked.unwrap_or(HISTORIES),
        max_shrink_iters: SHORTER,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let played = AtomicUsize::new(0);
    let same = TestRunner::new(config).run(&histories(), |operations| {
        played.fetch_add(operations.len(), Ordering::Relaxed);
        runtime.block_on(play(&operations));
        Ok(())
    });
    same.unwrap_or_else(|difference| panic!("{difference}"));
    let played = played.into_inner();
    println!("{played} operations");
    assert!(played >= THOUSANDS, "{played} operations are too few to say anything");
}
