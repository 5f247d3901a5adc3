//! R2.1: drivers, the certificate authority, and what else a cluster refers to.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use muster_api::ReplicationEngine;
use serde_json::{Map, Value, json};

use super::help::condition;
use super::world::{World, is};

fn driver(name: &str, kind: &str, image: &str) -> Value {
    json!({"name": name, "kind": kind, "template": {"containers": [{"name": "main", "image": image}]}})
}

#[tokio::test(start_paused = true)]
async fn r2_1_drivers_are_deployed_rolled_out_changed_and_removed() {
    let world = World::new(201).await;
    let declared = [driver("exporter", "Deployment", "exporter:1"), driver("csi", "DaemonSet", "csi:1")];
    world.patch_engine(json!({"spec": {"drivers": declared}})).await;
    let held = ("shop".to_owned(), "orders-exporter".to_owned());
    world.kubelet.turn(|knobs| {
        knobs.never_rolled_out.insert(held.clone());
    });
    world
        .create_with("orders", 1, |manifest| {
            manifest["spec"]["drivers"] = json!([{"name": "exporter", "replicas": 2}, {"name": "csi"}]);
        })
        .await;
    let waiting = world
        .until("orders", "to wait for its driver", |cluster| {
            is(cluster, "InfrastructureReady", "False")
                && condition(cluster, "InfrastructureReady").reason == "DriverNotReady"
        })
        .await;
    assert!(condition(&waiting, "InfrastructureReady").message.contains("orders-exporter"));
    assert!(is(&waiting, "Ready", "False"));
    world.kubelet.turn(|knobs| {
        knobs.never_rolled_out.remove(&held);
    });
    world.ready("orders").await;
    let exporter = world.api::<Deployment>().get("orders-exporter").await.unwrap();
    assert_eq!(exporter.owner_references()[0].name, "orders");
    assert_eq!(exporter.spec.as_ref().unwrap().replicas, Some(2));
    world.api::<DaemonSet>().get("orders-csi").await.unwrap();
    // The engine declares another image: the driver follows, and no member is rolled for it.
    let before = world.members().get("orders-a-0").await.unwrap().metadata.generation;
    let declared = [driver("exporter", "Deployment", "exporter:2"), driver("csi", "DaemonSet", "csi:1")];
    world.patch_engine(json!({"spec": {"drivers": declared}})).await;
    world
        .wait_for("the driver to follow its engine", async || {
            let live = world.api::<Deployment>().get("orders-exporter").await.unwrap();
            let image = live.spec.unwrap().template.spec.unwrap().containers[0].image.clone();
            (image.as_deref() == Some("exporter:2")).then_some(())
        })
        .await;
    assert_eq!(world.members().get("orders-a-0").await.unwrap().metadata.generation, before);
    world.patch("orders", json!({"spec": {"drivers": [{"name": "csi"}]}})).await;
    world.until_gone::<Deployment>("orders-exporter").await;
    world.ready("orders").await;
    world.api::<DaemonSet>().get("orders-csi").await.unwrap();
    // A driver that the engine does not have is a violation, and takes nothing away.
    world.patch("orders", json!({"spec": {"drivers": [{"name": "csi"}, {"name": "nothing"}]}})).await;
    let invalid = world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    assert!(condition(&invalid, "SpecValid").message.contains("spec.drivers[1].name"));
    world.api::<DaemonSet>().get("orders-csi").await.unwrap();
    world.unharmed();
}

fn authority(is_ca: bool) -> String {
    let mut params = rcgen::CertificateParams::new(vec!["orders.example".to_owned()]).unwrap();
    let constraints = rcgen::BasicConstraints::Unconstrained;
    params.is_ca = if is_ca { rcgen::IsCa::Ca(constraints) } else { rcgen::IsCa::ExplicitNoCa };
    params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem()
}

fn secret(name: &str, key: &str, value: &str) -> Value {
    json!({"metadata": {"name": name}, "stringData": {key: value}})
}

#[tokio::test(start_paused = true)]
async fn r2_1_the_certificate_authority_must_exist_and_be_one() {
    let world = World::new(202).await;
    world
        .create_with("orders", 1, |manifest| {
            manifest["spec"]["certificateAuthority"] = json!({"secretName": "ca"});
        })
        .await;
    let said = |cluster: &muster_api::ReplicatedCluster, word: &str| {
        is(cluster, "SpecValid", "False") && condition(cluster, "SpecValid").message.contains(word)
    };
    world.until("orders", "to miss it", |cluster| said(cluster, "no Secret \"ca\"")).await;
    assert_eq!(
        world.names::<StatefulSet>().await,
        Vec::<String>::new(),
        "nothing is done before it is valid"
    );
    world.make::<Secret>(secret("ca", "tls.crt", &authority(false))).await;
    world.until("orders", "to refuse it", |cluster| said(cluster, "not a CA certificate")).await;
    world.edit::<Secret>("ca", json!({"stringData": {"tls.crt": authority(true)}})).await;
    world.ready("orders").await;
    world.unharmed();
}

/// Whoever changes a Secret that members use rolls them, one by one, within ten minutes.
#[tokio::test(start_paused = true)]
async fn r2_1_a_changed_secret_rolls_the_members() {
    let world = World::new(203).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let hash = async |name: &str| {
        world.members().get(name).await.unwrap().spec.workload.unwrap().secrets_hash.unwrap()
    };
    let before = hash("orders-a-0").await;
    world.edit::<Secret>("orders-accounts", json!({"stringData": {"admin": "another"}})).await;
    world
        .wait_for("every member to be rolled", async || {
            (hash("orders-a-0").await != before && hash("orders-a-1").await == hash("orders-a-0").await)
                .then_some(())
        })
        .await;
    world.ready("orders").await;
    // What the account is stays as the person set it.
    let account = world.api::<Secret>().get("orders-accounts").await.unwrap();
    assert_eq!(account.data.unwrap()["admin"].0, b"another");
    // An engine that asks for one more key gets it, and the one that is there stays.
    let keys = json!([{"name": "admin"}, {"name": "reader", "length": 20}]);
    world.patch_engine(json!({"spec": {"secrets": [{"name": "accounts", "keys": keys}]}})).await;
    let account = world
        .wait_for("the new key", async || {
            let found = world.api::<Secret>().get("orders-accounts").await.unwrap();
            found.data.filter(|data| data.contains_key("reader"))
        })
        .await;
    assert_eq!((account["admin"].0.as_slice(), account["reader"].0.len()), (&b"another"[..], 20));
    world.ready("orders").await;
    world.unharmed();
}

/// What geo-replication needs is handed to the engine: the targets in the configuration, the credentials as volumes.
#[tokio::test(start_paused = true)]
async fn r2_1_replication_is_handed_to_the_engine() {
    let world = World::new(204).await;
    world.make::<Secret>(secret("here", "password", "a")).await;
    world
        .create_with("orders", 1, |manifest| {
            manifest["spec"]["replication"] = json!({
                "credentials": {"secretName": "here"},
                "targets": [{"name": "far", "addresses": ["db.far.example"], "credentials": {"secretName": "there"}}],
            });
        })
        .await;
    let path = "spec.replication.targets[0].credentials.secretName";
    world
        .until("orders", "to miss a Secret", |cluster| {
            is(cluster, "SpecValid", "False") && condition(cluster, "SpecValid").message.contains(path)
        })
        .await;
    world.make::<Secret>(secret("there", "password", "b")).await;
    world.ready("orders").await;
    let member = world.members().get("orders-a-0").await.unwrap();
    let config = world.api::<ConfigMap>().get(&member.spec.workload.unwrap().config).await.unwrap();
    assert!(config.data.unwrap()["engine.json"].contains("db.far.example"));
    let set = world.api::<StatefulSet>().get("orders-a-0").await.unwrap();
    let volumes = set.spec.unwrap().template.spec.unwrap().volumes.unwrap();
    let secrets: Vec<_> = volumes.iter().filter_map(|v| v.secret.as_ref()?.secret_name.as_deref()).collect();
    assert!(secrets.contains(&"here") && secrets.contains(&"there"), "{secrets:?}");
    world.unharmed();
}

/// What is too much for a ConfigMap is a violation, and disturbs nothing that runs.
#[tokio::test(start_paused = true)]
async fn r2_1_an_engine_that_is_too_large_is_a_violation() {
    let world = World::new(205).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    // Each for itself is within its bounds.
    let files: Value =
        (0..32).map(|n| (format!("f{n}"), json!("x".repeat(16_384)))).collect::<Map<_, _>>().into();
    let env: Vec<Value> =
        (0..64).map(|n| json!({"name": format!("V{n}"), "value": "x".repeat(4096)})).collect();
    let containers = json!([{"name": "main", "env": env}, {"name": "side", "image": "side", "env": env}]);
    let template = json!({"containers": containers});
    world.patch_engine(json!({"spec": {"files": files, "template": template}})).await;
    let invalid = world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    assert!(condition(&invalid, "SpecValid").message.contains("a ConfigMap holds"), "{:?}", invalid.status);
    assert!(is(&invalid, "Available", "True"), "it goes on as it is");
    let template = json!({"containers": [{"name": "main"}]});
    world.patch_engine(json!({"spec": {"files": null, "template": template}})).await;
    world.ready("orders").await;
    world.unharmed();
}

/// An engine that changes rolls the members of every cluster that uses it; one that is gone, or does not hold together, leaves
/// them as they are.
#[tokio::test(start_paused = true)]
async fn r2_1_an_engine_in_use_is_changed_broken_and_deleted() {
    let world = World::new(206).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let config = async || world.members().get("orders-a-1").await.unwrap().spec.workload.unwrap().config;
    let before = config().await;
    world
        .patch_engine(
            json!({"spec": {"parameters": [{"name": "size", "default": "2", "pattern": "[0-9]+"}]}}),
        )
        .await;
    world.wait_for("the members to follow", async || (config().await != before).then_some(())).await;
    world.ready("orders").await;
    // A pattern that cannot be read: the engine says so, and the cluster goes on.
    let broken = json!([{"name": "size", "default": "2", "pattern": "[0-9"}]);
    world.patch_engine(json!({"spec": {"parameters": broken}})).await;
    world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    let engines: Api<ReplicationEngine> = Api::all(world.client.clone());
    let engine = engines.get("ledger").await.unwrap();
    let valid = engine.status.unwrap().conditions.into_iter().find(|one| one.type_ == "SpecValid").unwrap();
    assert_eq!((valid.status.as_str(), valid.observed_generation), ("False", engine.metadata.generation));
    let whole = engines.get("ledger").await.unwrap();
    engines.delete("ledger", &DeleteParams::default()).await.unwrap();
    let gone = world
        .until("orders", "to miss its engine", |cluster| {
            condition(cluster, "SpecValid").message.contains("there is no ReplicationEngine")
        })
        .await;
    assert!(is(&gone, "Available", "True"), "{:?}", gone.status);
    world.fleet.restart("shop", "orders-a-0");
    world
        .until("orders", "to fail over without its engine", |cluster| {
            cluster.status.as_ref().unwrap().primary.as_deref() == Some("orders-a-1")
        })
        .await;
    let mut again = ReplicationEngine::new("ledger", whole.spec);
    again.spec.parameters =
        serde_json::from_value(json!([{"name": "size", "default": "2", "pattern": "[0-9]+"}])).unwrap();
    engines.create(&PostParams::default(), &again).await.unwrap();
    world.ready("orders").await;
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn r2_1_an_engine_may_be_kept_to_some_namespaces() {
    let world = World::new(207).await;
    let selector = json!({"matchLabels": {"ledger": "allowed"}});
    world.patch_engine(json!({"spec": {"namespaceSelector": selector}})).await;
    world.create("orders", 1).await;
    let refused = world.until("orders", "to be refused", |cluster| is(cluster, "SpecValid", "False")).await;
    assert!(condition(&refused, "SpecValid").message.contains("may not be used in this namespace"));
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(world.client.clone());
    let label = json!({"metadata": {"labels": {"ledger": "allowed"}}});
    namespaces.patch("shop", &PatchParams::default(), &Patch::Merge(label)).await.unwrap();
    world.ready("orders").await;
}

/// What a pool names must exist, and what it asks of nodes must make sense; what is missing is noticed as soon as it is there.
#[tokio::test(start_paused = true)]
async fn r2_4_storage_classes_and_node_affinity_are_checked() {
    let world = World::new(208).await;
    let nowhere = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": []}]},
    ]}});
    world
        .create_with("orders", 1, |manifest| {
            let mut second = manifest["spec"]["pools"][0].clone();
            second["name"] = json!("b");
            second["storage"].as_object_mut().unwrap().remove("storageClassName");
            second["nodeAffinity"] = nowhere;
            manifest["spec"]["pools"][0]["storage"]["storageClassName"] = json!("slow");
            manifest["spec"]["pools"].as_array_mut().unwrap().push(second);
        })
        .await;
    let invalid = world.until("orders", "to be invalid", |cluster| is(cluster, "SpecValid", "False")).await;
    let message = condition(&invalid, "SpecValid").message;
    for path in [
        "spec.pools[0].storage.storageClassName",
        "spec.pools[1].storage.storageClassName: there is no default StorageClass",
        "spec.pools[1].nodeAffinity",
    ] {
        assert!(message.contains(path), "{message}");
    }
    let classes: Api<k8s_openapi::api::storage::v1::StorageClass> = Api::all(world.client.clone());
    let default =
        json!({"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}});
    classes.patch("fast", &PatchParams::default(), &Patch::Merge(default)).await.unwrap();
    let slow =
        serde_json::from_value(json!({"metadata": {"name": "slow"}, "provisioner": "muster.dev/test"}));
    classes.create(&PostParams::default(), &slow.unwrap()).await.unwrap();
    let left = world
        .until("orders", "to see both", |cluster| {
            !condition(cluster, "SpecValid").message.contains("storageClassName")
        })
        .await;
    assert!(is(&left, "SpecValid", "False"));
    let mut pools = serde_json::to_value(&left.spec.pools).unwrap();
    pools[1].as_object_mut().unwrap().remove("nodeAffinity");
    world.patch("orders", json!({"spec": {"pools": pools}})).await;
    assert_eq!(world.ready("orders").await.status.unwrap().ready_replicas, Some(2));
}
