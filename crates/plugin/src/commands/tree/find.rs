//! Finding the objects: those with the cluster's label, of every kind that Muster or Kubernetes makes for it. Of what may
//! hold secrets only the metadata is asked for: nobody needs to see what is in them.

use futures::future::join_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::core::PartialObjectMeta;
use kube::{Resource, ResourceExt};
use muster_api::ReplicatedCluster;
use muster_api::names::{API_VERSION, LABEL_CLUSTER};
use serde::Serialize;
use serde_json::Value;

use super::readiness::{Readiness, readiness};
use crate::access::Access;
use crate::error::Failure;

/// A kind that is looked for.
struct Sort {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    metadata_only: bool,
}

const fn kind(group: &'static str, version: &'static str, kind: &'static str, plural: &'static str) -> Sort {
    Sort { group, version, kind, plural, metadata_only: false }
}

const fn sealed(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
) -> Sort {
    Sort { group, version, kind, plural, metadata_only: true }
}

/// In the order in which children of one parent are shown.
const KINDS: [Sort; 12] = [
    kind("muster.dev", "v1alpha1", "Member", "members"),
    kind("apps", "v1", "StatefulSet", "statefulsets"),
    kind("apps", "v1", "Deployment", "deployments"),
    kind("apps", "v1", "DaemonSet", "daemonsets"),
    kind("apps", "v1", "ReplicaSet", "replicasets"),
    kind("", "v1", "Pod", "pods"),
    kind("", "v1", "Service", "services"),
    sealed("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
    kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    sealed("", "v1", "ConfigMap", "configmaps"),
    sealed("", "v1", "Secret", "secrets"),
    kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
];

/// One object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// The uids of those that own it.
    pub(super) owners: Vec<String>,
    pub(super) generation: Option<i64>,
    #[serde(flatten)]
    pub(super) readiness: Readiness,
}

/// All that was found, the cluster first, and the kinds that could not be looked at.
pub(super) struct Objects {
    pub(super) objects: Vec<Found>,
    pub(super) hidden: Vec<(&'static str, String)>,
}

/// Looks for everything.
pub(super) async fn find(access: &Access, cluster: &ReplicatedCluster) -> Result<Objects, Failure> {
    let mut objects = vec![root(cluster)?];
    let mut hidden = Vec::new();
    let name = cluster.name_any();
    let lists = join_all(KINDS.iter().map(|kind| list(access, kind, &name))).await;
    for (kind, list) in KINDS.iter().zip(lists) {
        match list {
            Ok(found) => objects.extend(found),
            // A server need not have every kind.
            Err(Failure::NoSuchKind { .. }) => {}
            Err(failure @ Failure::Unreachable { .. }) => return Err(failure),
            Err(failure) => hidden.push((kind.kind, failure.to_string())),
        }
    }
    Ok(Objects { objects, hidden })
}

fn root(cluster: &ReplicatedCluster) -> Result<Found, Failure> {
    let value = serde_json::to_value(cluster);
    let value = value
        .map_err(|error| Failure::Call { doing: "read the cluster".to_owned(), why: error.to_string() })?;
    Ok(found("ReplicatedCluster", API_VERSION, cluster, &value))
}

async fn list(access: &Access, kind: &Sort, cluster: &str) -> Result<Vec<Found>, Failure> {
    let gvk = GroupVersionKind::gvk(kind.group, kind.version, kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
    let api: Api<DynamicObject> = Api::namespaced_with(access.client.clone(), &access.namespace, &resource);
    let doing = format!("list {} of cluster {cluster:?} in namespace {:?}", kind.plural, access.namespace);
    // A Member made by hand may lack the label, but never the name of its cluster.
    let only = match kind.kind {
        "Member" => ListParams::default().fields(&format!("spec.clusterName={cluster}")),
        _ => ListParams::default().labels(&format!("{LABEL_CLUSTER}={cluster}")),
    };
    let api_version = resource.api_version.as_str();
    if kind.metadata_only {
        let list = access.call(&doing, api.list_metadata(&only)).await?;
        let each =
            |object: &PartialObjectMeta<DynamicObject>| found(kind.kind, api_version, object, &Value::Null);
        return Ok(list.items.iter().map(each).collect());
    }
    let list = access.list(&doing, &api, only).await?;
    let each = |object: &DynamicObject| {
        let value = serde_json::to_value(object).unwrap_or_default();
        found(kind.kind, api_version, object, &value)
    };
    Ok(list.iter().map(each).collect())
}

fn found<K: ResourceExt + Resource>(kind: &str, api_version: &str, object: &K, value: &Value) -> Found {
    Found {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: object.name_any(),
        uid: object.uid().unwrap_or_default(),
        owners: object.owner_references().iter().map(|owner: &OwnerReference| owner.uid.clone()).collect(),
        generation: object.meta().generation,
        readiness: readiness(kind, value),
    }
}
