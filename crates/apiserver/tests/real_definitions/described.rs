//! The definitions are those of the real server's API description.

use muster_apiserver::kind::built_in::{definitions, differences};
use serde_json::{Map, Value};

use crate::server;

#[tokio::test]
async fn the_data_says_how_a_real_server_differs() {
    let client = server::client().await;
    let index = server::get(&client, "/openapi/v3").await;
    let mut real = Map::new();
    for path in index["paths"].as_object().unwrap().keys().filter(|path| path.contains("/v")) {
        let document = server::get(&client, &format!("/openapi/v3/{path}")).await;
        real.extend(document["components"]["schemas"].as_object().cloned().unwrap_or_default());
    }
    let data = include_str!("../../src/kind/built_in/data/definitions.json");
    let data: Map<String, Value> = serde_json::from_str(data).unwrap();
    let wanted = differences(&real);
    let stale: Vec<_> =
        wanted.keys().chain(data.keys()).filter(|name| wanted.get(*name) != data.get(*name)).collect();
    assert!(stale.is_empty(), "run `cargo xtask definitions`: {stale:?}");
    let ours: Map<String, Value> = definitions();
    let left = differences_without(&real, &ours);
    assert!(left.is_empty(), "{left:?}");
}

/// The definitions that differ in more than words and order.
fn differences_without(real: &Map<String, Value>, ours: &Map<String, Value>) -> Vec<String> {
    let (real, ours) = (differences(real), differences(ours));
    real.keys()
        .chain(ours.keys())
        .filter(|name| real.contains_key(*name) && real.get(*name) != ours.get(*name))
        .cloned()
        .collect()
}
