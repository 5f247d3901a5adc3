//! Clusters, engines and Members to build from.

use muster_api::engine::DriverKind;
use muster_api::member::Workload;
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::build::config::MemberConfig;
use muster_core::build::drivers::DriverWorkload;
use muster_core::build::member::Target;
use muster_core::build::stateful_set::{self, Presence};
use muster_core::build::{self, claim, member, names, secrets};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The image of the agent.
pub(crate) const AGENT_IMAGE: &str = "example.com/muster:1.2.3";
/// Uids as they look.
const CLUSTER_UID: &str = "6a0c1a3e-5f0d-4d3c-9b6e-0c1f5a2b7d11";
const MEMBER_UID: &str = "b8f1d6aa-2b5e-4a54-8c0f-6f2f9a1f3c22";

fn read<T: DeserializeOwned>(manifest: &str) -> T {
    serde_yaml_ng::from_str(manifest).unwrap()
}

/// The least that makes a cluster.
pub(crate) fn small() -> ReplicatedCluster {
    stored(read(include_str!("../../../api/tests/manifests/cluster-small.yaml")))
}

/// A cluster with every field.
pub(crate) fn full() -> ReplicatedCluster {
    let mut cluster: ReplicatedCluster =
        stored(read(include_str!("../../../api/tests/manifests/cluster-galera.yaml")));
    cluster.spec.engine.version = Some("0.9".into());
    cluster.spec.engine.parameters = [("batch_size".to_owned(), "500".to_owned())].into();
    cluster.spec.pools[1].zone = None;
    cluster
}

fn stored(mut cluster: ReplicatedCluster) -> ReplicatedCluster {
    cluster.metadata.uid = Some(CLUSTER_UID.into());
    cluster
}

/// An engine with every field.
pub(crate) fn engine() -> ReplicationEngine {
    read(include_str!("../../../api/tests/manifests/engine-ledger.yaml"))
}

/// The same with its driver on every node.
pub(crate) fn engine_with_daemon() -> ReplicationEngine {
    let mut engine = engine();
    engine.spec.drivers[0].kind = DriverKind::DaemonSet;
    engine
}

/// A Member made by hand, with devices and a claim.
pub(crate) fn by_hand() -> Member {
    let mut member: Member = read(include_str!("../../../api/tests/manifests/member-devices.yaml"));
    member.spec.cluster_name = "orders".into();
    member.metadata.uid = Some(MEMBER_UID.into());
    member
}

/// A Member on a host of its own.
pub(crate) fn external() -> Member {
    let mut member: Member = read(include_str!("../../../api/tests/manifests/member-external.yaml"));
    member.metadata.uid = Some(MEMBER_UID.into());
    member
}

/// An object and the name of its golden file.
pub(crate) struct Built {
    pub(crate) name: String,
    pub(crate) object: Value,
}

/// An object as it is sent.
pub(crate) fn built<T: Serialize>(prefix: &str, name: &str, object: &T) -> Built {
    Built { name: format!("{prefix}-{name}"), object: serde_json::to_value(object).unwrap() }
}

/// What members of a cluster are to run.
pub(crate) fn target(cluster: &ReplicatedCluster, config: &MemberConfig) -> Target {
    Target {
        version: config.version.clone(),
        config: config.name(names::of_cluster(cluster)).unwrap(),
        secrets_hash: Some("0a1b2c3d".into()),
    }
}

/// The first Member of a pool, as it is once it is stored.
pub(crate) fn member_of(cluster: &ReplicatedCluster, config: &MemberConfig, pool: usize) -> Member {
    let mut member = member::of_pool(cluster, &cluster.spec.pools[pool], 0, &target(cluster, config));
    member.metadata.uid = Some(MEMBER_UID.into());
    member
}

/// All that a cluster and the first Member of each pool want.
pub(crate) fn everything(
    prefix: &str,
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngine,
) -> Vec<Built> {
    let children = build::cluster(cluster, &engine.spec, AGENT_IMAGE).unwrap();
    let [client, replicas, members] = &children.services;
    let mut all = vec![
        built(prefix, "config", &children.config_map),
        built(prefix, "client-service", client),
        built(prefix, "replicas-service", replicas),
        built(prefix, "members-service", members),
        built(prefix, "disruption", &children.disruption_budget),
    ];
    for driver in &children.drivers {
        all.push(match driver {
            DriverWorkload::Deployment(deployment) => built(prefix, "driver", deployment),
            DriverWorkload::DaemonSet(daemon_set) => built(prefix, "driver", daemon_set),
        });
    }
    for secret in &children.accounts {
        all.push(built(prefix, "account", &secrets::account(cluster, secret, &mut |bytes| bytes.fill(7))));
    }
    all.push(built(prefix, "agent-ca", &secrets::agent_ca(cluster, "certificate", "key", b"hash")));
    for index in 0..cluster.spec.pools.len() {
        let wanted =
            member::of_pool(cluster, &cluster.spec.pools[index], 0, &target(cluster, &children.config));
        let member = member_of(cluster, &children.config, index);
        let pool = &cluster.spec.pools[index].name;
        let set = stateful_set::of_member(&member, &children.config, Presence::Running).unwrap();
        all.push(built(prefix, &format!("{pool}-member"), &wanted));
        all.push(built(prefix, &format!("{pool}-claim"), &claim::of_member(&member, None).unwrap()));
        all.push(built(prefix, &format!("{pool}-workload"), &set));
        let secret = secrets::agent(&member, "ca", "certificate", "key");
        all.push(built(prefix, &format!("{pool}-agent"), &secret));
    }
    all
}

/// What is applied to a Member made by hand, and its workload.
pub(crate) fn made_by_hand(
    prefix: &str,
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngine,
    mut member: Member,
) -> Vec<Built> {
    let config = MemberConfig::of(cluster, &engine.spec, AGENT_IMAGE).unwrap();
    let pool = cluster.spec.pools.iter().find(|pool| pool.name == member.spec.pool);
    let workload: Workload = member::workload_by_hand(pool, &target(cluster, &config));
    let mut all = vec![built(prefix, "member", &member::by_hand(&member, &workload))];
    member.spec.workload = Some(workload);
    if let Ok(set) = stateful_set::of_member(&member, &config, Presence::Parked) {
        all.push(built(prefix, "workload", &set));
    }
    all
}

/// Every fixture.
pub(crate) fn all() -> Vec<Built> {
    let mut all = everything("small", &small(), &engine());
    all.extend(everything("full", &full(), &engine()));
    let mut with_daemon = full();
    with_daemon.metadata.name = Some("daemon".into());
    let driver = |built: &Built| built.name.ends_with("-driver");
    all.extend(everything("daemon", &with_daemon, &engine_with_daemon()).into_iter().filter(driver));
    all.extend(made_by_hand("hand", &full(), &engine(), by_hand()));
    all.extend(made_by_hand("external", &full(), &engine(), external()));
    all
}
