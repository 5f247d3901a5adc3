//! R3: owners, phases, failure domains, and no needless updates.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use serde_json::{Value, json};

use super::help::{Kind, condition};
use super::world::{World, is, is_ready, pause};

async fn owners<K: Kind>(world: &World) -> Vec<(String, Option<String>)> {
    let list = world.api::<K>().list(&ListParams::default()).await.unwrap().items.into_iter();
    let owner = |object: &K| {
        let owner = object.owner_references().first().cloned()?;
        Some(format!("{} {}", owner.kind, owner.name))
    };
    list.map(|object| (object.name_any(), owner(&object))).collect()
}

fn all_of(found: &[(String, Option<String>)], owner: Option<&str>) {
    assert!(!found.is_empty());
    for (name, found) in found {
        assert_eq!(found.as_deref(), owner, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn r3_1_everything_is_owned_except_what_belongs_to_the_data() {
    let world = World::new(401).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let cluster = Some("ReplicatedCluster orders");
    all_of(&owners::<Member>(&world).await, cluster);
    all_of(&owners::<Service>(&world).await, cluster);
    all_of(&owners::<PodDisruptionBudget>(&world).await, cluster);
    all_of(&owners::<ConfigMap>(&world).await, cluster);
    for (name, owner) in owners::<StatefulSet>(&world).await {
        assert_eq!(owner, Some(format!("Member {name}")));
    }
    all_of(&owners::<PersistentVolumeClaim>(&world).await, None);
    let secrets = owners::<Secret>(&world).await;
    let of = |name: &str| secrets.iter().find(|(found, _)| found == name).unwrap().1.clone();
    assert_eq!(of("orders-accounts"), None, "accounts belong to the data");
    assert_eq!(of("orders-agent-ca").as_deref(), cluster);
    assert_eq!(of("orders-a-1-agent").as_deref(), Some("Member orders-a-1"));
}

#[tokio::test(start_paused = true)]
async fn r3_2_the_endpoint_the_failure_domains_and_the_last_backup_are_reported() {
    let world = World::new(402).await;
    let pool = |name: &str, zone: Option<&str>| {
        let mut pool = super::samples::manifest("orders", 1)["spec"]["pools"][0].clone();
        (pool["name"], pool["zone"]) = (json!(name), json!(zone));
        pool
    };
    world
        .create_with("orders", 1, |manifest| {
            manifest["spec"]["pools"] = json!([pool("a", Some("zone-a")), pool("b", None)]);
            let annotations = json!({"example.org/name": "orders.example"});
            manifest["spec"]["service"] = json!({"type": "LoadBalancer", "annotations": annotations});
            manifest["metadata"]["annotations"] =
                json!({"muster.dev/last-backup-time": "2026-01-01T00:00:00Z"});
        })
        .await;
    let cluster = world.ready("orders").await;
    let service = world.api::<Service>().get("orders").await.unwrap();
    assert_eq!(service.annotations()["example.org/name"], "orders.example");
    let spec = service.spec.unwrap();
    assert_eq!(spec.type_.as_deref(), Some("LoadBalancer"));
    let status = cluster.status.unwrap();
    let endpoint = status.endpoint.unwrap();
    assert_eq!((Some(endpoint.host), endpoint.port), (spec.cluster_ip, 5000));
    assert_eq!(status.last_backup_time.unwrap().0.to_string(), "2026-01-01T00:00:00Z");
    assert_eq!((status.failure_reason, status.failure_message), (None, None));
    let domains: Vec<String> = status.failure_domains.iter().map(|domain| domain.name.clone()).collect();
    assert_eq!(domains, ["b", "zone-a"]);
    // When there is an address outside, it is that.
    let outside = json!({"status": {"loadBalancer": {"ingress": [{"hostname": "orders.example"}]}}});
    let params = kube::api::PatchParams::default();
    world.api::<Service>().patch_status("orders", &params, &kube::api::Patch::Merge(outside)).await.unwrap();
    world
        .until("orders", "to show its address", |cluster| {
            cluster.status.as_ref().unwrap().endpoint.as_ref().is_some_and(|one| one.host == "orders.example")
        })
        .await;
    world
        .patch(
            "orders",
            json!({"metadata": {"annotations": {"muster.dev/last-backup-time": "2026-02-01T00:00:00Z"}}}),
        )
        .await;
    world
        .until("orders", "to show its backup", |cluster| {
            let time = cluster.status.as_ref().unwrap().last_backup_time.as_ref();
            time.is_some_and(|time| time.0.to_string() == "2026-02-01T00:00:00Z")
        })
        .await;
}

fn phase(cluster: &ReplicatedCluster) -> Option<&str> {
    cluster.status.as_ref()?.phase.as_deref()
}

#[tokio::test(start_paused = true)]
async fn r3_3_phases_follow_from_what_is_ready() {
    let world = World::new(403).await;
    world.kubelet.turn(|knobs| knobs.stopped = true);
    world.create_with("orders", 3, |manifest| manifest["spec"]["engine"]["version"] = json!("9")).await;
    world
        .until("orders", "to be Pending", |cluster| {
            phase(cluster) == Some("Pending") && is(cluster, "SpecValid", "False")
        })
        .await;
    world.patch("orders", json!({"spec": {"engine": {"version": "1"}}})).await;
    let provisioning =
        world.until("orders", "to be Provisioning", |cluster| phase(cluster) == Some("Provisioning")).await;
    assert!(!is(&provisioning, "InfrastructureReady", "True"));
    world.kubelet.turn(|knobs| knobs.stopped = false);
    world.until("orders", "to be Running", |cluster| phase(cluster) == Some("Running")).await;
    world.ready("orders").await;
    // R3.7: available, but not as it should be.
    world.fleet.power_off("shop", "orders-a-2");
    let degraded =
        world.until("orders", "to be Degraded", |cluster| phase(cluster) == Some("Degraded")).await;
    assert!(is(&degraded, "Available", "True") && is(&degraded, "Healthy", "False"));
    assert!(condition(&degraded, "Healthy").message.contains("orders-a-2"));
    world.fleet.power_on("shop", "orders-a-2");
    world.until("orders", "to be Running", |cluster| phase(cluster) == Some("Running")).await;
    world.fleet.power_off("shop", "orders-a-0");
    world.until("orders", "to recover", |cluster| phase(cluster) == Some("Recovering")).await;
    world.fleet.power_on("shop", "orders-a-0");
    world.ready("orders").await;
    world.scale("orders", 0).await;
    world
        .until("orders", "to be parked", |cluster| {
            phase(cluster) == Some("Provisioned") && !is_ready_true(cluster)
        })
        .await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    let after = world.clusters().get_opt("orders").await.unwrap();
    assert!(after.is_none_or(|cluster| cluster.metadata.deletion_timestamp.is_some()));
    world.gone("orders").await;
    world.unharmed();
}

fn is_ready_true(cluster: &ReplicatedCluster) -> bool {
    is(cluster, "Available", "True")
}

/// Neither time nor what moves all the time is a reason to write.
#[tokio::test(start_paused = true)]
async fn r3_5_nothing_is_written_while_nothing_changes() {
    let world = World::new(405).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world
        .fleet
        .measure("shop", "orders-a-0", |measured| measured.storage.as_mut().unwrap().free = 5_400_000_000);
    world.rest().await;
    world.rest().await;
    world.calls.take();
    for round in 0..20 {
        world.fleet.write("shop", "orders");
        world.fleet.measure("shop", "orders-a-0", |measured| {
            measured.lag_seconds = Some(round);
            measured.storage.as_mut().unwrap().free -= 1000;
        });
        pause(Duration::from_secs(1)).await;
    }
    assert_eq!(world.writes(), Vec::<String>::new());
    assert!(is_ready(&world.clusters().get("orders").await.unwrap()));
}

/// A pool is kept to its zone, its members' Pods to nodes of that zone; a pool that moves rolls them one by one.
#[tokio::test(start_paused = true)]
async fn r3_7_members_are_placed_by_failure_domain() {
    let world = World::new(407).await;
    world.create_with("orders", 2, |manifest| manifest["spec"]["pools"][0]["zone"] = json!("zone-a")).await;
    world.ready("orders").await;
    let zones = async || {
        let sets = world.api::<StatefulSet>().list(&ListParams::default()).await.unwrap();
        let zone = |set: &StatefulSet| {
            let affinity =
                set.spec.as_ref()?.template.spec.as_ref()?.affinity.as_ref()?.node_affinity.clone()?;
            let terms = affinity.required_during_scheduling_ignored_during_execution?.node_selector_terms;
            let found = terms[0]
                .match_expressions
                .as_ref()?
                .iter()
                .find(|one| one.key == "topology.kubernetes.io/zone")?;
            found.values.clone()
        };
        sets.items.iter().map(zone).collect::<Vec<_>>()
    };
    assert_eq!(zones().await, vec![Some(vec!["zone-a".to_owned()]); 2]);
    let spread = world.api::<StatefulSet>().get("orders-a-0").await.unwrap();
    let constraints = spread.spec.unwrap().template.spec.unwrap().topology_spread_constraints.unwrap();
    assert_eq!(constraints[0].topology_key, "kubernetes.io/hostname", "within a zone, over its nodes");
    let mut pool = super::samples::manifest("orders", 2)["spec"]["pools"][0].clone();
    pool["zone"] = json!("zone-b");
    world.patch("orders", json!({"spec": {"pools": [pool]}})).await;
    let moved = world.ready("orders").await.status.unwrap();
    assert_eq!(zones().await, vec![Some(vec!["zone-b".to_owned()]); 2]);
    assert_eq!(moved.failure_domains.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["zone-b"]);
    world.unharmed();
}

/// What becomes of data when a cluster goes: kept, or deleted with the accounts, as its pools say.
#[tokio::test(start_paused = true)]
async fn retention_says_what_remains() {
    let world = World::new(408).await;
    world.create_with("orders", 2, goes_with_its_data).await;
    world.create("bills", 1).await;
    world.ready("orders").await;
    world.ready("bills").await;
    // A member that leaves takes its volume along.
    let mut pool = super::samples::manifest("orders", 1)["spec"]["pools"][0].clone();
    pool["storage"]["retention"] = json!("Delete");
    world.patch("orders", json!({"spec": {"pools": [pool]}})).await;
    world.ready("orders").await;
    world.until_gone::<PersistentVolumeClaim>("data-orders-a-1").await;
    for name in ["orders", "bills"] {
        world.clusters().delete(name, &DeleteParams::default()).await.unwrap();
        world.gone(name).await;
    }
    world.until_gone::<PersistentVolumeClaim>("data-orders-a-0").await;
    assert_eq!(world.names::<PersistentVolumeClaim>().await, ["data-bills-a-0"]);
    let secrets = world.names::<Secret>().await;
    assert!(
        secrets.contains(&"bills-accounts".to_owned()) && !secrets.contains(&"orders-accounts".to_owned()),
        "{secrets:?}"
    );
    world.unharmed();
}

/// Nobody comes back for them once the cluster is gone.
#[tokio::test(start_paused = true)]
async fn accounts_that_cannot_be_read_at_first_go_with_their_data_all_the_same() {
    let world = World::new(409).await;
    world.create_with("orders", 1, goes_with_its_data).await;
    world.ready("orders").await;
    world.calls.hide(Some(("secrets", "orders-accounts".to_owned())));
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.until_gone::<Member>("orders-a-0").await;
    world.rest().await;
    world.calls.hide(None);
    world.gone("orders").await;
    world.until_gone::<Secret>("orders-accounts").await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn accounts_of_an_engine_that_is_gone_go_with_their_data() {
    let world = World::new(410).await;
    world.create_with("orders", 1, goes_with_its_data).await;
    world.ready("orders").await;
    let engines: Api<ReplicationEngine> = Api::all(world.client.clone());
    engines.delete("ledger", &DeleteParams::default()).await.unwrap();
    world.until("orders", "to miss its engine", |cluster| is(cluster, "SpecValid", "False")).await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    world.until_gone::<Secret>("orders-accounts").await;
    world.unharmed();
}

fn goes_with_its_data(manifest: &mut Value) {
    manifest["spec"]["pools"][0]["storage"]["retention"] = json!("Delete");
}
