//! One manifest: the schema first, then what needs other objects.

use k8s_openapi::NamespaceResourceScope;
use kube::api::Api;
use muster_api::names::{API_VERSION, GROUP};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::validation::{self, Report, schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::files::Document;
use super::lookup::Sources;
use super::report::Verdict;

/// The verdict; none on a kind that is not ours.
pub(crate) async fn check_one(document: &Document, sources: &Sources<'_>) -> Option<Verdict> {
    let api_version = document.text("/apiVersion").unwrap_or_default();
    let kind = document.text("/kind").unwrap_or_default();
    if api_version.split('/').next() != Some(GROUP) {
        return None;
    }
    let mut verdict = Verdict {
        source: document.source.clone(),
        kind: kind.to_owned(),
        name: document.text("/metadata/name").unwrap_or_default().to_owned(),
        ..Verdict::default()
    };
    if api_version != API_VERSION {
        verdict.violations.push(format!("apiVersion: {api_version:?} is not served, {API_VERSION:?} is"));
        return Some(verdict);
    }
    let namespace = sources.namespace_of(document);
    let old = live(kind, &verdict.name, &namespace, sources).await;
    let refusals = schema::refusals(kind, &document.value, old.as_ref());
    verdict.violations.extend(refusals.iter().map(ToString::to_string));
    // What the schema refuses cannot be trusted to mean what it says.
    if verdict.violations.is_empty() {
        match semantic(kind, document, &namespace, sources).await {
            Ok(report) => {
                verdict.violations.extend(report.violations.iter().map(ToString::to_string));
                verdict.not_checked.extend(report.unreadable);
            }
            Err(why) => verdict.violations.push(why),
        }
    }
    Some(verdict)
}

/// What the operator would find. The engine and other references of a kind come from where they can be had.
async fn semantic(
    kind: &str,
    document: &Document,
    namespace: &str,
    sources: &Sources<'_>,
) -> Result<Report, String> {
    Ok(match kind {
        "ReplicatedCluster" => {
            let cluster: ReplicatedCluster = typed(&document.value)?;
            let references = sources.of_cluster(&cluster, namespace).await;
            validation::check_cluster(&cluster, &references)
        }
        "Member" => {
            let member: Member = typed(&document.value)?;
            let references = sources.of_member(&member, namespace).await;
            validation::check_member(&member, &references)
        }
        "ReplicationEngine" => validation::check_engine(&typed::<ReplicationEngine>(&document.value)?),
        _ => Report::default(),
    })
}

fn typed<K: DeserializeOwned>(value: &Value) -> Result<K, String> {
    serde_json::from_value(value.clone()).map_err(|error| format!("it cannot be read: {error}"))
}

/// The object as it is now: some changes of it are refused.
async fn live(kind: &str, name: &str, namespace: &str, sources: &Sources<'_>) -> Option<Value> {
    let access = sources.access()?;
    if name.is_empty() {
        return None;
    }
    match kind {
        "ReplicatedCluster" => value::<ReplicatedCluster>(sources, namespace, name).await,
        "Member" => value::<Member>(sources, namespace, name).await,
        "ReplicationEngine" => {
            let api: Api<ReplicationEngine> = Api::all(access.client.clone());
            let found = access.call_opt("read the engine", api.get(name)).await.ok()??;
            serde_json::to_value(found).ok()
        }
        _ => None,
    }
}

async fn value<K>(sources: &Sources<'_>, namespace: &str, name: &str) -> Option<Value>
where
    K: kube::Resource<Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug
        + serde::Serialize,
    K::DynamicType: Default,
{
    let access = sources.access()?.within(namespace);
    let found = access.call_opt("read the object", access.api::<K>().get(name)).await.ok()??;
    serde_json::to_value(found).ok()
}
