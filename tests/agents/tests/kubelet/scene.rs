//! The scene: an embedded API server, a fleet, and the StatefulSet of one member.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{Api, PostParams};
use kube::{Client, Resource};
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use muster_test_agents::Fleet;
use muster_test_agents::kubelet::{Knobs, Kubelet, client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) const MEMBER: &str = "orders-a-0";
pub(crate) const POD: &str = "orders-a-0-0";
/// In simulated time: nothing that is waited for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks, in simulated time.
const LOOK: Duration = Duration::from_millis(10);

pub(crate) struct Scene {
    pub(crate) client: Client,
    pub(crate) fleet: Fleet,
    pub(crate) kubelet: Kubelet,
}

impl Scene {
    pub(crate) async fn new(seed: u64) -> Self {
        let source = Seeded::new(seed, "2026-01-01T00:00:00Z".parse().unwrap());
        let server = Server::builder().source(source).build().await;
        // It ends with the runtime.
        tokio::spawn(muster_apiserver::controllers::run(server.clone()));
        let fleet = Fleet::new(seed);
        let kubelet =
            Kubelet::start(client(server.clone(), "default"), fleet.clone(), Knobs::default(), seed);
        Self { client: Client::new(server, "default"), fleet, kubelet }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) async fn create<K>(&self, object: Value) -> K
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + serde::Serialize,
    {
        let object: K = serde_json::from_value(object).unwrap();
        self.api::<K>().create(&PostParams::default(), &object).await.unwrap()
    }

    /// A claim and the StatefulSet of a member on it.
    pub(crate) async fn member(&self) {
        self.create::<PersistentVolumeClaim>(claim()).await;
        self.create::<StatefulSet>(set()).await;
    }

    pub(crate) async fn pod(&self) -> Option<Pod> {
        self.api::<Pod>().get_opt(POD).await.unwrap()
    }

    pub(crate) async fn set(&self) -> Value {
        serde_json::to_value(self.api::<StatefulSet>().get(MEMBER).await.unwrap()).unwrap()
    }

    /// Waits until this is so.
    pub(crate) async fn until(&self, what: &str, mut is: impl AsyncFnMut(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is(self).await {
            assert!(Instant::now() < until, "never: {what}\n{:#}\n{:#?}", self.set().await, self.pod().await);
            tokio::time::sleep_until(Instant::now() + LOOK).await;
        }
    }
}

fn labels() -> Value {
    json!({"muster.dev/cluster": "orders", "muster.dev/pool": "a", "muster.dev/member": MEMBER})
}

pub(crate) fn claim() -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": format!("data-{MEMBER}")},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}},
    })
}

pub(crate) fn set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": MEMBER, "labels": labels()},
        "spec": {
            "replicas": 1, "serviceName": "orders-members", "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": {"muster.dev/cluster": "orders", "muster.dev/member": MEMBER}},
            "template": {
                "metadata": {"labels": labels()},
                "spec": {
                    "containers": [{"name": "main", "image": "ledger:1"}],
                    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{MEMBER}")}}],
                },
            },
        },
    })
}
