//! People against the writer of status, on paused time: the truth is told within one second of it, to the millisecond.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use kube::api::{Patch, PatchParams, PostParams};
use muster_api::{Member, ReplicatedCluster};
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use muster_operator::clock::{RuntimeClock, SharedClock};
use muster_test_agents::Pace;
use muster_test_agents::kubelet::Part;
use muster_test_world::spy::{Hook, edits_before_reports};
use muster_test_world::{Process, World, is_ready, pause};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// When the world begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";
/// What a person is promised.
const SECOND: Duration = Duration::from_secs(1);
/// Fifty times a second.
const TOUCH_EVERY: Duration = Duration::from_millis(20);
/// How long one edit of the spec takes.
const EDIT_TAKES: Duration = Duration::from_millis(20);
/// How long the spec is edited between every read and every write of a status.
const EDITING: Duration = Duration::from_secs(30);

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) process: Process,
    pub(crate) controllers: JoinSet<()>,
}

/// A cluster of three that is live and at rest.
pub(crate) async fn scene(seed: u64) -> Scene {
    let began: Timestamp = BEGINNING.parse().unwrap();
    let server = Server::builder().source(Seeded::new(seed, began)).build().await;
    let mut controllers = JoinSet::new();
    controllers.spawn(muster_apiserver::controllers::run(server.clone()));
    let clock: SharedClock = Arc::new(RuntimeClock::starting_at(began));
    let client = kube::Client::new(server, "shop");
    let mut world = World::new(client.clone(), "shop", clock, Pace::default(), Part::default(), seed).await;
    (world.patience, world.look_every) = (Duration::from_secs(300), Duration::from_millis(5));
    let process = Process::start(world.setup(&client, Some("shop"), seed));
    world.create("orders", 3).await;
    world.ready("orders").await;
    pause(Duration::from_secs(30)).await;
    Scene { world, process, controllers }
}

impl Scene {
    /// Waits until this is true, for a second and no longer.
    async fn within_a_second(
        &self,
        what: &str,
        test: impl Fn(&ReplicatedCluster) -> bool,
    ) -> ReplicatedCluster {
        let began = Instant::now();
        let cluster = self.world.until("orders", what, test).await;
        assert!(began.elapsed() <= SECOND, "it took {:?} {what}", began.elapsed());
        cluster
    }

    fn serving(&self) -> Vec<String> {
        self.world.fleet.serving("shop", "orders")
    }

    /// Waits until somebody serves, and says who.
    async fn until_served(&self) -> String {
        let began = Instant::now();
        loop {
            if let Some(one) = self.serving().pop() {
                return one;
            }
            assert!(began.elapsed() < self.world.patience, "nobody serves");
            pause(Duration::from_millis(1)).await;
        }
    }
}

/// A status without the times, which say when something became so.
fn timeless(status: Option<&impl serde::Serialize>) -> Value {
    let mut status = serde_json::to_value(status).unwrap();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastTransitionTime"] = Value::Null;
    }
    status
}

/// What people make of a status, as far as the definition lets them.
fn garbage(truth: &Value) -> Vec<Value> {
    let mut upside_down = truth.clone();
    for condition in upside_down["conditions"].as_array_mut().unwrap() {
        condition["status"] = json!(if condition["status"] == "True" { "False" } else { "True" });
    }
    let alone = json!({"conditions": [truth["conditions"][0]], "observedGeneration": 0});
    vec![json!({}), upside_down, alone, json!({"observedGeneration": 99, "conditions": []})]
}

#[tokio::test(start_paused = true)]
async fn r0_8_whatever_is_written_into_a_status_of_a_cluster_or_a_member_is_put_right_within_a_second() {
    let Scene { world, .. } = &scene(184).await;
    let commands = world.epochs.commands();
    let clusters = world.clusters();
    let truth = clusters.get("orders").await.unwrap();
    let told = timeless(truth.status.as_ref());
    let more = [
        json!({"phase": "Failed", "restoreReplicas": 1, "primary": "nobody", "members": {"failed": ["orders-a-0"]}}),
    ];
    for status in garbage(&told).into_iter().chain(more) {
        let mut object = clusters.get("orders").await.unwrap();
        let text = status.to_string().replace("null", "\"2020-01-01T00:00:00Z\"");
        object.status = Some(serde_json::from_str(&text).unwrap());
        clusters.replace_status("orders", &PostParams::default(), &object).await.unwrap();
        pause(SECOND).await;
        let now = clusters.get("orders").await.unwrap();
        assert_eq!(timeless(now.status.as_ref()), told, "after {status}");
        assert_eq!((&now.spec, now.metadata.generation), (&truth.spec, truth.metadata.generation));
    }
    let members = world.api::<Member>();
    for name in ["orders-a-0", "orders-a-2"] {
        let truth = members.get(name).await.unwrap();
        let told = timeless(truth.status.as_ref());
        for status in garbage(&told) {
            let mut object = members.get(name).await.unwrap();
            let text = status.to_string().replace("null", "\"2020-01-01T00:00:00Z\"");
            object.status = Some(serde_json::from_str(&text).unwrap());
            members.replace_status(name, &PostParams::default(), &object).await.unwrap();
            pause(SECOND).await;
            let now = members.get(name).await.unwrap();
            assert_eq!(timeless(now.status.as_ref()), told, "{name} after {status}");
            assert_eq!((&now.spec, now.metadata.generation), (&truth.spec, truth.metadata.generation));
        }
    }
    pause(Duration::from_secs(5)).await;
    assert_eq!(world.epochs.commands(), commands, "a status decides nothing");
    let after = clusters.get("orders").await.unwrap();
    assert_eq!(timeless(after.status.as_ref()), told, "and it ends as it began");
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r0_3_annotations_touched_fifty_times_a_second_do_not_hide_the_truth_for_longer_than_a_second() {
    let scene = scene(185).await;
    let world = &scene.world;
    let before = world.clusters().get("orders").await.unwrap();
    let (api, touched) = (world.clusters(), Arc::new(AtomicUsize::new(0)));
    let count = touched.clone();
    let touching = tokio::spawn(async move {
        loop {
            let edit = count.fetch_add(1, Ordering::SeqCst).to_string();
            let patch = json!({"metadata": {"annotations": {"example.org/edit": edit}}});
            api.patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
            pause(TOUCH_EVERY).await;
        }
    });
    let began = Instant::now();
    for _ in 0..5 {
        // Whoever served dies, and that is told; another one serves, and that is told.
        let old = scene.until_served().await;
        world.fleet.restart("shop", &old);
        scene.within_a_second("not to be Ready", |cluster| !is_ready(cluster)).await;
        let new = scene.until_served().await;
        let named = |cluster: &ReplicatedCluster| {
            cluster.status.as_ref().and_then(|status| status.primary.as_ref()) == Some(&new)
        };
        scene.within_a_second("to name who serves", named).await;
        world.ready("orders").await;
    }
    let often = touched.load(Ordering::SeqCst);
    let expected = began.elapsed().as_millis() / TOUCH_EVERY.as_millis();
    assert!(often as u128 + 2 >= expected, "touched {often} times of {expected}");
    touching.abort();
    let after = world.ready("orders").await;
    assert_eq!((&after.spec, after.metadata.generation), (&before.spec, before.metadata.generation));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r0_3_a_status_is_swapped_beside_edits_of_other_things_without_being_read_again() {
    let scene = scene(187).await;
    let world = &scene.world;
    world.ready("orders").await;
    let calls = |verb: &'static str, suffix: &'static str| {
        world.spy.count(|call| {
            let kind = call.resource.strip_suffix(suffix);
            call.verb == verb && kind.is_some_and(|kind| ["replicatedclusters", "members"].contains(&kind))
        })
    };
    world.spy.before(Some(edits_before_reports(&world.clusters().into_client())));
    let (swaps, reads) = (calls("patch", "/status"), calls("get", ""));
    world.fleet.restart(&world.namespace, "orders-a-0");
    world.until("orders", "not to be Ready", |cluster| !is_ready(cluster)).await;
    world.ready("orders").await;
    // At least the Member and the cluster said that it was gone, and that it is back.
    assert!(calls("patch", "/status") >= swaps + 4, "swapped {} times", calls("patch", "/status") - swaps);
    assert_eq!(calls("get", ""), reads, "nothing had to be read again");
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r0_3_a_spec_edited_between_every_read_and_status_write_is_told_of_within_a_second_after_the_last_edit()
 {
    let scene = scene(186).await;
    let world = &scene.world;
    let before = world.clusters().get("orders").await.unwrap();
    // How often it was edited, and when last.
    let (edits, api) = (Arc::new(Mutex::new((0_i32, Instant::now()))), world.clusters());
    let counted = edits.clone();
    let hook: Hook = Arc::new(move |call| {
        let (api, edits) = (api.clone(), counted.clone());
        let is_report = call.resource == "replicatedclusters/status";
        Box::pin(async move {
            if is_report {
                // Without any time between them there would be no end of edits.
                pause(EDIT_TAKES).await;
                let edit = edits.lock().unwrap().0 + 1;
                let patch =
                    json!({"spec": {"service": {"annotations": {"example.org/edit": edit.to_string()}}}});
                api.patch("orders", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
                *edits.lock().unwrap() = (edit, Instant::now());
            }
        })
    });
    let commands = world.epochs.commands();
    world.spy.before(Some(hook));
    // Something to tell.
    world.annotate("orders", "muster.dev/last-backup-time", Some("2026-01-01T00:00:00Z")).await;
    let began = Instant::now();
    while began.elapsed() < EDITING {
        pause(Duration::from_millis(50)).await;
        let cluster = world.clusters().get("orders").await.unwrap();
        let status = cluster.status.as_ref().unwrap();
        assert!(status.observed_generation <= cluster.metadata.generation);
        let edited = cluster.metadata.generation > before.metadata.generation;
        assert!(!is_ready(&cluster) || !edited, "nothing was told of this spec: {cluster:#?}");
    }
    world.spy.before(None);
    let live = scene.world.until("orders", "to be Ready", is_ready).await;
    let (often, last) = *edits.lock().unwrap();
    assert!(last.elapsed() <= SECOND, "it took {:?} after the last edit", last.elapsed());
    assert!(often > 100, "only {often} edits");
    let mut wanted = before.spec.clone();
    wanted.service.annotations.insert("example.org/edit".to_owned(), often.to_string());
    assert_eq!(live.spec, wanted, "nobody else has changed it");
    assert_eq!(live.metadata.generation, before.metadata.generation.map(|it| it + i64::from(often)));
    assert_eq!(world.epochs.commands(), commands, "no decision changed");
    world.unharmed();
}
