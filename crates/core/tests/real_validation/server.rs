//! The API server with the CRDs, asked what it would say.

use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use muster_test_control_plane::ControlPlane;
use serde_json::Value;
use tokio::task::JoinSet;

/// What the API server says to a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Refused(String),
}

/// The API of one kind in the namespace `default`.
pub(crate) struct Server {
    api: Api<DynamicObject>,
}

impl Server {
    /// A kind of ours.
    pub(crate) async fn of(kind: &str) -> Self {
        let client = ControlPlane::shared_with_definitions().unwrap().client().await.unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("muster.dev", "v1alpha1", kind));
        let api = match kind {
            "ReplicationEngine" => Api::all_with(client, &resource),
            _ => Api::default_namespaced_with(client, &resource),
        };
        Self { api }
    }

    /// Kubernetes' own Pods.
    pub(crate) async fn of_pods() -> Self {
        let client = ControlPlane::shared_with_definitions().unwrap().client().await.unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
        Self { api: Api::default_namespaced_with(client, &resource) }
    }

    /// Creates an object for good, and returns it as it was stored.
    pub(crate) async fn store(&self, object: &Value) -> Value {
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        serde_json::to_value(self.api.create(&PostParams::default(), &object).await.unwrap()).unwrap()
    }

    /// What it says to each: to a new object, or to one that is to replace an old one. Nothing is stored.
    pub(crate) async fn ask(&self, cases: &[(Value, Option<Value>)]) -> Vec<Verdict> {
        let mut tasks = JoinSet::new();
        for (index, (object, old)) in cases.iter().enumerate() {
            let (api, old) = (self.api.clone(), old.is_some());
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
            tasks.spawn(async move {
                let dry = PostParams { dry_run: true, ..PostParams::default() };
                let answer = if old {
                    api.replace(&name, &dry, &object).await
                } else {
                    api.create(&dry, &object).await
                };
                (index, answer)
            });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| verdict(answer)).collect()
    }
}

fn verdict(answer: kube::Result<DynamicObject>) -> Verdict {
    match answer {
        Ok(_) => Verdict::Accepted,
        Err(kube::Error::Api(status)) if [400, 422].contains(&status.code) => {
            Verdict::Refused(status.message.clone())
        }
        Err(error) => panic!("neither accepted nor refused: {error}"),
    }
}
