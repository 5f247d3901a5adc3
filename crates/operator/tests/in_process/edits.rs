//! R1.5: what somebody else edits in an object of ours is put back. The same story on either server.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::PostParams;
use kube::{Api, Client, Resource, ResourceExt};
use muster_test_world::pause;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

/// How long it may take to put something back: far longer than it does.
const WITHIN: Duration = Duration::from_secs(60);
/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Under which name somebody writes.
const SOMEBODY: &str = "somebody";

/// One of our objects.
struct Ours<K> {
    api: Api<K>,
    name: String,
}

impl<K> Ours<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    fn new(client: &Client, namespace: &str, name: &str) -> Self {
        Self { api: Api::namespaced(client.clone(), namespace), name: name.to_owned() }
    }

    /// Somebody changes it; then it is as it was.
    async fn is_put_back(&self, what: &str, change: impl Fn(&mut Value)) {
        let before = bare(&self.api.get(&self.name).await.unwrap());
        let edited = self.edit(change).await;
        assert_ne!(bare(&edited), before, "{what}: nothing was changed");
        let began = Instant::now();
        loop {
            let now = self.api.get(&self.name).await.unwrap();
            if bare(&now) == before {
                break;
            }
            assert!(began.elapsed() < WITHIN, "{what}: {now:#?}");
            pause(LOOK_EVERY).await;
        }
    }

    async fn edit(&self, change: impl Fn(&mut Value)) -> K {
        let params = PostParams { field_manager: Some(SOMEBODY.to_owned()), ..PostParams::default() };
        loop {
            let mut object = serde_json::to_value(self.api.get(&self.name).await.unwrap()).unwrap();
            change(&mut object);
            let object: K = serde_json::from_value(object).unwrap();
            match self.api.replace(&self.name, &params, &object).await {
                Ok(edited) => return edited,
                // Its status was written in between.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// What we say of an object, and what others could say beside it.
fn bare<K: Resource<DynamicType = ()> + Serialize>(object: &K) -> Value {
    let metadata = object.meta();
    json!({
        "labels": metadata.labels, "annotations": metadata.annotations, "owners": metadata.owner_references,
        "spec": serde_json::to_value(object).unwrap()["spec"],
    })
}

/// Everything that somebody edits in the objects of the cluster `orders` is put back.
pub(crate) async fn are_put_back(client: &Client, namespace: &str) {
    let service = Ours::<Service>::new(client, namespace, "orders");
    service.is_put_back("a selector", |it| it["spec"]["selector"] = json!({"app": "other"})).await;
    service
        .is_put_back("a selector with more in it", |it| it["spec"]["selector"]["app"] = json!("other"))
        .await;
    let labels = |it: &mut Value| it["metadata"]["labels"] = json!({});
    service.is_put_back("labels", labels).await;
    service.is_put_back("owners", |it| it["metadata"]["ownerReferences"] = json!([])).await;
    // With another number it is another port, of the same name: no apply can take it out.
    service
        .is_put_back("a port", |it| {
            it["spec"]["ports"] = json!([{"name": "client", "port": 5001, "protocol": "TCP"}]);
        })
        .await;
    service.is_put_back("where a port leads", |it| it["spec"]["ports"][0]["targetPort"] = json!(1)).await;
    let after = service.api.get("orders").await.unwrap();
    let by_update = after.managed_fields().iter().any(|entry| {
        entry.manager.as_deref() == Some("muster") && entry.operation.as_deref() == Some("Update")
    });
    assert!(!by_update, "what is ours is ours by apply only, else it could not be let go: {after:#?}");

    let members = Ours::<Service>::new(client, namespace, "orders-members");
    members.is_put_back("one port of several", |it| it["spec"]["ports"][0]["port"] = json!(5002)).await;
    let budget = Ours::<PodDisruptionBudget>::new(client, namespace, "orders");
    budget.is_put_back("a label", |it| it["metadata"]["labels"] = json!({})).await;

    let set = Ours::<StatefulSet>::new(client, namespace, "orders-a-0");
    let main = |it: &Value| {
        let containers = it["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        containers.iter().position(|container| container["name"] == "main").unwrap()
    };
    set.is_put_back("an image", |it| {
        let main = main(it);
        it["spec"]["template"]["spec"]["containers"][main]["image"] = json!("other:1");
    })
    .await;
    set.is_put_back("a label of Pods", |it| {
        it["spec"]["template"]["metadata"]["labels"]["muster.dev/pool"] = json!("other");
    })
    .await;
    set.is_put_back("a label", |it| it["metadata"]["labels"] = json!({})).await;
}
