//! Plays histories on both servers and compares.

use std::time::Duration;

use kube::Client;
use muster_apiserver::server::Server;
use muster_test_control_plane::ControlPlane;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::normal::difference;
use crate::operation::{Kind, Operation};
use crate::side::Side;

/// How many operations make a history.
const OPERATIONS: usize = 400;
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

async fn play(seed: u64) {
    let namespace = format!("history-{seed}");
    let real = ControlPlane::shared().unwrap().client().await.unwrap();
    let ours = Client::new(Server::builder().build().await, "default");
    define(&real).await;
    define(&ours).await;
    let mut sides = [Side::new(real, &namespace).await, Side::new(ours, &namespace).await];
    let mut chance = StdRng::seed_from_u64(seed);
    let mut starts = Vec::new();
    for index in 0..OPERATIONS {
        if index % 100 == 0 {
            // Watches are begun from here on, later: what they then tell is what happened since.
            let mut versions = Vec::new();
            for side in &sides {
                versions.push([side.version(Kind::Widget).await, side.version(Kind::ConfigMap).await]);
            }
            starts.push(versions);
        }
        let operation = Operation::random(&mut chance);
        let real = sides[0].play(&operation).await;
        let ours = sides[1].play(&operation).await;
        let same = real == ours;
        assert!(same, "seed {seed}, operation {index}: {operation:#?}\n{}", difference(&real, &ours));
    }
    for (which, kind) in [Kind::Widget, Kind::ConfigMap].into_iter().enumerate() {
        for side in &sides {
            side.end(kind, "last").await;
        }
        for (number, versions) in starts.iter().enumerate() {
            let real = sides[0].history(kind, &versions[0][which], "last").await;
            let ours = sides[1].history(kind, &versions[1][which], "last").await;
            assert_eq!(real.len(), ours.len(), "seed {seed}, watch {number} of {kind:?}");
            for (real, ours) in real.iter().zip(&ours) {
                assert!(real == ours, "seed {seed}, watch {number} of {kind:?}: {}", difference(real, ours));
            }
        }
    }
}

#[tokio::test]
async fn real_histories_are_the_same_on_both_servers() {
    let seeds: Vec<u64> = match std::env::var("MUSTER_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=8).collect(),
    };
    for seed in seeds {
        play(seed).await;
    }
}
