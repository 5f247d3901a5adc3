//! What is there: the Members, and the objects with the cluster's label.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use muster_api::Member;
use muster_api::names::LABEL_CLUSTER;
use muster_core::build::config::MemberConfig;
use serde_json::Value;

use super::subject::Subject;
use crate::access::Access;
use crate::error::Failure;

/// The kinds that Muster builds, with their groups and plurals.
const KINDS: [(&str, &str, &str); 6] = [
    ("", "Service", "services"),
    ("policy", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("apps", "Deployment", "deployments"),
    ("apps", "DaemonSet", "daemonsets"),
    ("apps", "StatefulSet", "statefulsets"),
    ("", "PersistentVolumeClaim", "persistentvolumeclaims"),
];

/// What is there.
pub(super) struct Live {
    pub(super) members: Vec<Member>,
    /// By kind and name.
    pub(super) objects: BTreeMap<(String, String), Value>,
    /// What members run with now, by the name of its ConfigMap.
    pub(super) configs: BTreeMap<String, MemberConfig>,
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
}

impl Live {
    pub(super) async fn gather(access: &Access, subject: &Subject) -> Result<Self, Failure> {
        let cluster = subject.wanted.name_any();
        let members = access.members_of(&cluster).await?;
        let only = ListParams::default().labels(&format!("{LABEL_CLUSTER}={cluster}"));
        let mut objects = BTreeMap::new();
        for (group, kind, plural) in KINDS {
            let resource = resource(group, kind, plural);
            let api: Api<DynamicObject> =
                Api::namespaced_with(access.client.clone(), &access.namespace, &resource);
            let doing = format!("list the {plural} of cluster {cluster:?}");
            for object in access.list(&doing, &api, only.clone()).await? {
                let name = object.name_any();
                let mut value = serde_json::to_value(object).unwrap_or_default();
                // Items of a list do not say what they are.
                value["apiVersion"] = resource.api_version.as_str().into();
                value["kind"] = kind.into();
                objects.insert((kind.to_owned(), name), value);
            }
        }
        let configs = configs(access, &cluster, only).await?;
        Ok(Self { members, objects, configs })
    }

    /// An object under this name, whosever it is.
    pub(super) async fn find(
        &self,
        access: &Access,
        kind: &str,
        name: &str,
    ) -> Result<Option<Value>, Failure> {
        if let Some(found) = self.objects.get(&(kind.to_owned(), name.to_owned())) {
            return Ok(Some(found.clone()));
        }
        let known =
            KINDS.iter().chain([&("", "ConfigMap", "configmaps")]).find(|(_, known, _)| *known == kind);
        let Some((group, kind, plural)) = known else { return Ok(None) };
        let resource = resource(group, kind, plural);
        let api: Api<DynamicObject> =
            Api::namespaced_with(access.client.clone(), &access.namespace, &resource);
        let doing = format!("read {kind} {name:?} in namespace {:?}", access.namespace);
        let found = access.call_opt(&doing, api.get(name)).await?;
        Ok(found.map(|object| serde_json::to_value(object).unwrap_or_default()))
    }

    /// The image that the agent is copied from, as the newest members have it. Only the operator knows it otherwise.
    pub(super) fn agent_image(&self) -> Option<String> {
        let workloads = self.members.iter().rev().filter_map(|member| member.spec.workload.as_ref());
        let config = workloads.into_iter().find_map(|workload| self.configs.get(&workload.config));
        config.or_else(|| self.configs.values().next()).map(|config| config.agent_image.clone())
    }
}

async fn configs(
    access: &Access,
    cluster: &str,
    only: ListParams,
) -> Result<BTreeMap<String, MemberConfig>, Failure> {
    let doing = format!("list the configmaps of cluster {cluster:?}");
    let list = access.list(&doing, &access.api::<ConfigMap>(), only).await?;
    let read = list.iter().filter_map(|map| Some((map.name_any(), MemberConfig::read(map).ok()?)));
    Ok(read.collect())
}
