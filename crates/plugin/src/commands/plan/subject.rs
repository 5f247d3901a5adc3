//! The cluster that is planned for: as it is, or as a manifest would make it.

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::API_VERSION;
use serde_json::Value;

use crate::access::Access;
use crate::commands::validate::files::Document;
use crate::error::Failure;

/// The cluster before and after.
pub(super) struct Subject {
    /// As it is stored; none where it does not exist.
    pub(super) before: Option<ReplicatedCluster>,
    /// As it is to be.
    pub(super) wanted: ReplicatedCluster,
    /// The manifest as it was written, where there is one.
    pub(super) written: Option<Value>,
}

impl Subject {
    /// As it is.
    pub(super) fn live(cluster: ReplicatedCluster) -> Self {
        Self { before: Some(cluster.clone()), wanted: cluster, written: None }
    }

    /// Its namespace.
    pub(super) fn namespace(&self, otherwise: &str) -> String {
        self.wanted.namespace().unwrap_or_else(|| otherwise.to_owned())
    }
}

/// As a manifest would make it.
pub(super) async fn from_file(access: &Access, documents: &[Document]) -> Result<Subject, Failure> {
    let is_cluster = |document: &&Document| {
        document.text("/kind") == Some("ReplicatedCluster")
            && document.text("/apiVersion") == Some(API_VERSION)
    };
    let mut clusters = documents.iter().filter(is_cluster);
    let (Some(document), None) = (clusters.next(), clusters.next()) else {
        return Err(Failure::Usage("plan takes a manifest with exactly one ReplicatedCluster".to_owned()));
    };
    let parsed = serde_json::from_value::<ReplicatedCluster>(document.value.clone());
    let mut wanted = parsed.map_err(|error| {
        let why = format!("it is no ReplicatedCluster: {error}; kubectl muster validate -f says more");
        Failure::File { file: document.source.clone(), why }
    })?;
    let namespace = wanted.namespace().unwrap_or_else(|| access.namespace.clone());
    let within = access.within(&namespace);
    let doing = format!("read ReplicatedCluster {:?} in namespace {namespace:?}", wanted.name_any());
    let before = within.call_opt(&doing, within.clusters().get(&wanted.name_any())).await?;
    let mut written = document.value.clone();
    match &before {
        Some(before) => {
            wanted.metadata = before.metadata.clone();
            wanted.status.clone_from(&before.status);
        }
        None => wanted.metadata.namespace = Some(namespace.clone()),
    }
    if let Some(metadata) = written.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
    Ok(Subject { before, wanted, written: Some(written) })
}
