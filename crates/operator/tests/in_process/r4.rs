//! R4: clustering and reconciliation are stopped and started, and status says so.

use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use muster_api::{Member, ReplicatedCluster};
use serde_json::json;

use super::help::{clustering, condition, member_is, reconciliation};
use super::world::{World, is, is_ready, pause};

/// How many different worlds are stopped in both ways.
const SEEDS_OF_BOTH_PAUSES: u64 = 4;

#[tokio::test(start_paused = true)]
async fn r4_1_only_the_value_true_stops() {
    let world = World::new(501).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    for key in ["muster.dev/clustering-stopped", "muster.dev/reconciliation-stopped"] {
        world.patch("orders", json!({"metadata": {"annotations": {key: "yes"}}})).await;
    }
    pause(Duration::from_secs(5)).await;
    let cluster = world.clusters().get("orders").await.unwrap();
    assert!(is(&cluster, "ClusteringActive", "True") && is(&cluster, "ReconciliationActive", "True"));
    world.patch("orders", clustering(true)).await;
    world.patch("orders", reconciliation(true)).await;
    world
        .until("orders", "to stop both", |cluster| {
            is(cluster, "ClusteringActive", "False") && is(cluster, "ReconciliationActive", "False")
        })
        .await;
    world.patch("orders", clustering(false)).await;
    world.patch("orders", reconciliation(false)).await;
    world.ready("orders").await;
}

/// The manager sends nothing while it is stopped; what does not restart anyone is still reconciled.
#[tokio::test(start_paused = true)]
async fn r4_2_the_manager_is_stopped_once_and_the_rest_is_reconciled() {
    let world = World::new(502).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    assert!(world.figures().contains("muster_agent_streams 0\n"), "it holds no stream");
    world.fleet.restart("shop", "orders-a-0");
    pause(Duration::from_secs(30)).await;
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new(), "nobody is promoted");
    let annotations = json!({"example.org/note": "x"});
    world.patch("orders", json!({"spec": {"service": {"annotations": annotations}}})).await;
    world
        .wait_for("the Service to follow", async || {
            let service = world.api::<Service>().get("orders").await.unwrap();
            service.annotations().contains_key("example.org/note").then_some(())
        })
        .await;
    // What would restart a member is held, and listed.
    let runs = world.fleet.run("shop", "orders-a-1");
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let held = world
        .until("orders", "to hold", |cluster| {
            condition(cluster, "InfrastructureReady").reason == "ClusteringStopped"
        })
        .await;
    assert!(condition(&held, "InfrastructureReady").message.contains("orders-a-"), "{:?}", held.status);
    pause(Duration::from_secs(10)).await;
    assert_eq!(world.fleet.run("shop", "orders-a-1"), runs);
    world.patch("orders", clustering(false)).await;
    assert_eq!(world.ready("orders").await.status.unwrap().current_version.as_deref(), Some("2"));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r4_3_what_nobody_looks_at_is_unknown() {
    let world = World::new(503).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.patch("orders", clustering(true)).await;
    let stopped = world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    for kind in
        ["Available", "Healthy", "ControlPlaneReady", "Ready", "Recovering", "ScalingUp", "RollingOut"]
    {
        assert!(is(&stopped, kind, "Unknown"), "{kind}: {:?}", stopped.status);
    }
    let status = serde_json::to_value(stopped.status.unwrap()).unwrap();
    for absent in
        ["readyReplicas", "availableReplicas", "syncedReplicas", "errantReplicas", "primary", "membersReady"]
    {
        assert!(status.get(absent).is_none(), "{absent} would be a claim: {status:#}");
    }
    assert_eq!(status["replicas"], 2, "objects are still counted");
    let member = world
        .until_member("orders-a-0", "to be unknown", |member| member_is(member, "AgentConnected", "Unknown"))
        .await;
    assert!(member_is(&member, "Joined", "Unknown") && member_is(&member, "Ready", "Unknown"));
}

#[tokio::test(start_paused = true)]
async fn r4_4_resuming_leaves_unknown_and_judges_what_was_done_by_hand() {
    let world = World::new(504).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    // By hand, another member is made the primary.
    world.fleet.restart("shop", "orders-a-0");
    world.fleet.promote_by_hand("shop", "orders-a-1");
    world.patch("orders", clustering(false)).await;
    let after = world.until("orders", "to look again", |cluster| is(cluster, "Available", "True")).await;
    assert!(is(&after, "ClusteringActive", "True"));
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!(status.primary.as_deref(), Some("orders-a-1"), "what a person did is kept");
    world.unharmed();
}

/// Nothing is applied, whatever the spec says; the manager runs on, can be stopped and started again, and fails over.
#[tokio::test(start_paused = true)]
async fn r4_5_while_reconciliation_is_stopped_clustering_stops_and_starts_and_nothing_is_applied() {
    for seed in 0..SEEDS_OF_BOTH_PAUSES {
        let world = World::new(5050 + seed).await;
        world.create("orders", 3).await;
        world.ready("orders").await;
        world.rest().await;
        let says = |kind: &'static str, status: &'static str| {
            move |cluster: &ReplicatedCluster| condition(cluster, kind).status == status
        };
        world.patch("orders", reconciliation(true)).await;
        world.until("orders", "to stop reconciliation", says("ReconciliationActive", "False")).await;
        let pools = super::samples::manifest("orders", 4)["spec"]["pools"].clone();
        world.patch("orders", json!({"spec": {"engine": {"version": "2"}, "pools": pools}})).await;
        world.rest().await;
        world.calls.take();

        // The manager runs on.
        world.fleet.restart("shop", "orders-a-0");
        let elsewhere = |cluster: &ReplicatedCluster| {
            let primary = cluster.status.as_ref().and_then(|status| status.primary.as_deref());
            primary.is_some_and(|primary| primary != "orders-a-0")
        };
        world.until("orders", "to fail over", elsewhere).await;
        world.rest().await;
        let primary = world.fleet.serving("shop", "orders").pop().unwrap();
        assert_ne!(primary, "orders-a-0");

        // It is stopped, though the spec is not applied.
        world.patch("orders", clustering(true)).await;
        world.until("orders", "to stop clustering", says("ClusteringActive", "False")).await;
        assert_eq!(world.fleet.serving("shop", "orders"), [primary.as_str()], "the application goes on");
        world.fleet.restart("shop", &primary);
        world.rest().await;
        assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new(), "nobody is promoted");
        let both = world.clusters().get("orders").await.unwrap();
        assert!(says("ReconciliationActive", "False")(&both) && says("Available", "Unknown")(&both));
        assert_eq!(both.status.as_ref().unwrap().observed_generation, Some(1));

        // And started: it fails over again.
        world.patch("orders", clustering(false)).await;
        let after = world.until("orders", "to fail over again", says("Available", "True")).await;
        assert!(says("ClusteringActive", "True")(&after) && says("ReconciliationActive", "False")(&after));
        assert_eq!(after.status.as_ref().unwrap().observed_generation, Some(1));
        world.rest().await;
        assert_eq!(world.fleet.serving("shop", "orders").len(), 1);
        assert_eq!(world.names::<Member>().await.len(), 3, "the spec is not applied");
        let touched = world.writes().into_iter().filter(|write| {
            let own = write.ends_with(" status") || write.contains("patch muster.dev/replicatedclusters");
            let labels = write.contains("patch /pods ");
            !own && !labels
        });
        assert_eq!(touched.collect::<Vec<_>>(), Vec::<String>::new());

        world.patch("orders", reconciliation(false)).await;
        let status = world.ready("orders").await.status.unwrap();
        assert_eq!((status.current_version.as_deref(), status.ready_replicas), (Some("2"), Some(4)));
        world.unharmed();
    }
}

/// An operator that starts while both are stopped finds them stopped: it writes nothing, commands nobody, and forgets neither.
#[tokio::test(start_paused = true)]
async fn r4_5_an_operator_that_restarts_while_both_are_stopped_leaves_all_as_it_is() {
    let mut world = World::new(5060).await;
    world.create("orders", 3).await;
    world.ready("orders").await;
    world.patch("orders", clustering(true)).await;
    world.patch("orders", reconciliation(true)).await;
    world
        .until("orders", "to stop both", |cluster| {
            is(cluster, "ClusteringActive", "False") && is(cluster, "ReconciliationActive", "False")
        })
        .await;
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    world.rest().await;
    let before = world.clusters().get("orders").await.unwrap();
    world.calls.take();
    world.start_operator();
    world.rest().await;
    assert_eq!(world.writes(), Vec::<String>::new());
    // What is done by hand meanwhile is nobody's business.
    world.fleet.restart("shop", "orders-a-0");
    world.rest().await;
    assert_eq!(world.fleet.serving("shop", "orders"), Vec::<String>::new(), "nobody is promoted");
    let after = world.clusters().get("orders").await.unwrap();
    let told = |cluster: &ReplicatedCluster| cluster.status.clone().unwrap().conditions;
    assert_eq!(told(&after), told(&before));
    assert_eq!(after.status.as_ref().unwrap().observed_generation, Some(1), "the newest spec is not applied");
    // Each is started by itself, again by an operator that did not see it stop.
    world.patch("orders", clustering(false)).await;
    let serves = |cluster: &ReplicatedCluster| condition(cluster, "Available").status == "True";
    let led = world.until("orders", "to have a primary", serves).await;
    assert!(is(&led, "ReconciliationActive", "False"), "{:?}", led.status);
    world.start_operator();
    world.patch("orders", reconciliation(false)).await;
    assert_eq!(world.ready("orders").await.status.unwrap().current_version.as_deref(), Some("2"));
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r4_6_reconciliation_active_says_which() {
    let mut world = World::new(506).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.patch("orders", reconciliation(true)).await;
    world.scale("orders", 2).await;
    let stopped = world
        .until("orders", "to stop", |cluster| {
            is(cluster, "ReconciliationActive", "False") && cluster.metadata.generation == Some(2)
        })
        .await;
    let status = stopped.status.as_ref().unwrap();
    assert_eq!((status.observed_generation, status.control_paused), (Some(1), Some(true)));
    assert_eq!(status.phase.as_deref(), Some("Paused"));
    assert_eq!(condition(&stopped, "Ready").observed_generation, Some(1), "of what was applied last");
    assert!(!is_ready(&stopped));
    // A restart does not make it forget which spec runs.
    world.start_operator();
    world.rest().await;
    let after = world.clusters().get("orders").await.unwrap();
    assert_eq!(after.status.unwrap().observed_generation, Some(1));
    // A cluster that is deleted waits.
    let params = kube::api::DeleteParams::default();
    world.clusters().delete("orders", &params).await.unwrap();
    pause(Duration::from_secs(20)).await;
    let waits = world.clusters().get("orders").await.unwrap();
    assert_eq!(
        waits.status.as_ref().unwrap().reason.as_deref(),
        Some("ReconciliationStopped"),
        "{:?}",
        waits.status
    );
    assert_eq!(world.names::<Member>().await, ["orders-a-0"]);
    world.patch("orders", reconciliation(false)).await;
    world.gone("orders").await;
}

#[tokio::test(start_paused = true)]
async fn r4_8_both_metrics_are_one_while_stopped_and_zero_otherwise() {
    let world = World::new(508).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    let shows = |kind: &str, value: i32| {
        let line = format!("muster_cluster_{kind}_stopped{{name=\"orders\",namespace=\"shop\"}} {value}\n");
        assert!(world.figures().contains(&line), "{line}{}", world.figures());
    };
    shows("clustering", 0);
    shows("reconciliation", 0);
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    shows("clustering", 1);
    shows("reconciliation", 0);
    world.patch("orders", clustering(false)).await;
    world.patch("orders", reconciliation(true)).await;
    world
        .until("orders", "to stop", |cluster| {
            is(cluster, "ReconciliationActive", "False") && is(cluster, "ClusteringActive", "True")
        })
        .await;
    shows("clustering", 0);
    shows("reconciliation", 1);
    world.patch("orders", reconciliation(false)).await;
    world.ready("orders").await;
    world.clusters().delete("orders", &kube::api::DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    pause(Duration::from_secs(2)).await;
    assert!(!world.figures().contains("name=\"orders\""), "{}", world.figures());
}

/// The table that `kubectl get` shows, with what the operator wrote.
#[tokio::test(start_paused = true)]
async fn r4_7_the_columns_show_it() {
    let world = World::new(507).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.patch("orders", clustering(true)).await;
    world.until("orders", "to stop", |cluster| is(cluster, "ClusteringActive", "False")).await;
    let path = "/apis/muster.dev/v1alpha1/namespaces/shop/replicatedclusters";
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let request = http::Request::get(path).header("Accept", accept).body(Vec::new()).unwrap();
    let table: serde_json::Value = world.client.request(request).await.unwrap();
    let columns = table["columnDefinitions"].as_array().unwrap();
    let cell = |name: &str| {
        let at = columns.iter().position(|column| column["name"] == name);
        table["rows"][0]["cells"][at.unwrap_or_else(|| panic!("{name}: {table:#}"))].clone()
    };
    for (name, value) in [
        ("Name", json!("orders")),
        ("Phase", json!("Paused")),
        ("Available", json!("Unknown")),
        ("Healthy", json!("Unknown")),
        ("Clustering Active", json!("False")),
        ("Reconcile Active", json!("True")),
    ] {
        assert_eq!(cell(name), value, "{name}");
    }
    for name in ["Primary", "Members", "Synced Replicas", "Errant Replicas", "Last Backup", "Age", "Ready"] {
        cell(name);
    }
}
