//! What people ask for once.

use jiff::SignedDuration;
use muster_api::names::ANNOTATION_REQUEST;
use muster_core::manager::requests::{Ask, Request};
use serde_json::json;

use super::world::World;

impl World {
    /// Asks as the plugin does, and waits for the outcome.
    async fn ask(&self, id: &str, ask: Ask) -> (String, String) {
        let cluster = self.clusters().get("orders").await.unwrap();
        let request = Request {
            id: id.into(),
            cluster_uid: cluster.metadata.uid.clone().unwrap(),
            generation: cluster.metadata.generation.unwrap(),
            expires: self.fleet.now() + SignedDuration::from_mins(5),
            digest: cluster.status.as_ref().and_then(|s| s.recovery.as_ref()).map(|r| r.digest.clone()),
            ask,
        };
        let text = serde_json::to_string(&request).unwrap();
        self.patch("orders", json!({"metadata": {"annotations": {ANNOTATION_REQUEST: text}}})).await;
        let ended = self
            .until("orders", "to answer", |cluster| {
                let last = cluster.status.as_ref().and_then(|status| status.last_request.as_ref());
                last.is_some_and(|last| last.id == id && last.result != "Accepted")
            })
            .await;
        let last = ended.status.unwrap().last_request.unwrap();
        assert!(!ended.metadata.annotations.unwrap_or_default().contains_key(ANNOTATION_REQUEST));
        (last.result, last.message)
    }
}

#[tokio::test(start_paused = true)]
async fn a_switchover_goes_where_it_was_asked_to() {
    let world = World::new(31).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let (result, message) = world.ask("one", Ask::Switchover { to: Some("orders-a-2".into()) }).await;
    assert_eq!(result, "Done", "{message}");
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.primary.as_deref(), Some("orders-a-2"));
    let (result, message) = world.ask("two", Ask::Switchover { to: Some("nobody".into()) }).await;
    assert_eq!((result.as_str(), message.contains("nobody")), ("Refused", true), "{message}");
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_blocked_recovery_names_who_is_missing_and_a_fence_unblocks_it() {
    let world = World::new(32).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.power_off("shop", "orders-a-0");
    let blocked = world
        .until("orders", "to be blocked", |cluster| {
            let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
            recovery.is_some_and(|recovery| recovery.blocked_by.as_deref() == Some("MemberMissing"))
        })
        .await;
    let recovery = blocked.status.unwrap().recovery.unwrap();
    assert_eq!(recovery.missing, ["orders-a-0"]);
    assert!(
        recovery.unblock.as_deref().is_some_and(|how| how.contains("kubectl muster fence orders orders-a-0")),
        "{recovery:?}"
    );
    let (result, message) = world.ask("fence", Ask::Fence { members: vec!["orders-a-0".into()] }).await;
    assert_eq!(result, "Done", "{message}");
    world
        .until("orders", "to serve", |cluster| {
            let primary = cluster.status.as_ref().and_then(|status| status.primary.clone());
            primary.is_some_and(|primary| primary != "orders-a-0")
        })
        .await;
    world.fleet.power_on("shop", "orders-a-0");
    world.ready("orders").await;
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}
