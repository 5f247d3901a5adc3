//! Whole lives in process: every call that the operator makes is permitted by the table, and every word of the table is used.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams};
use muster_api::names::{ANNOTATION_REQUEST, OPERATOR_NAMESPACE};
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use muster_core::manager::requests::{Ask, Request};
use muster_operator::clock::{RuntimeClock, SharedClock};
use muster_operator::rbac::{PERMISSIONS, Permission, Scope};
use muster_test_agents::Pace;
use muster_test_agents::kubelet::Part;
use muster_test_world::spy::edits_before_reports;
use muster_test_world::{Call, Process, World, pause, samples};
use serde_json::json;
use tokio::task::JoinSet;

/// When the world begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

struct Scene {
    world: World,
    process: Process,
    _controllers: JoinSet<()>,
}

/// An operator of this namespace or of all, whose first answer to each kind of write is lost, and beside whom someone edits.
async fn scene(namespace: Option<&str>, seed: u64) -> Scene {
    let began: Timestamp = BEGINNING.parse().unwrap();
    let server = Server::builder().source(Seeded::new(seed, began)).build().await;
    let mut controllers = JoinSet::new();
    controllers.spawn(muster_apiserver::controllers::run(server.clone()));
    let clock: SharedClock = Arc::new(RuntimeClock::starting_at(began));
    let client = kube::Client::new(server, "shop");
    let mut world = World::new(client.clone(), "shop", clock, Pace::default(), Part::default(), seed).await;
    (world.patience, world.look_every) = (Duration::from_secs(300), Duration::from_millis(500));
    world.spy.lose_first_answers();
    world.spy.before(Some(edits_before_reports(&client)));
    let process = Process::start(world.setup(&client, namespace, seed));
    Scene { world, process, _controllers: controllers }
}

/// Creation, drivers, growth, shrinking, a new version, pauses, a request, parking, a bad certificate, and the end.
async fn live(scene: &Scene) {
    let world = &scene.world;
    let drivers = |list| json!({"spec": {"drivers": list}});
    world.create("orders", 2).await;
    world.patch("orders", drivers(json!([{"name": "proxy"}, {"name": "mounts"}]))).await;
    world.ready("orders").await;
    world.patch("orders", drivers(json!([]))).await;
    world.scale("orders", 3).await;
    world.ready("orders").await;
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    world.ready("orders").await;
    switch_over(world).await;
    world.scale("orders", 2).await;
    world.ready("orders").await;
    for pause in ["muster.dev/clustering-stopped", "muster.dev/reconciliation-stopped"] {
        world.annotate("orders", pause, Some("true")).await;
        world
            .until("orders", "to be paused", |cluster| {
                cluster.status.as_ref().unwrap().control_paused == Some(true)
            })
            .await;
        world.annotate("orders", pause, None).await;
        world.ready("orders").await;
    }
    replace_certificate(world).await;
    world.patch("orders", json!({"spec": {"pools": samples::pools(2, "Delete")}})).await;
    world.ready("orders").await;
    world.scale("orders", 0).await;
    world
        .until("orders", "to be parked", |cluster| {
            cluster.status.as_ref().unwrap().phase.as_deref() == Some("Provisioned")
        })
        .await;
    world.patch("orders", json!({"spec": {"pools": samples::pools(2, "Delete")}})).await;
    world.ready("orders").await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    world.unharmed();
}

/// A certificate that is of no use is replaced when Secrets are looked at again.
async fn replace_certificate(world: &World) {
    let garbage = json!({"data": {"tls.crt": "bm8="}});
    let (secrets, name) = (world.api::<Secret>(), "orders-a-0-agent");
    let spoilt = secrets.patch(name, &PatchParams::default(), &Patch::Merge(garbage)).await.unwrap();
    let began = tokio::time::Instant::now();
    while secrets.get(name).await.unwrap().data == spoilt.data {
        assert!(began.elapsed() < Duration::from_secs(1500), "nobody looked at it");
        pause(Duration::from_secs(10)).await;
    }
}

async fn switch_over(world: &World) {
    let cluster = world.clusters().get("orders").await.unwrap();
    let request = Request {
        id: "one".into(),
        cluster_uid: cluster.metadata.uid.clone().unwrap(),
        generation: cluster.metadata.generation.unwrap(),
        expires: world.clock.now() + SignedDuration::from_mins(5),
        digest: None,
        ask: Ask::Switchover { to: None },
    };
    let text = serde_json::to_string(&request).unwrap();
    world.annotate("orders", ANNOTATION_REQUEST, Some(&text)).await;
    world
        .until("orders", "to switch over", |cluster| {
            let last = cluster.status.as_ref().and_then(|status| status.last_request.as_ref());
            last.is_some_and(|last| last.result == "Done")
        })
        .await;
    world.ready("orders").await;
}

/// Whether an operator of this namespace, or of all, may make this call by this permission.
fn permits(one: &Permission, call: &Call, namespace: Option<&str>) -> bool {
    let verb = one.verbs.contains(&call.verb);
    let named = one.only.is_none_or(|only| call.name.as_deref() == Some(only));
    let there = call.namespace.as_deref();
    let placed = match (one.scope, namespace) {
        (Scope::Clusters | Scope::Everywhere, None) => true,
        (Scope::Clusters | Scope::Lease, Some(namespace)) => there == Some(namespace),
        (Scope::Everywhere, Some(_)) => false,
        (Scope::Beside, _) => there.is_none(),
        (Scope::Lease, None) => there == Some(OPERATOR_NAMESPACE),
    };
    one.group == call.group && one.resource == call.resource && verb && named && placed
}

/// Lives a life, and compares.
async fn compare(namespace: Option<&str>, seed: u64) {
    let scene = scene(namespace, seed).await;
    live(&scene).await;
    let spy = scene.world.spy.clone();
    scene.process.stop().await;
    let calls = spy.calls();
    let missing: Vec<&Call> =
        calls.iter().filter(|call| !PERMISSIONS.iter().any(|one| permits(one, call, namespace))).collect();
    assert!(missing.is_empty(), "the table does not permit {missing:#?}");
    let mut unused = BTreeSet::new();
    for one in PERMISSIONS.iter().filter(|one| namespace.is_none() || one.scope != Scope::Everywhere) {
        for verb in one.verbs {
            if !calls.iter().any(|call| call.verb == *verb && permits(one, call, namespace)) {
                unused.insert(format!("{verb} {}/{} {:?}", one.group, one.resource, one.scope));
            }
        }
    }
    assert!(unused.is_empty(), "the table permits what no call needs: {unused:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_table_and_the_calls_of_an_operator_of_all_namespaces_agree() {
    compare(None, 71).await;
}

#[tokio::test(start_paused = true)]
async fn the_table_and_the_calls_of_an_operator_of_one_namespace_agree() {
    compare(Some("shop"), 72).await;
}
