//! What is not seen any more (a label, a role, a figure, a node) holds nobody up, and nobody claims that it is as it was.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Method, Request, Response};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Api, Client, ResourceExt};
use muster_api::ReplicatedCluster;
use muster_api::names::{ANNOTATION_REQUEST, LABEL_CLUSTER, LABEL_ROLE};
use muster_core::manager::requests::{Ask, Request as Asked};
use muster_operator::clock::RuntimeClock;
use muster_operator::context::Chance;
use muster_operator::lease::Authority;
use muster_operator::run::{Operator, Parts};
use muster_test_agents::kubelet::NODE;
use muster_test_world::spy::Hook;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::help::{clustering, condition};
use super::hostile::{Scene, scene};
use super::world::{World, is, is_ready, pause};

/// Far below the minute after which a manager looks around by itself.
const SOON: Duration = Duration::from_secs(10);

impl World {
    /// Parts for an operator of one's own, in place of the world's.
    fn own_parts(&mut self) -> Parts {
        self.operator = None;
        let clock = Arc::new(RuntimeClock::starting_at(self.fleet.now()));
        let authority = Authority::uncontested(9, clock.clone());
        self.parts(self.server.clone(), authority, clock, Chance::seeded(1))
    }
}

/// A policy that takes the label of the cluster off every Service that is applied, while it is in force.
#[derive(Clone)]
struct Policy {
    client: Client,
    in_force: Arc<AtomicBool>,
}

impl tower_service::Service<Request<Body>> for Policy {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, kube::Result<Response<Body>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<kube::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Self { client, in_force } = self.clone();
        Box::pin(async move {
            let meant = request.method() == Method::PATCH && request.uri().path().contains("/services/");
            if !meant || !in_force.load(Ordering::Relaxed) {
                return client.send(request).await;
            }
            let (parts, body) = request.into_parts();
            let mut said: Value = serde_json::from_slice(&body.collect_bytes().await?).unwrap();
            said["metadata"]["labels"].as_object_mut().unwrap().remove(LABEL_CLUSTER);
            client.send(Request::from_parts(parts, Body::from(said.to_string().into_bytes()))).await
        })
    }
}

/// Nothing tells of what is watched by its label and has none. All else of the cluster goes on.
#[tokio::test(start_paused = true)]
async fn what_lost_its_label_in_our_own_write_does_not_hold_up_its_cluster() {
    let mut world = World::new(6301).await;
    let in_force = Arc::new(AtomicBool::new(false));
    let mut parts = world.own_parts();
    let policy = Policy { client: Client::new(world.server.clone(), "shop"), in_force: in_force.clone() };
    parts.client = Client::new(policy, "shop");
    world.operator = Some(Operator::start(parts));
    world.create("orders", 1).await;
    world.ready("orders").await;
    in_force.store(true, Ordering::Relaxed);
    world.patch("orders", json!({"spec": {"service": {"annotations": {"example.org/a": "b"}}}})).await;
    let labelled = async || {
        let service = world.api::<Service>().get("orders").await.unwrap();
        service.labels().contains_key(LABEL_CLUSTER)
    };
    world.wait_for("the label to be lost", async || (!labelled().await).then_some(())).await;
    world.rest().await;
    world.calls.take();
    world.rest().await;
    let tries = world.writes().iter().filter(|write| write.contains("services")).count();
    assert!(tries <= 20, "{tries} tries in a minute");
    world.scale("orders", 2).await;
    world.wait_for("the new Member", async || world.members().get_opt("orders-a-1").await.unwrap()).await;
    in_force.store(false, Ordering::Relaxed);
    world.patch("orders", json!({"spec": {"service": {"annotations": {"example.org/a": "c"}}}})).await;
    world.ready("orders").await;
    assert!(labelled().await, "it is ours, so its label is put back");
    world.unharmed();
}

/// A request as the plugin writes it.
fn request(cluster: &ReplicatedCluster, now: Timestamp, id: &str, ask: Ask) -> String {
    let request = Asked {
        id: id.to_owned(),
        cluster_uid: cluster.uid().unwrap(),
        generation: cluster.metadata.generation.unwrap(),
        expires: now + SignedDuration::from_mins(5),
        digest: None,
        ask,
    };
    serde_json::to_string(&request).unwrap()
}

/// Stops clustering while the primary is withdrawn from its clients, to be demoted. Each write to a Pod takes 3 s; with
/// `hang` the next ones are never answered. Returns what is said of the stop.
async fn stop_in_the_middle_of_a_switchover(scene: &Scene, hang: bool) -> String {
    let world = &scene.world;
    let under_way = Arc::new(AtomicBool::new(false));
    let hook: Hook = {
        let under_way = under_way.clone();
        Arc::new(move |call| {
            let meant = call.is_write() && call.resource == "pods";
            let first = meant && !under_way.swap(true, Ordering::SeqCst);
            let takes = Duration::from_secs(if first || !hang { 3 } else { 600 });
            Box::pin(async move {
                if meant {
                    pause(takes).await;
                }
            })
        })
    };
    world.spy.before(Some(hook));
    let cluster = world.clusters().get("orders").await.unwrap();
    let ask = Ask::Switchover { to: Some("orders-a-1".to_owned()) };
    let asked = request(&cluster, world.fleet.now(), "one", ask);
    world.annotate("orders", ANNOTATION_REQUEST, Some(&asked)).await;
    let began = Instant::now();
    while !under_way.load(Ordering::SeqCst) {
        assert!(began.elapsed() < SOON, "it is not withdrawn");
        pause(Duration::from_millis(1)).await;
    }
    world.patch("orders", clustering(true)).await;
    let stopped = world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    assert_eq!(world.fleet.serving("shop", "orders"), ["orders-a-0"], "it was not told to step down");
    condition(&stopped, "ClusteringActive").message
}

async fn role(scene: &Scene) -> Option<String> {
    scene.world.api::<Pod>().get("orders-a-0-0").await.unwrap().labels().get(LABEL_ROLE).cloned()
}

/// It serves on, so its clients are to find it.
#[tokio::test(start_paused = true)]
async fn a_primary_that_was_withdrawn_and_not_demoted_is_given_back_before_clustering_is_stopped() {
    let scene = scene(6302).await;
    let said = stop_in_the_middle_of_a_switchover(&scene, false).await;
    assert_eq!(role(&scene).await.as_deref(), Some("primary"));
    assert!(!said.contains("clients"), "{said}");
    scene.world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_cannot_be_given_back_to_its_clients_is_named_when_clustering_is_stopped() {
    let scene = scene(6303).await;
    let said = stop_in_the_middle_of_a_switchover(&scene, true).await;
    assert_eq!(role(&scene).await, None);
    assert!(said.contains("orders-a-0 can serve, and clients are not sent there"), "{said}");
}

/// Says that nothing on the node of all Pods runs, or takes it back.
async fn taint(world: &World, tainted: bool) {
    let nodes: Api<Node> = Api::all(world.client.clone());
    if nodes.get_opt(NODE).await.unwrap().is_none() {
        let node: Node = serde_json::from_value(json!({"metadata": {"name": NODE}})).unwrap();
        nodes.create(&PostParams::default(), &node).await.unwrap();
    }
    let taint =
        json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"});
    let taints = if tainted { json!([taint]) } else { Value::Null };
    let patch = Patch::Merge(json!({"spec": {"taints": taints}}));
    nodes.patch(NODE, &PatchParams::default(), &patch).await.unwrap();
}

fn lacks(cluster: &ReplicatedCluster, member: &str) -> bool {
    let recovery = cluster.status.as_ref().and_then(|status| status.recovery.as_ref());
    recovery.is_some_and(|recovery| recovery.missing == [member])
}

fn is_led_by_another_than(cluster: &ReplicatedCluster, member: &str) -> bool {
    let primary = cluster.status.as_ref().and_then(|status| status.primary.as_deref());
    primary.is_some_and(|primary| primary != member)
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_taken_out_of_service_unblocks_a_recovery_at_once() {
    let world = World::new(6304).await;
    taint(&world, false).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.power_off("shop", "orders-a-0");
    world.until("orders", "to be blocked", |cluster| lacks(cluster, "orders-a-0")).await;
    let began = Instant::now();
    taint(&world, true).await;
    world.until("orders", "to fail over", |cluster| is_led_by_another_than(cluster, "orders-a-0")).await;
    assert!(began.elapsed() < SOON, "it took {:?}", began.elapsed());
    taint(&world, false).await;
    world.fleet.power_on("shop", "orders-a-0");
    world.ready("orders").await;
    world.unharmed();
}

/// Kubernetes removes the Pods of a node that is out of service, and makes others, which may find no room.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_out_of_service_proves_it_also_when_the_pod_is_gone() {
    let world = World::new(6305).await;
    taint(&world, false).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.fleet.power_off("shop", "orders-a-2");
    world.until("orders", "to miss it", |cluster| !is_ready(cluster)).await;
    taint(&world, true).await;
    world.rest().await;
    let key = ("shop".to_owned(), "orders-a-2".to_owned());
    world.kubelet.turn(|knobs| knobs.never_scheduled.extend([key]));
    let uid = world.api::<Pod>().get("orders-a-2-0").await.unwrap().uid();
    world.api::<Pod>().delete("orders-a-2-0", &DeleteParams::default().grace_period(0)).await.unwrap();
    world
        .wait_for("another Pod", async || {
            let pod = world.api::<Pod>().get_opt("orders-a-2-0").await.unwrap();
            pod.filter(|pod| pod.uid() != uid && pod.spec.as_ref().unwrap().node_name.is_none())
        })
        .await;
    world.rest().await;
    world.fleet.restart("shop", "orders-a-0");
    world.until("orders", "to fail over", |cluster| is_led_by_another_than(cluster, "orders-a-0")).await;
    // Without the taint nothing is proven any more.
    taint(&world, false).await;
    pause(SOON).await;
    world.fleet.restart("shop", "orders-a-1");
    world.until("orders", "to be blocked", |cluster| lacks(cluster, "orders-a-2")).await;
    world.unharmed();
}

/// A number that is kept says that it is so now.
#[tokio::test(start_paused = true)]
async fn figures_of_members_that_nobody_hears_are_not_shown() {
    let world = World::new(6306).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let shown = |member: &str| {
        let figures = world.figures();
        figures.lines().any(|line| line.starts_with("muster_member_") && line.contains(member))
    };
    assert!(shown("orders-a-0") && shown("orders-a-1"), "{}", world.figures());
    world.fleet.power_off("shop", "orders-a-1");
    world.wait_for("its figures to go", async || (!shown("orders-a-1")).then_some(())).await;
    assert!(shown("orders-a-0"));
    world.fleet.power_on("shop", "orders-a-1");
    world.ready("orders").await;
    assert!(shown("orders-a-1"));
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    world.rest().await;
    assert!(!shown("orders-a-"), "{}", world.figures());
    world.patch("orders", clustering(false)).await;
    world.ready("orders").await;
    assert!(shown("orders-a-0") && shown("orders-a-1"));
}

/// What another operator does with its clusters, this one does not know.
#[tokio::test(start_paused = true)]
async fn nothing_is_kept_of_the_clusters_of_a_namespace_that_another_operator_looks_after() {
    let mut world = World::new(6307).await;
    let (others, elsewhere) = watch::channel(Some(Arc::new(BTreeSet::new())));
    let mut parts = world.own_parts();
    parts.elsewhere = elsewhere;
    world.operator = Some(Operator::start(parts));
    world.create("orders", 2).await;
    world.ready("orders").await;
    assert!(world.figures().contains("orders"));
    others.send_replace(Some(Arc::new(BTreeSet::from(["shop".to_owned()]))));
    world.wait_for("the figures to go", async || (!world.figures().contains("orders")).then_some(())).await;
    world.rest().await;
    assert!(!world.figures().contains("orders"), "{}", world.figures());
    assert!(world.operator.as_ref().unwrap().managers().is_empty());
    world.calls.take();
    world.fleet.restart("shop", "orders-a-0");
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new());
    others.send_replace(Some(Arc::default()));
    world.ready("orders").await;
    assert!(world.figures().contains("orders"));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_is_said_to_be_once() {
    let world = World::new(6308).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    let said = async |id: &str| -> Vec<String> {
        pause(Duration::from_secs(1)).await;
        let all = world.said_of("orders").await.into_iter();
        let of = all.filter(|(_, _, note)| note.contains(&format!("switchover {id}")));
        of.map(|(_, reason, _)| reason).collect()
    };
    let (result, _) = world.ask("first", Ask::Switchover { to: Some("nobody".into()) }).await;
    assert_eq!(result, "Refused");
    assert_eq!(said("first").await, ["RequestRefused"]);
    // One that waits for its target, and one that comes meanwhile.
    world.fleet.stall_copies("shop", "orders-a-2", true);
    for _ in 0..5 {
        world.fleet.write("shop", "orders");
    }
    let cluster = world.clusters().get("orders").await.unwrap();
    let long = Ask::Switchover { to: Some("orders-a-2".into()) };
    let text = request(&cluster, world.fleet.now(), "second", long);
    world.patch("orders", json!({"metadata": {"annotations": {ANNOTATION_REQUEST: text}}})).await;
    world.wait_for("it to be taken up", async || (!said("second").await.is_empty()).then_some(())).await;
    let (result, message) = world.ask("third", Ask::Switchover { to: Some("orders-a-1".into()) }).await;
    assert_eq!((result.as_str(), message.contains("is under way")), ("Refused", true), "{message}");
    world.fleet.stall_copies("shop", "orders-a-2", false);
    world.until("orders", "to switch over", |cluster| is_led_by_another_than(cluster, "orders-a-0")).await;
    world.ready("orders").await;
    let once = |reasons: &[String], reason: &str| reasons.iter().filter(|one| *one == reason).count();
    let (second, third) = (said("second").await, said("third").await);
    assert_eq!((once(&third, "RequestRefused"), once(&third, "RequestEnded")), (1, 0), "{third:?}");
    assert_eq!((once(&second, "RequestAccepted"), once(&second, "RequestEnded")), (1, 1), "{second:?}");
    world.unharmed();
}
