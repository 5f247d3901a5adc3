//! Reading our own kinds, with errors that name the object and say how to find the right one.

use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ListParams, ObjectList};
use kube::{Resource, ResourceExt};
use muster_api::{Member, ReplicatedCluster};
use serde::de::DeserializeOwned;

use super::Access;
use crate::error::Failure;

/// How many objects one answer holds: a list of any length is read piece by piece.
const PAGE: u32 = 500;

/// An object as messages name it.
pub fn object(kind: &str, name: &str, namespace: &str) -> String {
    format!("{kind} {name:?} in namespace {namespace:?}")
}

/// The name of a member without that of its cluster.
pub fn short_member<'a>(cluster: &str, member: &'a str) -> &'a str {
    member.strip_prefix(cluster).and_then(|rest| rest.strip_prefix('-')).unwrap_or(member)
}

impl Access {
    /// The clusters of the namespace.
    pub(crate) fn clusters(&self) -> Api<ReplicatedCluster> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The Members of the namespace.
    pub(crate) fn members(&self) -> Api<Member> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// One cluster.
    pub(crate) async fn cluster(&self, name: &str) -> Result<ReplicatedCluster, Failure> {
        let doing = format!("read {}", object("ReplicatedCluster", name, &self.namespace));
        match self.call_opt(&doing, self.clusters().get(name)).await? {
            Some(cluster) => Ok(cluster),
            None => Err(Failure::NotFound {
                object: object("ReplicatedCluster", name, &self.namespace),
                next: format!("kubectl get rcl {}lists those there are", self.namespace_flag()),
            }),
        }
    }

    /// The Members of one cluster, by name.
    pub(crate) async fn members_of(&self, cluster: &str) -> Result<Vec<Member>, Failure> {
        let doing = format!("list the Members of {}", object("ReplicatedCluster", cluster, &self.namespace));
        let only = ListParams::default().fields(&format!("spec.clusterName={cluster}"));
        let mut members = self.list(&doing, &self.members(), only).await?;
        members.sort_by_key(|member| order(cluster, &member.name_any()));
        Ok(members)
    }

    /// One Member of a cluster.
    pub(crate) async fn member(&self, cluster: &str, name: &str) -> Result<Member, Failure> {
        let doing = format!("read {}", object("Member", name, &self.namespace));
        let member = self.call_opt(&doing, self.members().get(name)).await?;
        match member.filter(|member| member.spec.cluster_name == cluster) {
            Some(member) => Ok(member),
            None => Err(Failure::NotFound {
                object: format!(
                    "Member {name:?} of {}",
                    object("ReplicatedCluster", cluster, &self.namespace)
                ),
                next: format!(
                    "kubectl get mbr {}--field-selector spec.clusterName={cluster} lists those there are",
                    self.namespace_flag()
                ),
            }),
        }
    }

    /// Everything that a list holds, piece by piece.
    pub(crate) async fn list<K>(
        &self,
        doing: &str,
        api: &Api<K>,
        params: ListParams,
    ) -> Result<Vec<K>, Failure>
    where
        K: Clone + DeserializeOwned + std::fmt::Debug,
    {
        let mut params = params.limit(PAGE);
        let mut items = Vec::new();
        loop {
            let page: ObjectList<K> = self.call(doing, api.list(&params)).await?;
            items.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(items),
            }
        }
    }

    /// An API of a built-in kind in the namespace.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

/// Members of pools by pool and number, then those made by hand.
fn order(cluster: &str, name: &str) -> (bool, String, u32, String) {
    let rest = short_member(cluster, name);
    match rest.split_once('-').and_then(|(pool, ordinal)| Some((pool, ordinal.parse().ok()?))) {
        Some((pool, ordinal)) => (false, pool.to_owned(), ordinal, name.to_owned()),
        None => (true, String::new(), 0, name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_by_pool_and_number() {
        let mut names = ["orders-b-0", "by-hand", "orders-a-10", "orders-a-9"];
        names.sort_by_key(|name| order("orders", name));
        assert_eq!(names, ["orders-a-9", "orders-a-10", "orders-b-0", "by-hand"]);
    }
}
