//! Tests of what is built: names, owners, configuration, and what follows the pool.

mod affinity;
mod config;
mod members;
mod names;
mod secrets;
mod workloads;

use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use serde_json::{Value, json};

use super::config::MemberConfig;
use super::member::Target;
use super::{member, names as naming};

const AGENT_IMAGE: &str = "example.com/muster:1";

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn engine() -> ReplicationEngine {
    serde_yaml_ng::from_str(include_str!("../../../../api/tests/manifests/engine-ledger.yaml")).unwrap()
}

fn cluster() -> ReplicatedCluster {
    let mut cluster: ReplicatedCluster = read(json!({
        "apiVersion": "muster.dev/v1alpha1",
        "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": "shop", "uid": "1"},
        "spec": {"engine": {"name": "ledger"}, "pools": [
            {"name": "a", "zone": "z", "threshold": {"nodes": 2}, "storage": {"capacity": "10Gi"}},
        ]},
    }));
    cluster.metadata.generation = Some(1);
    cluster
}

fn config() -> MemberConfig {
    MemberConfig::of(&cluster(), &engine().spec, AGENT_IMAGE).unwrap()
}

fn target() -> Target {
    Target { version: "1.0".into(), config: config().name("orders").unwrap(), secrets_hash: None }
}

fn wanted() -> Member {
    let mut member = member::of_pool(&cluster(), &cluster().spec.pools[0], 0, &target());
    member.metadata.uid = Some("2".into());
    member
}
