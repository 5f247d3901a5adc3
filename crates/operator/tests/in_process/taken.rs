//! Objects of others under wanted names are never adopted, whatever their kind; and what the API server refuses is said.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use kube::api::DeleteParams;
use muster_api::Member;
use serde_json::{Value, json};

use super::help::{Kind, condition, why};
use super::world::{World, is, pause};

fn pods(labels: &Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "other"}]}})
}

/// How often it was said with a warning that this condition of an object is not so.
async fn warnings(world: &World, of: &str, condition: &str, reason: &str) -> usize {
    let said = world.said_of(of).await;
    said.iter()
        .filter(|(tone, why, text)| tone == "Warning" && why == condition && text.contains(reason))
        .count()
}

/// What the API server refuses of a new cluster is said once, however often it is tried.
#[tokio::test(start_paused = true)]
async fn what_is_refused_of_a_new_cluster_is_said_once() {
    let world = World::new(312).await;
    world.calls.refuse(Some(("services", "orders".to_owned(), "this namespace has no room for it")));
    world.create("orders", 1).await;
    let refused = |cluster: &_| condition(cluster, "InfrastructureReady").reason == "ApplyRefused";
    world.until("orders", "to be refused", |cluster| cluster.status.is_some() && refused(cluster)).await;
    world.rest().await;
    assert_eq!(
        warnings(&world, "orders", "InfrastructureReady", "no room").await,
        1,
        "{:#?}",
        world.said_of("orders").await
    );
    world.calls.refuse(None);
    world.ready("orders").await;
}

/// Another's object is there before the cluster; it is named, not touched, and when it is gone all goes on.
async fn taken<K: Kind>(seed: u64, name: &str, spec: Value, of_member: bool) {
    let world = World::new(seed).await;
    let exporter = json!({"name": "exporter", "template": {"containers": [{"name": "main", "image": "e"}]}});
    world.patch_engine(json!({"spec": {"drivers": [exporter]}})).await;
    let mut manifest = json!({"metadata": {"name": name, "labels": {"app": "other"}}});
    manifest.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    let theirs: K = world.make(manifest).await;
    world
        .create_with("orders", 1, |manifest| manifest["spec"]["drivers"] = json!([{"name": "exporter"}]))
        .await;
    let kind = K::kind(&()).into_owned();
    if of_member {
        let member = world
            .until_member("orders-a-0", "to say so", |member| why(member, "WorkloadReady").0 == "NameTaken")
            .await;
        assert!(why(&member, "WorkloadReady").1.contains(name), "{:?}", member.status);
        world.until("orders", "not to be Ready", |cluster| is(cluster, "InfrastructureReady", "False")).await;
    } else {
        let cluster = world
            .until("orders", "to say so", |cluster| {
                condition(cluster, "InfrastructureReady").reason == "NameTaken"
            })
            .await;
        let message = condition(&cluster, "InfrastructureReady").message;
        assert!(message.contains(&format!("{kind} {name}")), "{message}");
        assert_eq!(cluster.status.as_ref().unwrap().failure_reason.as_deref(), Some("NameTaken"));
    }
    pause(Duration::from_secs(40)).await;
    let now = world.api::<K>().get(name).await.unwrap();
    assert_eq!((now.uid(), now.labels(), now.owner_references()), (theirs.uid(), theirs.labels(), &[][..]));
    assert!(
        now.managed_fields().iter().all(|one| !one
            .manager
            .as_deref()
            .unwrap_or_default()
            .starts_with("muster"))
    );
    let (of, condition) =
        if of_member { ("orders-a-0", "WorkloadReady") } else { ("orders", "InfrastructureReady") };
    assert_eq!(warnings(&world, of, condition, name).await, 1, "{:#?}", world.said_of(of).await);
    world.api::<K>().delete(name, &DeleteParams::default()).await.unwrap();
    world.ready("orders").await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_service_of_someone_else_is_not_adopted() {
    taken::<Service>(301, "orders", json!({"spec": {"ports": [{"port": 1}]}}), false).await;
}

#[tokio::test(start_paused = true)]
async fn a_disruption_budget_of_someone_else_is_not_adopted() {
    let spec = json!({"spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "other"}}}});
    taken::<PodDisruptionBudget>(302, "orders", spec, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_of_someone_else_is_not_adopted() {
    let labels = json!({"app": "other"});
    let spec = json!({"spec": {"selector": {"matchLabels": labels}, "template": pods(&labels)}});
    taken::<Deployment>(303, "orders-exporter", spec, false).await;
}

#[tokio::test(start_paused = true)]
async fn secrets_of_someone_else_are_not_adopted() {
    taken::<Secret>(304, "orders-accounts", json!({"stringData": {"admin": "theirs"}}), false).await;
    taken::<Secret>(305, "orders-agent-ca", json!({"stringData": {"tls.crt": "theirs"}}), false).await;
    taken::<Secret>(306, "orders-a-0-agent", json!({"stringData": {"tls.crt": "theirs"}}), true).await;
}

#[tokio::test(start_paused = true)]
async fn a_workload_of_someone_else_is_not_adopted() {
    let labels = json!({"app": "other"});
    let spec = json!({"spec": {
        "replicas": 0, "serviceName": "x", "selector": {"matchLabels": labels}, "template": pods(&labels),
    }});
    taken::<StatefulSet>(307, "orders-a-0", spec, true).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_of_someone_else_is_not_adopted() {
    let spec =
        json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    taken::<PersistentVolumeClaim>(308, "data-orders-a-0", spec, true).await;
}

/// In its place the StatefulSet of the Member can make none.
#[tokio::test(start_paused = true)]
async fn a_pod_of_someone_else_is_not_adopted() {
    taken::<Pod>(313, "orders-a-0-0", json!({"spec": pods(&json!({}))["spec"]}), true).await;
}

/// A Member that a person made under the name that a pool would give.
#[tokio::test(start_paused = true)]
async fn a_member_of_someone_else_is_not_adopted() {
    let world = World::new(309).await;
    let spec = json!({"clusterName": "orders", "pool": "a", "storage": [{"pvcName": "mine"}]});
    let theirs: Member = world.make(json!({"metadata": {"name": "orders-a-0"}, "spec": spec})).await;
    world.create("orders", 1).await;
    let cluster = world
        .until("orders", "to say so", |cluster| {
            condition(cluster, "InfrastructureReady").reason == "NameTaken"
        })
        .await;
    assert!(condition(&cluster, "InfrastructureReady").message.contains("Member orders-a-0"));
    let now = world.members().get("orders-a-0").await.unwrap();
    assert_eq!((now.spec.storage, now.metadata.uid), (theirs.spec.storage, theirs.metadata.uid));
}

/// Labels and references that were taken away are put back: it is ours all the same.
#[tokio::test(start_paused = true)]
async fn what_is_ours_stays_ours_without_its_labels() {
    let world = World::new(310).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.edit::<Service>("orders", json!({"metadata": {"labels": {"muster.dev/cluster": null}}})).await;
    world
        .wait_for("the label to be put back", async || {
            let service = world.api::<Service>().get("orders").await.unwrap();
            service.labels().contains_key("muster.dev/cluster").then_some(())
        })
        .await;
    world.ready("orders").await;
}

/// A configuration that someone changed is not run; ours is immutable, and so is the name that follows from it.
#[tokio::test(start_paused = true)]
async fn r3_6_what_the_api_server_refuses_is_in_a_condition() {
    let world = World::new(311).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    let broken = json!({"spec": {"service": {"annotations": {"example.org/note": "x"}}}});
    let name = "orders".to_owned();
    world.calls.refuse(Some(("services", name, "this namespace has no room for it")));
    world.patch("orders", broken).await;
    let refused = world
        .until("orders", "to be refused", |cluster| {
            condition(cluster, "InfrastructureReady").reason == "ApplyRefused"
        })
        .await;
    let said = condition(&refused, "InfrastructureReady");
    assert!(said.message.contains("Service shop/orders") && said.message.contains("no room"), "{said:?}");
    assert!(is(&refused, "Ready", "False") && is(&refused, "Available", "True"));
    let status = refused.status.unwrap();
    assert_eq!(status.failure_reason.as_deref(), Some("ApplyRefused"));
    world.calls.refuse(None);
    let after = world.ready("orders").await.status.unwrap();
    assert_eq!(after.failure_reason, None);
    assert!(world.names::<ConfigMap>().await.len() == 1, "configurations that nobody runs with are gone");
}
