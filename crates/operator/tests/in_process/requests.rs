//! What people ask for once.

use std::time::Duration;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use muster_api::ReplicatedCluster;
use muster_api::names::{ANNOTATION_CLUSTERING_STOPPED, ANNOTATION_FORGOTTEN, ANNOTATION_REQUEST};
use muster_core::manager::requests::{Ask, Request};
use serde_json::json;

use super::help::clustering;
use super::world::{World, pause};

impl World {
    /// Asks as the plugin does, and waits for the outcome.
    pub(crate) async fn ask(&self, id: &str, ask: Ask) -> (String, String) {
        self.submit(id, ask).await;
        self.outcome(id).await
    }

    /// Asks as the plugin does.
    async fn submit(&self, id: &str, ask: Ask) {
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
    }

    /// What became of a request, once it has ended.
    async fn outcome(&self, id: &str) -> (String, String) {
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

/// What was answered is remembered as it is stored: nobody writes it again when the cluster is looked at next.
#[tokio::test(start_paused = true)]
async fn an_answer_is_written_once() {
    let world = World::new(310).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let often =
        json!({"metadata": {"annotations": {"muster.dev/last-backup-time": "2025-12-31T23:00:00.25Z"}}});
    world.patch("orders", often).await;
    pause(Duration::from_millis(250)).await;
    for (id, to) in [("one", "orders-a-1"), ("two", "nobody")] {
        world.ask(id, Ask::Switchover { to: Some(to.into()) }).await;
        world.rest().await;
        world.calls.take();
        world.patch("orders", json!({"metadata": {"annotations": {"example.org/looked-at": id}}})).await;
        world.rest().await;
        assert_eq!(world.writes(), Vec::<String>::new(), "after {id}");
    }
}

/// A switchover that cannot go on yet: its target lags behind.
async fn under_way(world: &World, id: &str) {
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.stall_copies("shop", "orders-a-2", true);
    for _ in 0..5 {
        world.fleet.write("shop", "orders");
    }
    world.submit(id, Ask::Switchover { to: Some("orders-a-2".into()) }).await;
    world.until("orders", "to take it up", |cluster| last(cluster) == Some((id, "Accepted"))).await;
}

fn last(cluster: &ReplicatedCluster) -> Option<(&str, &str)> {
    let last = cluster.status.as_ref()?.last_request.as_ref()?;
    Some((&last.id, &last.result))
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_lost_with_its_operator_is_said_to_be() {
    let mut world = World::new(311).await;
    under_way(&world, "one").await;
    world.start_operator();
    let (result, message) = world.outcome("one").await;
    assert_eq!((result.as_str(), message.contains("repeat it")), ("Failed", true), "{message}");
    world.fleet.stall_copies("shop", "orders-a-2", false);
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new(), "that is said once");
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_under_way_ends_when_clustering_is_stopped() {
    let world = World::new(312).await;
    under_way(&world, "one").await;
    world.patch("orders", clustering(true)).await;
    let (result, message) = world.outcome("one").await;
    assert_eq!((result.as_str(), message.contains("clustering was stopped")), ("Failed", true), "{message}");
    // The next manager does not take it up again, and does not forget it.
    world.patch("orders", clustering(false)).await;
    world.fleet.stall_copies("shop", "orders-a-2", false);
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.primary.as_deref(), Some("orders-a-0"));
    assert_eq!(status.last_request.unwrap().result, "Failed");
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_second_request_does_not_replace_the_one_that_is_under_way() {
    let world = World::new(313).await;
    under_way(&world, "one").await;
    let (result, message) = world.ask("two", Ask::Switchover { to: Some("orders-a-1".into()) }).await;
    assert_eq!((result.as_str(), message.contains("switchover one")), ("Refused", true), "{message}");
    world.fleet.stall_copies("shop", "orders-a-2", false);
    let (result, message) = world.outcome("one").await;
    assert_eq!(result, "Done", "{message}");
    assert_eq!(world.ready("orders").await.status.unwrap().primary.as_deref(), Some("orders-a-2"));
    world.unharmed();
}

/// Times in status are whole seconds, and the last word counts all the same.
#[tokio::test(start_paused = true)]
async fn a_refusal_within_the_second_of_an_earlier_answer_is_told() {
    let world = World::new(314).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let into_the_second = u64::from(world.fleet.now().subsec_nanosecond().unsigned_abs());
    pause(Duration::from_nanos(1_000_000_000 - into_the_second)).await;
    let count = Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(2) };
    let (result, message) = world.ask("one", count).await;
    assert_eq!(result, "Done", "{message}");
    let at = |cluster: ReplicatedCluster| cluster.status.unwrap().last_request.unwrap().time.unwrap();
    let one = at(world.clusters().get("orders").await.unwrap());
    let (result, message) = world.ask("two", Ask::Switchover { to: Some("nobody".into()) }).await;
    assert_eq!(result, "Refused", "{message}");
    assert_eq!(at(world.clusters().get("orders").await.unwrap()), one, "the same second");
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

#[tokio::test(start_paused = true)]
async fn a_dead_member_is_forgotten_and_its_replacement_takes_the_next_ordinal() {
    let world = World::new(33).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let dead = || vec!["orders-a-2".to_owned()];
    world.fleet.power_off("shop", "orders-a-2");
    world.until("orders", "to miss it", |cluster| !super::world::is_ready(cluster)).await;
    let (result, message) = world.ask("too early", Ask::Forget { members: dead() }).await;
    assert_eq!((result.as_str(), message.contains("kubectl muster fence")), ("Failed", true), "{message}");
    let (result, message) = world.ask("fence", Ask::Fence { members: dead() }).await;
    assert_eq!(result, "Done", "{message}");
    let (result, message) = world.ask("forget", Ask::Forget { members: dead() }).await;
    assert_eq!(result, "Done", "{message}");
    // Its machine does not return, and a person says so to Kubernetes too.
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "shop");
    let leaving = kube::runtime::wait::await_condition(pods.clone(), "orders-a-2-0", |pod: Option<&Pod>| {
        pod.is_some_and(|pod| pod.metadata.deletion_timestamp.is_some())
    });
    tokio::time::timeout(std::time::Duration::from_secs(60), leaving).await.unwrap().unwrap();
    pods.delete("orders-a-2-0", &DeleteParams::default().grace_period(0)).await.unwrap();
    world.until("orders", "to replace it", |cluster| members(cluster).contains(&"orders-a-3".into())).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.members.unwrap().ready, ["orders-a-0", "orders-a-1", "orders-a-3"]);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(world.client.clone(), "shop");
    let kept = claims.get("data-orders-a-2").await.unwrap();
    assert_eq!(kept.annotations().get(ANNOTATION_FORGOTTEN).map(String::as_str), Some("true"));
    assert_eq!(world.fleet.violations(), Vec::<String>::new());
}

fn members(cluster: &ReplicatedCluster) -> Vec<String> {
    let members = cluster.status.as_ref().and_then(|status| status.members.as_ref());
    members.map(|members| members.ready.clone()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_persons_lower_restore_replicas_names_those_whose_data_it_gives_up() {
    let world = World::new(34).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world
        .patch("orders", json!({"metadata": {"annotations": {ANNOTATION_CLUSTERING_STOPPED: "true"}}}))
        .await;
    world.until("orders", "to stand", |cluster| super::world::is(cluster, "ClusteringActive", "False")).await;
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.fleet.power_off("shop", member);
    }
    world.fleet.power_on("shop", "orders-a-1");
    let edit = Patch::Merge(json!({"status": {"restoreReplicas": 1}}));
    world.clusters().patch_status("orders", &PatchParams::default(), &edit).await.unwrap();
    world.patch("orders", json!({"metadata": {"annotations": {ANNOTATION_CLUSTERING_STOPPED: null}}})).await;
    world.until("orders", "to be stuck", |cluster| recovers(cluster, "orders-a-2")).await;
    let lost = || vec!["orders-a-0".to_owned(), "orders-a-2".to_owned()];
    let (result, message) = world.ask("fence", Ask::Fence { members: lost() }).await;
    assert_eq!(result, "Done", "{message}");
    world.until("orders", "to go on", |cluster| super::world::is(cluster, "Available", "True")).await;
    super::world::pause(std::time::Duration::from_secs(1)).await;
    let events: Api<Event> = Api::namespaced(world.client.clone(), "shop");
    let said: Vec<(String, String)> = events
        .list(&ListParams::default())
        .await
        .unwrap()
        .into_iter()
        .filter(|event| event.type_.as_deref() == Some("Warning"))
        .map(|event| (event.reason.unwrap_or_default(), event.note.unwrap_or_default()))
        .collect();
    let named = said.iter().find(|(reason, _)| reason == "DataMayBeLost");
    let named = named.map(|(_, note)| note.clone()).unwrap_or_default();
    assert!(named.contains("restoreReplicas") && named.contains("orders-a-0, orders-a-2"), "{said:?}");
}

/// The operator has seen a primary serve before the outage: the count is about the outage all the same.
#[tokio::test(start_paused = true)]
async fn a_count_that_a_person_asks_for_gives_up_the_data_of_those_who_are_fenced() {
    let world = World::new(35).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.fleet.power_off("shop", member);
    }
    world.fleet.power_on("shop", "orders-a-1");
    let lost = vec!["orders-a-0".to_owned(), "orders-a-2".to_owned()];
    world.until("orders", "to be stuck", |cluster| lacks(cluster, &lost)).await;
    let (result, message) = world.ask("fence", Ask::Fence { members: lost }).await;
    assert_eq!(result, "Done", "{message}");
    let fewer = Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(1) };
    let (result, message) = world.ask("fewer", fewer).await;
    assert_eq!(result, "Done", "{message}");
    world.until("orders", "to go on", |cluster| super::world::is(cluster, "Available", "True")).await;
    assert_eq!(world.fleet.serving("shop", "orders"), ["orders-a-1"]);
    // It is spent: the next outage is one of its own.
    for member in ["orders-a-0", "orders-a-2"] {
        world.fleet.power_on("shop", member);
    }
    world.ready("orders").await;
    for member in ["orders-a-0", "orders-a-1", "orders-a-2"] {
        world.fleet.power_off("shop", member);
    }
    world.fleet.power_on("shop", "orders-a-2");
    let lost = vec!["orders-a-0".to_owned(), "orders-a-1".to_owned()];
    world.until("orders", "to be stuck again", |cluster| lacks(cluster, &lost)).await;
    let (result, message) = world.ask("again", Ask::Fence { members: lost }).await;
    assert_eq!(result, "Done", "{message}");
    world
        .until("orders", "to wait for data", |cluster| {
            let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
            recovery.is_some_and(|recovery| recovery.blocked_by.as_deref() == Some("DataMissing"))
        })
        .await;
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new());
}

/// Whether recovery waits for these members, and for no other.
fn lacks(cluster: &ReplicatedCluster, members: &[String]) -> bool {
    let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
    recovery.is_some_and(|recovery| recovery.missing == members)
}

/// Whether recovery waits for this member.
fn recovers(cluster: &ReplicatedCluster, member: &str) -> bool {
    let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
    recovery.is_some_and(|recovery| recovery.missing.iter().any(|name| name == member))
}
