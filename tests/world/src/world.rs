//! A namespace with its fleet and its kubelet, and the person who changes clusters and waits for them.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use muster_api::names::LABEL_CLUSTER;
use muster_api::{Member, ReplicatedCluster};
use muster_operator::agents::Dial;
use muster_operator::clock::SharedClock;
use muster_operator::lease::Timing;
use muster_test_agents::kubelet::{Knobs, Kubelet, NODE, Part};
use muster_test_agents::{Fleet, Pace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::epochs::Epochs;
use crate::process::Setup;
use crate::samples;
use crate::spy::Spy;

/// How often a test looks, unless it says otherwise.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Lets time pass.
pub async fn pause(time: Duration) {
    drop(tokio::time::timeout(time, std::future::pending::<()>()).await);
}

/// A world.
pub struct World {
    /// A client with every right.
    pub admin: Client,
    /// Where the clusters are.
    pub namespace: String,
    /// The agents.
    pub fleet: Fleet,
    /// What runs them.
    pub kubelet: Kubelet,
    /// What operators ask for.
    pub spy: Spy,
    /// What agents obey.
    pub epochs: Epochs,
    /// The time of day.
    pub clock: SharedClock,
    /// How long anything may take.
    pub patience: Duration,
    /// How often a test looks.
    pub look_every: Duration,
}

impl World {
    /// A world in a namespace that is made for it. The rest of what is needed is made where it is not there.
    pub async fn new(
        admin: Client,
        namespace: &str,
        clock: SharedClock,
        pace: Pace,
        part: Part,
        seed: u64,
    ) -> Self {
        ensure_all(&admin, namespace).await;
        let fleet = Fleet::with_pace(seed, pace);
        fleet.set_time(clock.now());
        let kubelet = Kubelet::part(admin.clone(), fleet.clone(), Knobs::default(), seed, part);
        Self {
            admin,
            namespace: namespace.to_owned(),
            fleet,
            kubelet,
            spy: Spy::default(),
            epochs: Epochs::default(),
            clock,
            patience: Duration::from_secs(60),
            look_every: LOOK_EVERY,
        }
    }

    /// What an operator that has this access is started with.
    pub fn setup(&self, access: &Client, namespace: Option<&str>, seed: u64) -> Setup {
        let dial: Arc<dyn Dial> = Arc::new(self.epochs.on(&self.fleet, &self.namespace));
        Setup {
            client: self.spy.on(access),
            namespace: namespace.map(str::to_owned),
            dial,
            clock: self.clock.clone(),
            timing: Timing::default(),
            new_store: true,
            seed,
        }
    }

    /// Objects of the namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.admin.clone(), &self.namespace)
    }

    /// Its clusters.
    pub fn clusters(&self) -> Api<ReplicatedCluster> {
        self.api()
    }

    /// Creates a cluster with one pool.
    pub async fn create(&self, name: &str, nodes: i64) {
        self.clusters()
            .create(&PostParams::default(), &samples::cluster(name, nodes))
            .await
            .expect("a cluster");
    }

    /// Changes the cluster by a merge patch.
    pub async fn patch(&self, name: &str, patch: Value) -> ReplicatedCluster {
        self.clusters().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("a change")
    }

    /// Changes the size of the one pool.
    pub async fn scale(&self, name: &str, nodes: i64) {
        self.patch(name, json!({"spec": {"pools": samples::pools(nodes, "Retain")}})).await;
    }

    /// Sets an annotation, or takes it away.
    pub async fn annotate(&self, name: &str, annotation: &str, value: Option<&str>) {
        self.patch(name, json!({"metadata": {"annotations": {annotation: value}}})).await;
    }

    /// Waits until the cluster is Ready at its generation.
    pub async fn ready(&self, name: &str) -> ReplicatedCluster {
        self.until(name, "to be Ready", is_ready).await
    }

    /// Waits until this is true of the cluster.
    pub async fn until(
        &self,
        name: &str,
        what: &str,
        test: impl Fn(&ReplicatedCluster) -> bool,
    ) -> ReplicatedCluster {
        let began = tokio::time::Instant::now();
        loop {
            let cluster = self.clusters().get_opt(name).await.expect("the cluster");
            if let Some(cluster) = cluster.filter(&test) {
                return cluster;
            }
            assert!(
                began.elapsed() < self.patience,
                "waited for {name} {what}: {}",
                self.describe(name).await
            );
            pause(self.look_every).await;
        }
    }

    /// Waits until there is no such cluster.
    pub async fn gone(&self, name: &str) {
        let began = tokio::time::Instant::now();
        while self.clusters().get_opt(name).await.expect("an answer").is_some() {
            assert!(
                began.elapsed() < self.patience,
                "waited for {name} to go: {}",
                self.describe(name).await
            );
            pause(self.look_every).await;
        }
    }

    /// Everything that status says, for a test that failed.
    pub async fn describe(&self, name: &str) -> String {
        let cluster = self.clusters().get_opt(name).await.ok().flatten();
        let members = self
            .api::<Member>()
            .list(&ListParams::default().labels(&format!("{LABEL_CLUSTER}={name}")))
            .await
            .expect("members");
        let statuses: Vec<Value> = members
            .items
            .iter()
            .map(|member| {
                json!({
                    "name": member.name_any(), "generation": member.metadata.generation,
                    "deleting": member.metadata.deletion_timestamp.is_some(), "status": member.status,
                })
            })
            .collect();
        let (pods, sets) = (self.api::<Pod>(), self.api::<StatefulSet>());
        let labelled = ListParams::default().labels(&format!("{LABEL_CLUSTER}={name}"));
        let pods = pods.list(&labelled).await.expect("Pods").items.into_iter();
        let pods: Vec<Value> =
            pods.map(|pod| json!({"metadata": pod.metadata, "status": pod.status})).collect();
        let sets = sets.list(&labelled).await.expect("stateful sets").items.into_iter();
        let sets: Vec<Value> =
            sets.map(|set| json!({"name": set.name_any(), "status": set.status})).collect();
        let cluster = cluster.map(|mut cluster| {
            cluster.metadata.managed_fields = None;
            cluster
        });
        let told = json!({"cluster": cluster, "members": statuses, "pods": pods, "sets": sets, "violations": self.fleet.violations(),
            "refused": self.spy.refused(),
            "calls": self.spy.recent()});
        serde_json::to_string_pretty(&told).unwrap_or_default()
    }

    /// Fails if anything happened that never may.
    pub fn unharmed(&self) {
        assert_eq!(self.fleet.violations(), Vec::<String>::new());
        assert_eq!(self.epochs.wrong(), Vec::<String>::new());
        assert_eq!(self.spy.refused(), Vec::<String>::new(), "the role does not permit what is needed");
    }
}

/// Makes what there is to be before anyone comes.
async fn ensure_all(client: &Client, namespace: &str) {
    for crd in muster_api::crds::crds() {
        ensure(&Api::<CustomResourceDefinition>::all(client.clone()), &crd).await;
    }
    let named = |name: &str| json!({"metadata": {"name": name}});
    let read = |value: Value| serde_json::from_value::<Namespace>(value).expect("a namespace");
    for name in [namespace, muster_api::names::OPERATOR_NAMESPACE] {
        ensure(&Api::<Namespace>::all(client.clone()), &read(named(name))).await;
    }
    let node: Node = serde_json::from_value(named(NODE)).expect("a node");
    ensure(&Api::<Node>::all(client.clone()), &node).await;
    let mut class = named(samples::CLASS);
    class["provisioner"] = "muster.dev/test".into();
    let class: StorageClass = serde_json::from_value(class).expect("a storage class");
    ensure(&Api::<StorageClass>::all(client.clone()), &class).await;
    ensure(&Api::all(client.clone()), &samples::engine()).await;
}

/// Creates an object, unless it is there. A definition may just have been made.
pub async fn ensure<K>(api: &Api<K>, object: &K)
where
    K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let began = tokio::time::Instant::now();
    loop {
        match api.create(&PostParams::default(), object).await {
            Ok(_) => return,
            Err(kube::Error::Api(status)) if status.is_already_exists() => return,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error}"),
        }
        pause(LOOK_EVERY).await;
    }
}

/// Ready, as `kubectl wait` sees it.
pub fn is_ready(cluster: &ReplicatedCluster) -> bool {
    is(cluster, "Ready", "True")
}

/// Whether this condition has this status, at the object's generation.
pub fn is(cluster: &ReplicatedCluster, kind: &str, status: &str) -> bool {
    let generation = cluster.metadata.generation;
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    let mut found = conditions.filter(|condition| condition.type_ == kind);
    found.any(|condition| condition.status == status && condition.observed_generation == generation)
}
