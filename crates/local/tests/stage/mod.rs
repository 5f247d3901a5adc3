//! Where stories are played: an API server with controllers, a namespace, and a kubelet that only says that Pods run.
#![allow(dead_code)] // each test binary uses a part of it

pub(crate) mod normal;

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use muster_apiserver::server::{Server, ServiceNetwork};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// What controllers do takes a second or two; this allows for a machine that is busy compiling.
pub(crate) const BOUND: Duration = Duration::from_secs(60);
/// Pods are ready since then: long enough for any `minReadySeconds`.
const READY_SINCE: &str = "2026-01-01T00:00:00Z";

/// A task that ends when it is dropped.
pub(crate) struct Task(JoinHandle<()>);

impl Task {
    pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An API server with controllers, and a namespace of one's own on it.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) tasks: Vec<Task>,
}

/// A kind by the name that kubectl knows it by.
fn resource(plural: &str) -> (ApiResource, bool) {
    let (group, kind, namespaced) = match plural {
        "statefulsets" => ("apps", "StatefulSet", true),
        "deployments" => ("apps", "Deployment", true),
        "replicasets" => ("apps", "ReplicaSet", true),
        "controllerrevisions" => ("apps", "ControllerRevision", true),
        "pods" => ("", "Pod", true),
        "services" => ("", "Service", true),
        "persistentvolumeclaims" => ("", "PersistentVolumeClaim", true),
        "persistentvolumes" => ("", "PersistentVolume", false),
        "storageclasses" => ("storage.k8s.io", "StorageClass", false),
        "endpointslices" => ("discovery.k8s.io", "EndpointSlice", true),
        "events" => ("", "Event", true),
        "namespaces" => ("", "Namespace", false),
        "nodes" => ("", "Node", false),
        other => panic!("{other}?"),
    };
    let kind = GroupVersionKind::gvk(group, "v1", kind);
    (ApiResource::from_gvk_with_plural(&kind, plural), namespaced)
}

impl Stage {
    /// Our server with its own controllers, in this process.
    pub(crate) async fn ours(namespace: &str) -> Self {
        // Services are on loopback, so that no test changes the addresses of the machine.
        let (address, bits) = muster_local::services::SERVICE_NETWORK;
        let network = ServiceNetwork::new(address, bits).unwrap();
        let server = Server::builder().service_network(network).build().await;
        let client = Client::new(server.clone(), "default");
        let controllers = Task::spawn(muster_apiserver::controllers::run(server));
        Self::begin(client, namespace, vec![controllers]).await
    }

    /// A namespace on a server that runs.
    pub(crate) async fn begin(client: Client, namespace: &str, tasks: Vec<Task>) -> Self {
        let stage = Self { client, namespace: namespace.to_owned(), tasks };
        stage.create("namespaces", json!({"metadata": {"name": namespace}})).await;
        stage
    }

    /// Something that runs for as long as the stage.
    pub(crate) fn also(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(Task::spawn(work));
    }

    pub(crate) fn api(&self, plural: &str) -> Api<DynamicObject> {
        match resource(plural) {
            (kind, true) => Api::namespaced_with(self.client.clone(), &self.namespace, &kind),
            (kind, false) => Api::all_with(self.client.clone(), &kind),
        }
    }

    pub(crate) async fn create(&self, plural: &str, mut object: Value) -> DynamicObject {
        let kind = resource(plural).0;
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.kind.into();
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        self.api(plural).create(&PostParams::default(), &object).await.unwrap()
    }

    pub(crate) async fn patch(&self, plural: &str, name: &str, patch: Value) -> DynamicObject {
        self.api(plural).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    pub(crate) async fn patch_status(&self, plural: &str, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        self.api(plural).patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn delete(&self, plural: &str, name: &str) {
        self.api(plural).delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub(crate) async fn get(&self, plural: &str, name: &str) -> Option<Value> {
        let object = self.api(plural).get_opt(name).await.unwrap();
        object.map(|object| serde_json::to_value(object).unwrap())
    }

    pub(crate) async fn list(&self, plural: &str) -> Vec<Value> {
        let list = self.api(plural).list(&ListParams::default()).await.unwrap();
        list.items.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
    }

    /// Waits until the objects of a kind are so: looked at again whenever one changes.
    pub(crate) async fn until_all(&self, plural: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut changes = watcher(self.api(plural), watcher::Config::default()).boxed();
        let wait = async {
            loop {
                let list = self.list(plural).await;
                if is_so(&list) {
                    return list;
                }
                changes.next().await.unwrap().unwrap();
            }
        };
        let Ok(list) = tokio::time::timeout(BOUND, wait).await else {
            let (seen, pods) = (self.list(plural).await, self.list("pods").await);
            panic!("{plural} never came to this: {:#}\npods: {pods:#?}", Value::from(seen));
        };
        list
    }

    /// Waits until an object is so.
    pub(crate) async fn until(&self, plural: &str, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let named = |list: &[Value]| list.iter().find(|it| it["metadata"]["name"] == name).cloned();
        let list = self.until_all(plural, |list| named(list).is_some_and(|it| is_so(&it))).await;
        named(&list).unwrap()
    }

    pub(crate) async fn until_gone(&self, plural: &str, name: &str) {
        self.until_all(plural, |list| list.iter().all(|it| it["metadata"]["name"] != name)).await;
    }

    /// Runs Pods until dropped: what waits becomes ready, what is to end ends.
    pub(crate) fn kubelet(&self) -> Task {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        Task::spawn(async move {
            let mut changes = watcher(pods.clone(), watcher::Config::default()).boxed();
            while let Some(event) = changes.next().await {
                if let Ok(watcher::Event::Apply(pod) | watcher::Event::InitApply(pod)) = event {
                    serve(&pods, &pod).await;
                }
            }
        })
    }
}

async fn serve(pods: &Api<Pod>, pod: &Pod) {
    let name = pod.name_any();
    if pod.metadata.deletion_timestamp.is_some() {
        let _ = pods.delete(&name, &DeleteParams::default().grace_period(0)).await;
    } else if pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Pending") {
        // It may be gone meanwhile.
        let _ = pods.patch_status(&name, &PatchParams::default(), &Patch::Merge(ready())).await;
    }
}

/// The status of a Pod that serves.
pub(crate) fn ready() -> Value {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": READY_SINCE});
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition);
    json!({"status": {
        "phase": "Running", "podIP": "10.200.0.1", "podIPs": [{"ip": "10.200.0.1"}], "startTime": READY_SINCE,
        "conditions": conditions,
    }})
}
