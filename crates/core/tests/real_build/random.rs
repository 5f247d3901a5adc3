//! Random clusters and engines that pass every check.

use std::collections::{BTreeMap, BTreeSet};

use muster_api::{ReplicatedCluster, ReplicationEngine};
use muster_core::build::config::MemberConfig;
use muster_core::validation::references::{ClusterReferences, Lookup, SecretFacts};
use muster_core::validation::schema::refusals;
use muster_core::validation::{check_cluster, check_engine};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::fixtures;
use crate::mutate::Mutator;

/// Pairs of a cluster and an engine, with the seed that made them.
pub(crate) fn valid_pairs() -> impl Iterator<Item = (u64, ReplicatedCluster, ReplicationEngine)> {
    let (engines, clusters) = (Mutator::of("ReplicationEngine"), Mutator::of("ReplicatedCluster"));
    (0..).filter_map(move |seed| {
        let mut chance = Chance::new(seed);
        let mut engine = fixtures::engine();
        engine.spec.namespace_selector = None;
        let engine: ReplicationEngine = changed(&engine, "ReplicationEngine", &engines, &mut chance)?;
        let of_cluster = if chance.one_in(2) { fixtures::small() } else { fixtures::full() };
        let cluster: ReplicatedCluster = changed(&of_cluster, "ReplicatedCluster", &clusters, &mut chance)?;
        let valid = check_engine(&engine).is_valid() && is_valid(&cluster, &engine);
        let fits =
            || MemberConfig::of(&cluster, &engine.spec, "x").is_ok_and(|config| config.name("x").is_ok());
        (valid && fits()).then_some((seed, cluster, engine))
    })
}

/// Most changes of one object, and one more.
const CHANGES: usize = 8;

/// A few random changes that the CRD lets through.
fn changed<T: Serialize + DeserializeOwned>(
    object: &T,
    kind: &str,
    mutator: &Mutator,
    chance: &mut Chance,
) -> Option<T> {
    let mut object = serde_json::to_value(object).unwrap();
    for _ in 0..chance.below(CHANGES) {
        let before: Value = object.clone();
        mutator.change(&mut object, chance);
        if !refusals(kind, &object, None).is_empty() {
            object = before;
        }
    }
    serde_json::from_value(object).ok()
}

/// What a container may ask for, right and wrong: each name alone and with others, as a request, a limit, or both.
pub(crate) fn resources() -> Vec<Value> {
    let amounts = [
        ("cpu", "100m"),
        ("memory", "1Gi"),
        ("memory", "500m"),
        ("ephemeral-storage", "1"),
        ("hugepages-2Mi", "4Mi"),
        ("hugepages-2Mi", "3Mi"),
        ("hugepages-2Mi", "0"),
        ("hugepages-x", "2Mi"),
        ("hugepages-", "2Mi"),
        ("example.com/gpu", "1"),
        ("example.com/gpu", "500m"),
        ("example.com/gpu", "0"),
        ("kubernetes.io/gpu", "1"),
        ("a.kubernetes.io/gpu", "1"),
        ("requests.example.com/gpu", "1"),
        ("example.com/", "1"),
        ("gpu", "1"),
        ("storage", "1Gi"),
        ("pods", "1"),
    ];
    let mut all = Vec::new();
    for (name, amount) in amounts {
        all.push(json!({"requests": {name: amount}}));
        all.push(json!({"limits": {name: amount}}));
        all.push(json!({"requests": {name: amount}, "limits": {name: amount}}));
        all.push(json!({"requests": {name: amount, "cpu": "1"}, "limits": {name: amount}}));
        all.push(json!({"requests": {name: amount}, "limits": {name: "8Mi", "cpu": "1"}}));
        all.push(json!({"limits": {name: amount, "memory": "1Gi"}}));
    }
    all
}

pub(crate) fn is_valid(cluster: &ReplicatedCluster, engine: &ReplicationEngine) -> bool {
    let pools = cluster.spec.pools.iter();
    let classes = pools.filter_map(|pool| pool.storage.storage_class_name.clone());
    let facts = SecretFacts { keys: BTreeSet::from(["tls.crt".to_owned()]), holds_ca: true };
    let secrets = muster_core::build::secrets::used_by_members(cluster, &engine.spec);
    let references = ClusterReferences {
        engine: Lookup::Found(engine.spec.clone()),
        namespace_labels: Lookup::Found(BTreeMap::new()),
        storage_classes: classes.map(|name| (name, Lookup::Found(()))).collect(),
        default_storage_class: Lookup::Found(()),
        secrets: secrets.into_iter().map(|name| (name, Lookup::Found(facts.clone()))).collect(),
    };
    check_cluster(cluster, &references).is_valid()
}
