//! Tests of what needs other objects, of what a Pod would be refused for, and of the words.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeAffinity, Toleration};
use muster_api::engine::ReplicationEngineSpec;
use serde_json::{Value, json};

use super::references::{Lookup, SecretFacts};
use super::*;
use crate::conditions::Truth;

mod clusters;
mod engines;
mod members;
mod pods;
mod words;

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn engine() -> Value {
    let manifest = include_str!("../../../../api/tests/manifests/engine-ledger.yaml");
    serde_yaml_ng::from_str::<Value>(manifest).unwrap()["spec"].take()
}

fn cluster() -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1",
        "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": "shop"},
        "spec": {
            "engine": {"name": "ledger", "version": "1.0", "parameters": {"batch_size": "50"}},
            "primaries": 1,
            "pools": [
                {"name": "a", "threshold": {"nodes": 2}, "storage": {"capacity": "10Gi", "storageClassName": "fast"}},
                {"name": "b", "threshold": {"minNodes": 1}, "storage": {"capacity": "10Gi"}},
            ],
            "drivers": [{"name": "exporter"}],
            "certificateAuthority": {"secretName": "ca"},
            "replication": {
                "credentials": {"secretName": "replication"},
                "targets": [{"name": "far", "addresses": ["far"], "credentials": {"secretName": "far"}}],
            },
        },
    })
}

fn found(keys: &[&str], holds_ca: bool) -> Lookup<SecretFacts> {
    Lookup::Found(SecretFacts { keys: keys.iter().map(|key| (*key).to_owned()).collect(), holds_ca })
}

fn references() -> ClusterReferences {
    ClusterReferences {
        engine: Lookup::Found(read(engine())),
        namespace_labels: Lookup::Found([("ledger".to_owned(), "allowed".to_owned())].into()),
        storage_classes: [("fast".to_owned(), Lookup::Found(()))].into(),
        default_storage_class: Lookup::Found(()),
        secrets: [
            ("ca".to_owned(), found(&["tls.crt"], true)),
            ("replication".to_owned(), found(&[], false)),
            ("far".to_owned(), found(&[], false)),
        ]
        .into(),
    }
}

fn texts(report: &Report) -> Vec<String> {
    report.violations.iter().map(ToString::to_string).collect()
}

/// What is said about a cluster in which one value was put somewhere.
fn with(pointer: &str, value: Value) -> Vec<String> {
    let mut object = cluster();
    *object.pointer_mut(pointer).unwrap() = value;
    texts(&check_cluster(&read(object), &references()))
}

/// What is said where one reference is another.
fn where_is(change: impl Fn(&mut ClusterReferences)) -> Report {
    let mut references = references();
    change(&mut references);
    check_cluster(&read(cluster()), &references)
}

fn unreadable<T>() -> Lookup<T> {
    Lookup::Unreadable("forbidden".into())
}
