//! What was not applied is not said to be: children that could not be written, specs that were overtaken, stopped or invalid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use muster_api::{Member, ReplicatedCluster};
use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::Fault;
use muster_test_world::spy::Hook;
use serde_json::{Value, json};

use super::help::{condition, reconciliation};
use super::hostile::scene;
use super::r1::versions;
use super::samples;
use super::world::{World, is, is_ready, pause};

/// How long something fails: many tries, though they become ever more seldom.
const TROUBLE: Duration = Duration::from_secs(120);

fn out_of_order() -> Fault {
    Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order"))
}

fn annotated(value: &str) -> Value {
    json!({"spec": {"service": {"annotations": {"example.org/a": value}}}})
}

/// A cluster that is live and at rest.
async fn at_rest(seed: u64, nodes: i64) -> World {
    let world = World::new(seed).await;
    world.create("orders", nodes).await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.take();
    world
}

/// For as long as a child of a new spec cannot be written, its cluster is not said to be ready, and says why, once.
async fn is_not_ready_without(world: &World, change: Value, object: &str, mend: impl AsyncFnOnce()) {
    let changed = world.patch("orders", change).await;
    let why = |cluster: &ReplicatedCluster| {
        let said = condition(cluster, "InfrastructureReady");
        (is(cluster, "InfrastructureReady", "Unknown") && said.message.contains(object)).then_some(said)
    };
    let said = world.until("orders", "to say what is not applied", |cluster| why(cluster).is_some()).await;
    assert!(is(&said, "Ready", "Unknown") && is(&said, "SpecValid", "True"), "{:?}", said.status);
    assert_eq!(why(&said).unwrap().reason, "Reconciling");
    world.calls.take();
    pause(TROUBLE).await;
    let told = world.writes().into_iter().filter(|write| write.ends_with("replicatedclusters orders status"));
    assert_eq!(told.count(), 0, "nothing new was to be told");
    mend().await;
    let seen = versions(world, &changed, is_ready).await;
    assert!(seen.len() <= 4, "{} writes: {:#?}", seen.len(), seen.last().unwrap().status);
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_not_ready_while_a_child_cannot_be_written() {
    let faults = [
        out_of_order(),
        Fault::Before(ApiError::new(Reason::TooManyRequests, "later")),
        Fault::Conflict,
        Fault::LostBefore,
    ];
    for (seed, fault) in (650..).zip(faults) {
        let world = at_rest(seed, 1).await;
        world.calls.meet(Some(("services", "orders".to_owned(), fault)));
        let mend = async || world.calls.meet(None);
        is_not_ready_without(&world, annotated("b"), "Service shop/orders", mend).await;
        let service = world.api::<Service>().get("orders").await.unwrap();
        assert_eq!(service.annotations()["example.org/a"], "b");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_not_ready_while_a_driver_that_it_gave_up_cannot_be_deleted() {
    let world = World::new(655).await;
    let exporter = json!({"name": "exporter", "template": {"containers": [{"name": "main", "image": "e"}]}});
    world.patch_engine(json!({"spec": {"drivers": [exporter]}})).await;
    world
        .create_with("orders", 1, |manifest| manifest["spec"]["drivers"] = json!([{"name": "exporter"}]))
        .await;
    world.ready("orders").await;
    world.rest().await;
    world.calls.meet(Some(("deployments", "orders-exporter".to_owned(), out_of_order())));
    let mend = async || world.calls.meet(None);
    is_not_ready_without(&world, json!({"spec": {"drivers": []}}), "orders-exporter", mend).await;
    assert_eq!(world.names::<Deployment>().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_not_ready_while_the_one_before_a_child_has_not_gone() {
    let world = at_rest(656, 1).await;
    let held = |finalizers: Value| json!({"metadata": {"finalizers": finalizers}});
    world.edit::<Service>("orders", held(json!(["example.org/held"]))).await;
    world.api::<Service>().delete("orders", &DeleteParams::default()).await.unwrap();
    world.rest().await;
    let mend = async || drop(world.edit::<Service>("orders", held(json!([]))).await);
    is_not_ready_without(&world, annotated("b"), "Service orders", mend).await;
    let service = world.api::<Service>().get("orders").await.unwrap();
    assert!(service.metadata.deletion_timestamp.is_none());
    assert_eq!(service.annotations()["example.org/a"], "b");
}

/// The spec asks for one member less, and for all of them again before anybody was told to leave.
#[tokio::test(start_paused = true)]
async fn nobody_leaves_by_a_spec_that_was_overtaken() {
    let scene = scene(657).await;
    let world = &scene.world;
    let members = async || {
        let list = world.api::<Member>().list(&ListParams::default()).await.unwrap();
        let known =
            |member: &Member| (member.name_any(), member.uid(), member.metadata.deletion_timestamp.is_some());
        list.items.iter().map(known).collect::<Vec<_>>()
    };
    let before = members().await;
    let (api, edits) = (world.clusters(), Arc::new(AtomicBool::new(true)));
    // How many reports there were, and how many of them before somebody was told to leave.
    let (reports, before_leaving) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (editing, counted, noted) = (edits.clone(), reports.clone(), before_leaving.clone());
    let hook: Hook = Arc::new(move |call| {
        let is_report = call.resource == "replicatedclusters/status";
        let number = if is_report { counted.fetch_add(1, Ordering::SeqCst) } else { 0 };
        if (call.verb, call.resource.as_str()) == ("delete", "members") {
            noted.store(counted.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        // The first is the reset; the second says what is about to be touched.
        let (api, overtakes) = (api.clone(), number == 1 && editing.load(Ordering::SeqCst));
        Box::pin(async move {
            if overtakes {
                let patch = json!({"spec": {"pools": muster_test_world::samples::pools(3, "Retain")}});
                api.patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
            }
        })
    });
    world.spy.before(Some(hook));
    world.scale("orders", 2).await;
    let again = |cluster: &ReplicatedCluster| cluster.metadata.generation == Some(3) && is_ready(cluster);
    world.until("orders", "to be Ready again", again).await;
    pause(Duration::from_secs(60)).await;
    assert_eq!(members().await, before);
    assert_eq!(before_leaving.load(Ordering::SeqCst), 0, "nobody was told to leave");
    // Left alone, that very report is the last before somebody leaves.
    edits.store(false, Ordering::SeqCst);
    reports.store(0, Ordering::SeqCst);
    world.scale("orders", 2).await;
    world.ready("orders").await;
    assert_eq!((before_leaving.load(Ordering::SeqCst), members().await.len()), (2, 2));
    world.unharmed();
}

/// How many of them are to run.
async fn running(world: &World) -> i32 {
    let sets = world.api::<StatefulSet>().list(&ListParams::default()).await.unwrap();
    sets.items.iter().filter_map(|set| set.spec.as_ref()?.replicas).sum()
}

/// Whether workloads were written since this was last asked.
fn touched(world: &World) -> Vec<String> {
    world.writes().into_iter().filter(|write| write.contains("statefulsets")).collect()
}

async fn parked(seed: u64) -> World {
    let world = at_rest(seed, 3).await;
    world.scale("orders", 0).await;
    world.ready("orders").await;
    world.rest().await;
    assert_eq!(running(&world).await, 0);
    world.calls.take();
    world
}

#[tokio::test(start_paused = true)]
async fn an_invalid_spec_starts_nobody_of_a_parked_cluster() {
    let mut world = parked(658).await;
    let pools = samples::manifest("orders", 3)["spec"]["pools"].clone();
    world.patch("orders", json!({"spec": {"engine": {"version": "99"}, "pools": pools}})).await;
    world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    world.rest().await;
    assert_eq!((touched(&world), running(&world).await), (Vec::new(), 0));
    // Nor does an operator that did not see it parked.
    world.start_operator();
    world.rest().await;
    assert_eq!((touched(&world), running(&world).await), (Vec::new(), 0));
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(3));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn nobody_of_a_parked_cluster_is_started_before_the_verdicts_are_reset() {
    let world = parked(659).await;
    world.calls.meet(Some(("replicatedclusters/status", "orders".to_owned(), out_of_order())));
    world.scale("orders", 3).await;
    pause(Duration::from_secs(5)).await;
    assert_eq!(touched(&world), Vec::<String>::new());
    world.calls.meet(None);
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(3));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_spec_that_came_while_reconciliation_was_stopped_resets_the_verdicts_before_it_is_applied() {
    let world = at_rest(660, 2).await;
    world.patch("orders", reconciliation(true)).await;
    let changed = world.patch("orders", annotated("b")).await;
    assert_eq!(changed.metadata.generation, Some(2));
    world.rest().await;
    world.calls.take();
    let blocked = ("replicatedclusters/status", "orders".to_owned(), out_of_order());
    world.calls.meet(Some(blocked));
    let resumed = world.patch("orders", reconciliation(false)).await;
    pause(Duration::from_secs(5)).await;
    let others = world.writes().into_iter().filter(|write| {
        let own = write.contains("replicatedclusters orders");
        !own && !write.contains("/status") && !write.ends_with(" status")
    });
    assert_eq!(others.collect::<Vec<_>>(), Vec::<String>::new(), "no child is touched before the reset");
    world.calls.meet(None);
    let seen = versions(&world, &resumed, is_ready).await;
    let first = seen.iter().find(|cluster| is(cluster, "ReconciliationActive", "True")).unwrap();
    assert_eq!(first.status.as_ref().unwrap().observed_generation, Some(2));
    for kind in ["SpecValid", "InfrastructureReady", "ControlPlaneReady", "Ready"] {
        assert_eq!(condition(first, kind).reason, "Reconciling", "{kind}: {:?}", first.status);
    }
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn a_member_that_was_edited_while_reconciliation_was_stopped_is_reset_before_it_is_applied() {
    let world = at_rest(661, 3).await;
    world.patch("orders", reconciliation(true)).await;
    let edited = world.edit::<Member>("orders-a-2", json!({"spec": {"desiredState": "Disabled"}})).await;
    world.rest().await;
    let stopped = world.members().get("orders-a-2").await.unwrap();
    let observed = |member: &Member| member.status.as_ref().and_then(|status| status.observed_generation);
    assert!(observed(&stopped) < edited.metadata.generation, "{:?}", stopped.status);
    world.patch("orders", reconciliation(false)).await;
    let members = world.members();
    let from = stopped.resource_version().unwrap();
    let params = WatchParams::default().fields("metadata.name=orders-a-2");
    let mut watch = std::pin::pin!(members.watch(&params, &from).await.unwrap());
    let first = loop {
        match watch.try_next().await.unwrap() {
            Some(WatchEvent::Modified(member)) if observed(&member) == edited.metadata.generation => {
                break member;
            }
            Some(_) => {}
            None => panic!("the watch ended"),
        }
    };
    let conditions = first.status.unwrap().conditions;
    let workload = conditions.iter().find(|one| one.type_ == "WorkloadReady").unwrap();
    assert_eq!((workload.status.as_str(), workload.reason.as_str()), ("Unknown", "Reconciling"));
    world.unharmed();
}

/// What became of the object is told late: until then it is looked at now and then, not all the time.
async fn is_overtaken(world: &World, resource: &'static str, name: &str, edit: impl AsyncFn(usize)) -> usize {
    let status = match resource {
        "members" => "members/status",
        _ => "replicatedclusters/status",
    };
    let (late, between) = (Duration::from_secs(4), Duration::from_secs(2));
    world.calls.delay(Some((resource, late)));
    // Without any time taken by a call a pass that never rests would stop the clock.
    world.calls.meet(Some((status, name.to_owned(), Fault::Delay(Duration::from_millis(1)))));
    edit(0).await;
    pause(between).await;
    edit(1).await;
    world.calls.take();
    pause(late).await;
    let own = format!("{resource} {name} status");
    let tries = world.writes().into_iter().filter(|write| write.ends_with(&own)).count();
    world.calls.delay(None);
    world.calls.meet(None);
    world.ready("orders").await;
    world.unharmed();
    tries
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_pass_waits_for_what_overtook_it() {
    let world = at_rest(662, 3).await;
    let edit = async |number: usize| drop(world.patch("orders", annotated(&number.to_string())).await);
    let tries = is_overtaken(&world, "replicatedclusters", "orders", edit).await;
    assert!((2..=40).contains(&tries), "tried {tries} times in two seconds");
    let states = ["Disabled", "Enabled"];
    let edit = async |number: usize| {
        let state = json!({"spec": {"desiredState": states[number]}});
        drop(world.edit::<Member>("orders-a-2", state).await);
    };
    let tries = is_overtaken(&world, "members", "orders-a-2", edit).await;
    assert!((2..=40).contains(&tries), "tried {tries} times in two seconds");
}
