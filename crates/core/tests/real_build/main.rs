//! Every object that is built is taken by a real kube-apiserver and by the embedded one, means there what it says, and a
//! second apply moves nothing.

#![cfg(test)]

#[allow(dead_code)] // shared with other tests, which use more of it
#[path = "../real_validation/chance.rs"]
mod chance;
#[path = "../build/fixtures.rs"]
mod fixtures;
#[path = "../real_validation/mutate.rs"]
mod mutate;
mod random;
#[allow(dead_code)] // shared with other tests, which use more of it
mod servers;

use muster_api::names::FIELD_MANAGER;
use muster_core::drift::differs;
use serde_json::Value;

use servers::{Server, version};

/// Every field that was meant stands in what was stored; lists are of equal length, because nobody else writes.
fn stands(meant: &Value, stored: &Value, at: &str) {
    match (meant, stored) {
        (Value::Object(meant), Value::Object(stored)) => {
            for (name, value) in meant {
                let at = format!("{at}.{name}");
                match stored.get(name) {
                    Some(there) => stands(value, there, &at),
                    None => panic!("{at} is not there"),
                }
            }
        }
        (Value::Array(meant), Value::Array(stored)) => {
            assert_eq!(meant.len(), stored.len(), "{at}");
            for (index, (value, there)) in meant.iter().zip(stored).enumerate() {
                stands(value, there, &format!("{at}[{index}]"));
            }
        }
        _ => assert_eq!(meant, stored, "{at}"),
    }
}

mod real_build {
    use super::*;

    #[tokio::test]
    async fn every_object_is_taken_and_a_second_apply_moves_nothing() {
        for server in Server::both("build").await {
            for member in [fixtures::by_hand(), fixtures::external()] {
                server.create(&serde_json::to_value(member).unwrap()).await.unwrap();
            }
            for built in fixtures::all() {
                let shown = format!("{} on {}", built.name, server.what);
                let first = server.apply(&built.object).await.unwrap_or_else(|e| panic!("{shown}: {e}"));
                let mut meant = built.object.clone();
                meant["metadata"]["namespace"] = first["metadata"]["namespace"].clone();
                stands(&meant, &first, &shown);
                let difference = differs(&built.object, &first, FIELD_MANAGER);
                assert_eq!(difference, None, "{shown}");
                let second = server.apply(&built.object).await.unwrap();
                let third = server.apply(&built.object).await.unwrap();
                assert_eq!(version(&second), version(&third), "{shown}");
                // A real server stores a claim anew at the first write after its creation, whatever is written: nothing
                // that can be read has changed then. After that it is as still as the others.
                let restless = server.what == "real" && built.object["kind"] == "PersistentVolumeClaim";
                assert!(restless || version(&first) == version(&second), "{shown}");
                let mut same = second.clone();
                same["metadata"]["resourceVersion"] = version(&first).into();
                assert_eq!(same, first, "{shown}");
            }
        }
    }

    /// How many pairs of a valid cluster and a valid engine are tried.
    const PAIRS: usize = 100;

    #[tokio::test]
    async fn what_is_valid_is_taken() {
        let servers = Server::both("random").await;
        let mut built = 0;
        for (seed, cluster, engine) in random::valid_pairs().take(PAIRS) {
            for object in fixtures::everything("random", &cluster, &engine) {
                for server in &servers {
                    let said = server.try_apply(&object.object).await;
                    let shown = format!("{} on {}, seed {seed}", object.name, server.what);
                    assert!(said.is_ok(), "{shown}: {}\n{}", said.unwrap_err(), object.object);
                    built += 1;
                }
            }
        }
        assert!(built > PAIRS * 20, "{built}");
    }

    /// What is built of resources that validation lets pass is taken, and of those that it refuses is not.
    #[tokio::test]
    async fn resources_get_the_same_verdict() {
        let servers = Server::both("resources").await;
        let mut engine = fixtures::engine();
        engine.spec.namespace_selector = None;
        let mut taken = 0;
        for resources in random::resources() {
            let mut cluster = fixtures::small();
            cluster.metadata.namespace = Some("resources".into());
            cluster.spec.pools[0].resources = Some(serde_json::from_value(resources.clone()).unwrap());
            let valid = random::is_valid(&cluster, &engine);
            let all = fixtures::everything("resources", &cluster, &engine);
            let workload = all.iter().find(|built| built.name.ends_with("-workload")).unwrap();
            for server in &servers {
                let said = server.try_apply(&workload.object).await;
                // The embedded server checks less of what it does not run.
                let lenient = server.what == "embedded" && said.is_ok();
                let shown = format!("{resources} on {}: {:?}", server.what, said.as_ref().err());
                assert!(said.is_ok() == valid || lenient, "{shown}");
            }
            taken += usize::from(valid);
        }
        assert!(taken > 20, "{taken}");
    }
}
