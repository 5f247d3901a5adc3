//! The two servers that everything is shown to: a real kube-apiserver, and the embedded one.

use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use muster_api::names::FIELD_MANAGER;
use muster_apiserver::server::Server as Embedded;
use muster_test_control_plane::ControlPlane;
use serde_json::{Value, json};

/// A namespace on one of the servers.
pub(crate) struct Server {
    pub(crate) what: &'static str,
    client: Client,
    namespace: String,
}

async fn embedded() -> Client {
    let server = Embedded::builder().build().await;
    let client = Client::new(server, "default");
    let api: Api<DynamicObject> =
        Api::all_with(client.clone(), &resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
    for crd in muster_api::crds() {
        let object = serde_json::from_value(serde_json::to_value(crd).unwrap()).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    client
}

fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

impl Server {
    /// A new namespace on both.
    pub(crate) async fn both(namespace: &str) -> [Self; 2] {
        [Self::real(namespace).await, Self::embedded(namespace).await]
    }

    /// A new namespace on the real server.
    pub(crate) async fn real(namespace: &str) -> Self {
        Self::with(
            "real",
            ControlPlane::shared_with_definitions().unwrap().client().await.unwrap(),
            namespace,
        )
        .await
    }

    /// A new namespace on an embedded server of its own.
    pub(crate) async fn embedded(namespace: &str) -> Self {
        Self::with("embedded", embedded().await, namespace).await
    }

    async fn with(what: &'static str, client: Client, namespace: &str) -> Self {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource("v1", "Namespace"));
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        api.create(&PostParams::default(), &read(&object)).await.unwrap();
        Self { what, client, namespace: namespace.to_owned() }
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let resource = resource(text("apiVersion"), text("kind"));
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    /// The object in this namespace.
    fn here(&self, object: &Value) -> Value {
        let mut object = object.clone();
        object["metadata"]["namespace"] = json!(self.namespace);
        object
    }

    /// Applies as the operator does.
    pub(crate) async fn apply(&self, object: &Value) -> Result<Value, Error> {
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let patch = Patch::Apply(self.here(object));
        self.api(object).patch(name(object), &parameters, &patch).await.map(written)
    }

    /// Another manager applies.
    pub(crate) async fn apply_as(&self, object: &Value, manager: &str) -> Result<Value, Error> {
        let parameters = PatchParams::apply(manager);
        let patch = Patch::Apply(self.here(object));
        self.api(object).patch(name(object), &parameters, &patch).await.map(written)
    }

    /// What would come of it.
    pub(crate) async fn try_apply(&self, object: &Value) -> Result<Value, Error> {
        let parameters = PatchParams { dry_run: true, ..PatchParams::apply(FIELD_MANAGER).force() };
        let patch = Patch::Apply(self.here(object));
        self.api(object).patch(name(object), &parameters, &patch).await.map(written)
    }

    /// Another manager's merge patch.
    pub(crate) async fn merge(&self, object: &Value, patch: &Value, manager: &str) -> Result<Value, Error> {
        let parameters = PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
        self.api(object).patch(name(object), &parameters, &Patch::Merge(patch)).await.map(written)
    }

    /// A person creates it.
    pub(crate) async fn create(&self, object: &Value) -> Result<Value, Error> {
        let parameters =
            PostParams { field_manager: Some("kubectl-create".to_owned()), ..PostParams::default() };
        self.api(object).create(&parameters, &read(&self.here(object))).await.map(written)
    }

    pub(crate) async fn get(&self, object: &Value) -> Value {
        written(self.api(object).get(name(object)).await.unwrap())
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn read(object: &Value) -> DynamicObject {
    serde_json::from_value(object.clone()).unwrap()
}

fn written(object: DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

/// The version of an object.
pub(crate) fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}
