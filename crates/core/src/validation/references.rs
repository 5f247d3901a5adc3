//! The half of validation that needs other objects: does what a spec names exist, and does it allow what is
//! asked?

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use muster_api::common::SecretReference;
use muster_api::engine::ReplicationEngineSpec;
use muster_api::{Member, ReplicatedCluster};

use super::{Path, Report, certificate, engine};
use crate::build::BuildError;
use crate::build::config::MemberConfig;
use crate::scaling::Threshold;

/// What became of a look at another object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<T> {
    /// It exists.
    Found(T),
    /// It does not exist.
    NotFound,
    /// It could not be read, and why.
    Unreadable(String),
}

/// What is known of a Secret; never its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretFacts {
    /// Its keys.
    pub keys: BTreeSet<String>,
    /// Its `tls.crt` is a certificate that may sign others.
    pub holds_ca: bool,
}

impl SecretFacts {
    /// What is known of a Secret with this data.
    pub fn of<'a>(data: impl IntoIterator<Item = (&'a String, &'a [u8])>) -> Self {
        let mut facts = Self::default();
        for (key, value) in data {
            facts.holds_ca |= key == CA_KEY && certificate::is_authority(value);
            facts.keys.insert(key.clone());
        }
        facts
    }
}

/// What a cluster refers to. Whatever is not in here was not looked at, and so could not be read.
#[derive(Clone, Debug)]
pub struct ClusterReferences {
    /// The ReplicationEngine.
    pub engine: Lookup<ReplicationEngineSpec>,
    /// The labels of the cluster's namespace.
    pub namespace_labels: Lookup<BTreeMap<String, String>>,
    /// Storage classes, by name.
    pub storage_classes: BTreeMap<String, Lookup<()>>,
    /// Whether there is a default storage class.
    pub default_storage_class: Lookup<()>,
    /// Secrets in the cluster's namespace, by name.
    pub secrets: BTreeMap<String, Lookup<SecretFacts>>,
}

/// What a Member refers to.
#[derive(Clone, Debug)]
pub struct MemberReferences {
    /// The ReplicatedCluster, in the Member's namespace.
    pub cluster: Lookup<()>,
    /// Secrets in the Member's namespace, by name.
    pub secrets: BTreeMap<String, Lookup<SecretFacts>>,
}

/// The keys of a Secret to speak with an agent.
const AGENT_KEYS: [&str; 3] = ["ca.crt", "tls.crt", "tls.key"];
/// The certificate in a Secret that holds a CA.
const CA_KEY: &str = "tls.crt";

pub(super) fn cluster(cluster: &ReplicatedCluster, references: &ClusterReferences, report: &mut Report) {
    let spec = Path::root("spec");
    let named = spec.field("engine").field("name");
    match &references.engine {
        Lookup::Found(engine) => with_engine(cluster, engine, references, report),
        Lookup::NotFound => {
            report.refuse(&named, format!("there is no ReplicationEngine {:?}", cluster.spec.engine.name));
        }
        Lookup::Unreadable(why) => {
            report
                .unreadable
                .push(format!("{named}: ReplicationEngine {:?}: {why}", cluster.spec.engine.name));
        }
    }
    for (index, pool) in cluster.spec.pools.iter().enumerate() {
        let path = spec.field("pools").index(index).field("storage").field("storageClassName");
        storage_class(pool.storage.storage_class_name.as_deref(), references, &path, report);
    }
    if let Some(reference) = &cluster.spec.certificate_authority {
        let path = spec.field("certificateAuthority").field("secretName");
        if let Some(facts) = secret(reference, &references.secrets, &[CA_KEY], &path, report)
            && facts.keys.contains(CA_KEY)
            && !facts.holds_ca
        {
            report.refuse(
                &path,
                format!("tls.crt in Secret {:?} is not a CA certificate", reference.secret_name),
            );
        }
    }
    if let Some(replication) = &cluster.spec.replication {
        let path = spec.field("replication");
        if let Some(reference) = &replication.credentials {
            let path = path.field("credentials").field("secretName");
            secret(reference, &references.secrets, &[], &path, report);
        }
        for (index, target) in replication.targets.iter().enumerate() {
            if let Some(reference) = &target.credentials {
                let path = path.field("targets").index(index).field("credentials").field("secretName");
                secret(reference, &references.secrets, &[], &path, report);
            }
        }
    }
}

pub(super) fn member(member: &Member, references: &MemberReferences, report: &mut Report) {
    let spec = Path::root("spec");
    let path = spec.field("clusterName");
    let name = &member.spec.cluster_name;
    match &references.cluster {
        Lookup::Found(()) => {}
        Lookup::NotFound => {
            report.refuse(&path, format!("there is no ReplicatedCluster {name:?} in this namespace"));
        }
        Lookup::Unreadable(why) => {
            report.unreadable.push(format!("{path}: ReplicatedCluster {name:?}: {why}"));
        }
    }
    if let Some(external) = &member.spec.external {
        let path = spec.field("external").field("credentials").field("secretName");
        secret(&external.credentials, &references.secrets, &AGENT_KEYS, &path, report);
    }
}

/// What the engine says about the cluster's choices.
fn with_engine(
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngineSpec,
    references: &ClusterReferences,
    report: &mut Report,
) {
    let spec = Path::root("spec");
    let chosen = &cluster.spec.engine;
    let at = spec.field("engine");
    if let Some(first) = engine::violations(engine).first() {
        report
            .refuse(&at.field("name"), format!("ReplicationEngine {:?} is not valid: {first}", chosen.name));
    }
    namespace(engine, references, &at.field("name"), &chosen.name, report);
    if let Some(version) = &chosen.version
        && !engine.versions.iter().any(|v| v.version == *version)
    {
        let known: Vec<&str> = engine.versions.iter().map(|v| v.version.as_str()).collect();
        let known = crate::conditions::names(&known);
        report.refuse(
            &at.field("version"),
            format!("{version:?} is not one of the engine's versions: {known}"),
        );
    }
    for (name, value) in &chosen.parameters {
        let path = at.field("parameters").key(name);
        match engine.parameters.iter().find(|p| p.name == *name) {
            None => report.refuse(&path, "the engine has no such parameter"),
            Some(parameter) => {
                if let Some(pattern) = parameter.pattern.as_deref().filter(|p| !engine::matches(p, value)) {
                    report.refuse(&path, format!("{value:?} does not match {pattern:?}"));
                }
            }
        }
    }
    if let (Some(wanted), Some(most)) = (cluster.spec.primaries, engine.topology.max_primaries)
        && wanted > most
    {
        report.refuse(&spec.field("primaries"), format!("the engine allows at most {most}"));
    }
    let most: i64 = cluster.spec.pools.iter().map(|pool| i64::from(pool.threshold.most())).sum();
    let parked = cluster.spec.pools.iter().all(|pool| Threshold::from(&pool.threshold).is_zero());
    let fewest = engine.topology.min_members;
    if !parked && most < i64::from(fewest) {
        let text = format!("the engine needs at least {fewest} members, and these pools come to {most}");
        report.refuse(&spec.field("pools"), text);
    }
    if let Err(BuildError::TooLarge(size)) = MemberConfig::check_size(cluster, engine) {
        report.refuse(&at.field("parameters"), BuildError::TooLarge(size).to_string());
    }
    for (index, driver) in cluster.spec.drivers.iter().enumerate() {
        if !engine.drivers.iter().any(|d| d.name == driver.name) {
            let path = spec.field("drivers").index(index).field("name");
            report.refuse(&path, format!("the engine has no driver {:?}", driver.name));
        }
    }
}

fn namespace(
    engine: &ReplicationEngineSpec,
    references: &ClusterReferences,
    path: &Path,
    name: &str,
    report: &mut Report,
) {
    let Some(selector) = &engine.namespace_selector else { return };
    match &references.namespace_labels {
        Lookup::Found(labels) if selects(selector, labels) => {}
        Lookup::Found(_) | Lookup::NotFound => {
            report.refuse(path, format!("ReplicationEngine {name:?} may not be used in this namespace"));
        }
        Lookup::Unreadable(why) => report.unreadable.push(format!("{path}: the namespace: {why}")),
    }
}

/// Whether labels meet a selector. An operator that is not known selects nothing.
fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let equal = selector.match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    let expressions = selector.match_expressions.iter().flatten().all(|expression| {
        let value = labels.get(&expression.key);
        let listed = value.is_some_and(|v| expression.values.iter().flatten().any(|one| one == v));
        match expression.operator.as_str() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    });
    equal && expressions
}

fn storage_class(name: Option<&str>, references: &ClusterReferences, path: &Path, report: &mut Report) {
    let Some(name) = name else {
        match &references.default_storage_class {
            Lookup::Found(()) => {}
            Lookup::NotFound => report.refuse(path, "there is no default StorageClass: name one"),
            Lookup::Unreadable(why) => {
                report.unreadable.push(format!("{path}: the default StorageClass: {why}"));
            }
        }
        return;
    };
    match references.storage_classes.get(name) {
        Some(Lookup::Found(())) => {}
        Some(Lookup::NotFound) => report.refuse(path, format!("there is no StorageClass {name:?}")),
        Some(Lookup::Unreadable(why)) => {
            report.unreadable.push(format!("{path}: StorageClass {name:?}: {why}"));
        }
        None => report.unreadable.push(format!("{path}: StorageClass {name:?}: it was not looked at")),
    }
}

/// Checks that a Secret exists and has the keys; the facts, if it does exist.
fn secret<'a>(
    reference: &SecretReference,
    secrets: &'a BTreeMap<String, Lookup<SecretFacts>>,
    keys: &[&str],
    path: &Path,
    report: &mut Report,
) -> Option<&'a SecretFacts> {
    let name = &reference.secret_name;
    match secrets.get(name) {
        Some(Lookup::Found(facts)) => {
            for key in keys.iter().filter(|key| !facts.keys.contains(**key)) {
                report.refuse(path, format!("Secret {name:?} has no key {key}"));
            }
            return Some(facts);
        }
        Some(Lookup::NotFound) => {
            report.refuse(path, format!("there is no Secret {name:?} in this namespace"));
        }
        Some(Lookup::Unreadable(why)) => report.unreadable.push(format!("{path}: Secret {name:?}: {why}")),
        None => report.unreadable.push(format!("{path}: Secret {name:?}: it was not looked at")),
    }
    None
}
