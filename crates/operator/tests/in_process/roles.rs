//! The roles that Pods carry: clients are sent to whoever carries one, so it is what is there that counts.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::LABEL_ROLE;
use muster_core::manager::requests::Ask;
use serde_json::{Value, json};

use super::help::condition;
use super::world::{World, is_ready, pause};

/// The Pods of two members.
const PODS: [&str; 2] = ["orders-a-0-0", "orders-a-1-0"];

impl World {
    /// The role that a Pod carries.
    async fn role(&self, pod: &str) -> Option<String> {
        self.api::<Pod>().get(pod).await.unwrap().labels().get(LABEL_ROLE).cloned()
    }

    async fn until_roles_are(&self, primary: Option<&str>, secondary: Option<&str>) {
        let wanted = [primary.map(str::to_owned), secondary.map(str::to_owned)];
        let as_wanted = async || {
            let found = [self.role(PODS[0]).await, self.role(PODS[1]).await];
            (found == wanted).then_some(())
        };
        self.wait_for(&format!("the roles {wanted:?}"), as_wanted).await;
    }
}

fn role(role: Option<&str>) -> Value {
    json!({"metadata": {"labels": {LABEL_ROLE: role}}})
}

/// Whoever takes a role away, or gives one to the wrong member, sends clients nowhere, or to where they must not write.
#[tokio::test(start_paused = true)]
async fn a_role_that_somebody_changes_by_hand_is_put_right() {
    let world = World::new(610).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.until_roles_are(Some("primary"), Some("secondary")).await;
    world.edit::<Pod>(PODS[0], role(None)).await;
    world.until_roles_are(Some("primary"), Some("secondary")).await;
    world.edit::<Pod>(PODS[1], role(Some("primary"))).await;
    world.until_roles_are(Some("primary"), Some("secondary")).await;
    world.rest().await;
    world.calls.take();
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new(), "what is right is left alone");
    world.unharmed();
}

/// What clients would write there, a person would most likely give up.
#[tokio::test(start_paused = true)]
async fn a_second_primary_that_was_made_by_hand_is_not_sent_any_clients() {
    let world = World::new(612).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.until_roles_are(Some("primary"), Some("secondary")).await;
    world.fleet.promote_by_hand("shop", "orders-a-1");
    let blocked = |cluster: &ReplicatedCluster| {
        let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
        recovery.is_some_and(|recovery| recovery.blocked_by.as_deref() == Some("EqualTerms"))
    };
    let began = tokio::time::Instant::now();
    while !blocked(&world.clusters().get("orders").await.unwrap()) {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", world.describe("orders").await);
        assert_ne!(world.role(PODS[1]).await.as_deref(), Some("primary"));
        assert_eq!(world.role(PODS[0]).await.as_deref(), Some("primary"), "it is left where it was");
        pause(Duration::from_millis(20)).await;
    }
    world.rest().await;
    world.until_roles_are(Some("primary"), None).await;
    assert_eq!(world.fleet.serving("shop", "orders").len(), 2, "nobody is touched");
    // Whom a person chooses is sent clients, whoever it is, and the other is not.
    let choice = Ask::Recover { seed: Some("orders-a-1".into()), accept_data_loss: false, replicas: None };
    let (result, message) = world.ask("choice", choice).await;
    assert_eq!(result, "Done", "{message}");
    world.until_roles_are(Some("secondary"), Some("primary")).await;
}

/// A Service without an endpoint serves nobody, however well its primary is.
#[tokio::test(start_paused = true)]
async fn a_primary_whose_pod_carries_no_role_is_not_available() {
    let world = World::new(611).await;
    world.calls.refuse(Some(("pods", PODS[0].to_owned(), "labels are not for you")));
    world.create("orders", 1).await;
    let cut_off = world
        .until("orders", "to say that nobody is sent to it", |cluster| {
            let seen = cluster.status.is_some();
            seen && condition(cluster, "Available").reason == "NotServing"
        })
        .await;
    let available = condition(&cut_off, "Available");
    assert_eq!(available.status, "False");
    assert!(available.message.contains("orders-a-0"), "{}", available.message);
    pause(Duration::from_secs(30)).await;
    let still = world.clusters().get("orders").await.unwrap();
    assert!(!is_ready(&still), "{:?}", still.status);
    world.calls.refuse(None);
    world.ready("orders").await;
    assert_eq!(world.role(PODS[0]).await.as_deref(), Some("primary"));
    // And once more, when somebody takes it away.
    world.calls.refuse(Some(("pods", PODS[0].to_owned(), "labels are not for you")));
    world.edit::<Pod>(PODS[0], role(None)).await;
    world
        .until("orders", "to say so again", |cluster| condition(cluster, "Available").reason == "NotServing")
        .await;
    world.calls.refuse(None);
    world.ready("orders").await;
    world.unharmed();
}
