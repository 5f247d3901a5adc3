//! Where references are looked for: among the manifests themselves, then in the cluster.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::build::secrets::named_by;
use muster_core::validation::references::{ClusterReferences, Lookup, MemberReferences, SecretFacts};
use serde::de::DeserializeOwned;

use super::files::Document;
use crate::access::Access;
use crate::error::Failure;
use crate::session::Session;

/// The mark of the default among storage classes.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Where references are looked for.
pub(crate) struct Sources<'a> {
    given: &'a [Document],
    cluster: Result<Access, String>,
    namespace: String,
}

impl<'a> Sources<'a> {
    /// The manifests, and the cluster if it may and can be asked.
    pub(crate) async fn new(session: &Session, offline: bool, given: &'a [Document]) -> Self {
        let asked = session.flags.namespace.clone();
        if offline {
            let namespace = asked.unwrap_or_else(|| "default".to_owned());
            return Self { given, cluster: Err("--offline was given".to_owned()), namespace };
        }
        let cluster = match session.access().await {
            Ok(access) => {
                let answer = access.call("ask for its version", access.client.apiserver_version()).await;
                answer.map(|_| access)
            }
            Err(failure) => Err(failure),
        };
        let namespace = cluster.as_ref().map(|access| access.namespace.clone()).ok().or(asked);
        let namespace = namespace.unwrap_or_else(|| "default".to_owned());
        Self { given, cluster: cluster.map_err(|failure: Failure| failure.to_string()), namespace }
    }

    /// A cluster that is known to answer.
    pub(crate) fn of(access: &Access, given: &'a [Document]) -> Self {
        Self { given, cluster: Ok(access.clone()), namespace: access.namespace.clone() }
    }

    /// The cluster, if it can be asked.
    pub(crate) fn access(&self) -> Option<&Access> {
        self.cluster.as_ref().ok()
    }

    /// Why no cluster is asked.
    pub(crate) fn unasked(&self) -> Option<&str> {
        self.cluster.as_ref().err().map(String::as_str)
    }

    /// The namespace that a manifest goes to.
    pub(crate) fn namespace_of(&self, document: &Document) -> String {
        document.text("/metadata/namespace").unwrap_or(&self.namespace).to_owned()
    }

    /// What a cluster refers to.
    pub(crate) async fn of_cluster(&self, cluster: &ReplicatedCluster, namespace: &str) -> ClusterReferences {
        let engine = self.given::<ReplicationEngine>("ReplicationEngine", None, &cluster.spec.engine.name);
        let engine = match engine {
            Some(engine) => Ok(Some(engine)),
            None => self.get_all::<ReplicationEngine>(&cluster.spec.engine.name).await,
        };
        let labels = match self.given::<Namespace>("Namespace", None, namespace) {
            Some(found) => Ok(Some(found)),
            None => self.get_all::<Namespace>(namespace).await,
        };
        let classes = self.storage_classes().await;
        let named = cluster.spec.pools.iter().filter_map(|pool| pool.storage.storage_class_name.clone());
        let class = |name: String| {
            let found = classes.as_ref().map(|all| all.iter().find(|class| class.name_any() == name));
            (name, lookup(found.map(|found| found.map(|_| ()))))
        };
        let is_default = |class: &&StorageClass| {
            class.annotations().get(DEFAULT_CLASS).is_some_and(|value| value == "true")
        };
        let default = classes.as_ref().map(|all| all.iter().find(is_default).map(|_| ()));
        ClusterReferences {
            engine: lookup(engine.map(|found| found.map(|engine| engine.spec))),
            namespace_labels: lookup(
                labels.map(|found| found.map(|one| one.metadata.labels.unwrap_or_default())),
            ),
            storage_classes: named.map(class).collect(),
            default_storage_class: lookup(default),
            secrets: self.secrets(named_by(cluster), namespace).await,
        }
    }

    /// What a Member refers to.
    pub(crate) async fn of_member(&self, member: &Member, namespace: &str) -> MemberReferences {
        let name = &member.spec.cluster_name;
        let given = self.given::<ReplicatedCluster>("ReplicatedCluster", Some(namespace), name).is_some();
        let cluster = match (given, &self.cluster) {
            (true, _) => Lookup::Found(()),
            (false, Ok(access)) => {
                let api: Api<ReplicatedCluster> = Api::namespaced(access.client.clone(), namespace);
                lookup(access.call_opt("read it", api.get(name)).await.map(|found| found.map(|_| ())))
            }
            (false, Err(why)) => Lookup::Unreadable(why.clone()),
        };
        let named = member.spec.external.iter().map(|external| external.credentials.secret_name.clone());
        MemberReferences { cluster, secrets: self.secrets(named, namespace).await }
    }

    /// An object among the manifests.
    fn given<K: DeserializeOwned>(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<K> {
        let is_it = |document: &&Document| {
            document.text("/kind") == Some(kind)
                && document.text("/metadata/name") == Some(name)
                && namespace.is_none_or(|namespace| self.namespace_of(document) == namespace)
        };
        let document = self.given.iter().find(is_it)?;
        serde_json::from_value(document.value.clone()).ok()
    }

    async fn get_all<K>(&self, name: &str) -> Result<Option<K>, String>
    where
        K: kube::Resource<Scope = k8s_openapi::ClusterResourceScope>
            + Clone
            + DeserializeOwned
            + std::fmt::Debug,
        K::DynamicType: Default,
    {
        match &self.cluster {
            Ok(access) => {
                let api: Api<K> = Api::all(access.client.clone());
                access.call_opt("read it", api.get(name)).await.map_err(|failure| failure.to_string())
            }
            Err(why) => Err(why.clone()),
        }
    }

    async fn storage_classes(&self) -> Result<Vec<StorageClass>, String> {
        let access = self.cluster.as_ref().map_err(Clone::clone)?;
        let api: Api<StorageClass> = Api::all(access.client.clone());
        let list = access.list("list StorageClasses", &api, ListParams::default()).await;
        let mut classes = list.map_err(|failure| failure.to_string())?;
        let given = self.given.iter().filter(|document| document.text("/kind") == Some("StorageClass"));
        classes.extend(given.filter_map(|document| serde_json::from_value(document.value.clone()).ok()));
        Ok(classes)
    }

    /// Secrets are got by name, never listed.
    async fn secrets(
        &self,
        names: impl IntoIterator<Item = String>,
        namespace: &str,
    ) -> BTreeMap<String, Lookup<SecretFacts>> {
        let mut found = BTreeMap::new();
        for name in names {
            let secret = match (self.given::<Secret>("Secret", Some(namespace), &name), &self.cluster) {
                (Some(secret), _) => Ok(Some(secret)),
                (None, Ok(access)) => {
                    let api: Api<Secret> = Api::namespaced(access.client.clone(), namespace);
                    access.call_opt("read it", api.get(&name)).await.map_err(|failure| failure.to_string())
                }
                (None, Err(why)) => Err(why.clone()),
            };
            found.insert(name, lookup(secret.map(|found| found.map(|secret| facts(&secret)))));
        }
        found
    }
}

fn facts(secret: &Secret) -> SecretFacts {
    let data = secret.data.iter().flatten().map(|(key, value)| (key, value.0.as_slice()));
    let texts = secret.string_data.iter().flatten().map(|(key, value)| (key, value.as_bytes()));
    SecretFacts::of(data.chain(texts))
}

fn lookup<T>(found: Result<Option<T>, impl ToString>) -> Lookup<T> {
    match found {
        Ok(Some(value)) => Lookup::Found(value),
        Ok(None) => Lookup::NotFound,
        Err(why) => Lookup::Unreadable(why.to_string()),
    }
}
