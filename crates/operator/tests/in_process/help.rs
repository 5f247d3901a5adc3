//! What the tests of single requirements do again and again.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::events::v1::Event;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt};
use muster_api::{Condition, Member, ReplicatedCluster, ReplicationEngine};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::samples;
use super::world::{World, pause};

/// How long anything may take, in the world's own time.
const PATIENCE: Duration = Duration::from_secs(900);

/// A kind of object in the namespace of the tests.
pub(crate) trait Kind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
{
}

impl World {
    /// The objects of a kind.
    pub(crate) fn api<K: Kind>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), "shop")
    }

    /// The names of all objects of a kind.
    pub(crate) async fn names<K: Kind>(&self) -> Vec<String> {
        let list = self.api::<K>().list(&ListParams::default()).await.unwrap();
        list.items.iter().map(ResourceExt::name_any).collect()
    }

    /// Makes an object.
    pub(crate) async fn make<K: Kind>(&self, manifest: Value) -> K {
        let object: K = serde_json::from_value(manifest).unwrap();
        self.api::<K>().create(&PostParams::default(), &object).await.unwrap()
    }

    /// Changes an object by a merge patch, as a person would.
    pub(crate) async fn edit<K: Kind>(&self, name: &str, patch: Value) -> K {
        let params = PatchParams { field_manager: Some("somebody".into()), ..PatchParams::default() };
        self.api::<K>().patch(name, &params, &Patch::Merge(patch)).await.unwrap()
    }

    /// Makes a cluster of so many members that differs in this from the usual one.
    pub(crate) async fn create_with(&self, name: &str, nodes: i64, change: impl FnOnce(&mut Value)) {
        let mut manifest = samples::manifest(name, nodes);
        change(&mut manifest);
        self.make::<ReplicatedCluster>(manifest).await;
    }

    /// Changes the engine.
    pub(crate) async fn patch_engine(&self, patch: Value) {
        let engines: Api<ReplicationEngine> = Api::all(self.client.clone());
        engines.patch("ledger", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// Waits until there is something to return.
    pub(crate) async fn wait_for<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let began = tokio::time::Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "waited for {what}: {}\n{}",
                self.describe("orders").await,
                self.fleet.violations().join("\n")
            );
            pause(Duration::from_millis(100)).await;
        }
    }

    /// Waits until this is true of a Member.
    pub(crate) async fn until_member(
        &self,
        name: &str,
        what: &str,
        test: impl Fn(&Member) -> bool,
    ) -> Member {
        let what = format!("{name} {what}");
        self.wait_for(&what, async || self.members().get_opt(name).await.unwrap().filter(&test)).await
    }

    /// Waits until an object of this name is gone.
    pub(crate) async fn until_gone<K: Kind>(&self, name: &str) {
        let what = format!("{} {name} to go", K::kind(&()));
        let gone = async || self.api::<K>().get_opt(name).await.unwrap().is_none().then_some(());
        self.wait_for(&what, gone).await;
    }

    /// What was said of an object, as (type, reason, note).
    pub(crate) async fn said_of(&self, name: &str) -> Vec<(String, String, String)> {
        let mut events = self.api::<Event>().list(&ListParams::default()).await.unwrap().items;
        events.sort_by_key(|event| event.event_time.as_ref().map(|time| time.0));
        let of =
            |event: &Event| event.regarding.as_ref().and_then(|object| object.name.as_deref()) == Some(name);
        let said = events.into_iter().filter(of).map(|event| {
            (
                event.type_.unwrap_or_default(),
                event.reason.unwrap_or_default(),
                event.note.unwrap_or_default(),
            )
        });
        said.collect()
    }

    /// What the operator can be measured by.
    pub(crate) fn figures(&self) -> String {
        self.operator.as_ref().unwrap().context().metrics.text().unwrap()
    }

    /// What was written since this was last asked, Events apart.
    pub(crate) fn writes(&self) -> Vec<String> {
        let calls = self.calls.take().into_iter();
        calls.filter(|call| call.starts_with("write") && !call.contains("events")).collect()
    }

    /// Nothing happened that never may.
    pub(crate) fn unharmed(&self) {
        assert_eq!(self.fleet.violations(), Vec::<String>::new());
    }
}

/// A condition of a cluster.
pub(crate) fn condition(cluster: &ReplicatedCluster, kind: &str) -> Condition {
    let mut conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    conditions.find(|condition| condition.type_ == kind).cloned().unwrap_or_else(|| {
        panic!("no condition {kind}: {:?}", cluster.status);
    })
}

/// Whether a condition of a Member has this status, at the Member's generation.
pub(crate) fn member_is(member: &Member, kind: &str, status: &str) -> bool {
    let conditions = member.status.iter().flat_map(|status| &status.conditions);
    let mut found = conditions.filter(|condition| condition.type_ == kind);
    found.any(|one| one.status == status && one.observed_generation == member.metadata.generation)
}

/// The reason and message of a Member's condition.
pub(crate) fn why(member: &Member, kind: &str) -> (String, String) {
    let mut conditions = member.status.iter().flat_map(|status| &status.conditions);
    let found = conditions.find(|condition| condition.type_ == kind);
    found.map(|one| (one.reason.clone(), one.message.clone())).unwrap_or_default()
}

/// The annotation that stops clustering, or starts it again.
pub(crate) fn clustering(stopped: bool) -> Value {
    let value = stopped.then_some("true");
    json!({"metadata": {"annotations": {"muster.dev/clustering-stopped": value}}})
}

/// The annotation that stops reconciliation, or starts it again.
pub(crate) fn reconciliation(stopped: bool) -> Value {
    let value = stopped.then_some("true");
    json!({"metadata": {"annotations": {"muster.dev/reconciliation-stopped": value}}})
}
