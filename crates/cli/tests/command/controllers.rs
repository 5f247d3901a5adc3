//! What the server does by itself, and that it leaves that alone where it is told to.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use crate::muster::Running;

/// No controller takes this long on a machine that is not broken.
const SOON: Duration = Duration::from_secs(60);

/// Makes an owner with what it owns and a namespace with something in it, and deletes the owner and the namespace.
async fn leave_behind(client: &Client) {
    let namespace = json!({"metadata": {"name": "left"}});
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &serde_json::from_value(namespace).unwrap()).await.unwrap();
    let inside: Api<ConfigMap> = Api::namespaced(client.clone(), "left");
    let here: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let named =
        |name: &str| serde_json::from_value::<ConfigMap>(json!({"metadata": {"name": name}})).unwrap();
    inside.create(&PostParams::default(), &named("inside")).await.unwrap();
    let owner = here.create(&PostParams::default(), &named("owner")).await.unwrap();
    let mut child = named("owned");
    let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid()}]);
    child.metadata.owner_references = serde_json::from_value(reference).unwrap();
    here.create(&PostParams::default(), &child).await.unwrap();
    here.delete("owner", &DeleteParams::background()).await.unwrap();
    namespaces.delete("left", &DeleteParams::default()).await.unwrap();
}

/// What is left of it: what was owned, what was in the namespace, the namespace; and the account that every namespace gets.
async fn left(client: &Client) -> (bool, bool, bool, bool) {
    let here: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let inside: Api<ConfigMap> = Api::namespaced(client.clone(), "left");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    (
        here.get_opt("owned").await.unwrap().is_some(),
        inside.get_opt("inside").await.unwrap().is_some(),
        namespaces.get_opt("left").await.unwrap().is_some(),
        accounts.get_opt("default").await.unwrap().is_some(),
    )
}

#[tokio::test]
async fn without_controllers_what_is_owned_and_what_is_in_a_namespace_stays() {
    let busy = Running::start(&["--ephemeral"]);
    let quiet = Running::start(&["--ephemeral", "--no-controllers"]);
    let (with, without) = (busy.client().await, quiet.client().await);
    leave_behind(&without).await;
    leave_behind(&with).await;
    // As long as the other server takes for all of it.
    let done = async {
        while left(&with).await != (false, false, false, true) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, done).await.expect("controllers");
    assert_eq!(left(&without).await, (true, true, true, false));
    let namespaces: Api<Namespace> = Api::all(without.clone());
    let namespace = namespaces.get("left").await.unwrap();
    assert!(namespace.metadata.deletion_timestamp.is_some(), "it waits for whoever ends it");
}
