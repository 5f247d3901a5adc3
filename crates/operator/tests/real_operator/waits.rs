//! `kubectl wait --for=condition=Ready`, issued right after a change of the spec, never returns before the change is live.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use kube::ResourceExt;
use kube::runtime::wait::await_condition;
use muster_api::{Member, ReplicatedCluster};
use muster_operator::rbac;
use muster_test_world::{Process, World, is_ready};
use serde_json::json;

use crate::scene::{account, shared, world};

/// Clusters that change side by side.
const CLUSTERS: usize = 8;
/// How often each of them is changed.
const CHANGES: usize = 25;
/// Every so many-th wait is the real kubectl's.
const KUBECTL_EVERY: usize = 10;
/// How long a wait may take: far longer than any does.
const WITHIN: Duration = Duration::from_secs(600);

/// What a wait says: the cluster is Ready at the generation that was asked for.
async fn wait(world: &World, name: &str, with_kubectl: bool) {
    if with_kubectl {
        let (namespace, object) = (world.namespace.clone(), format!("rcl/{name}"));
        let waited = tokio::task::spawn_blocking(move || {
            let arguments = [
                "wait",
                "--for=condition=Ready",
                "--timeout=600s",
                &object,
                "-n",
                &namespace,
                "--request-timeout=620s",
            ];
            shared().kubectl(&arguments).unwrap()
        });
        let output = waited.await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    // As kubectl does: a condition of an older generation is none.
    let ready = |cluster: Option<&ReplicatedCluster>| cluster.is_some_and(is_ready);
    let waited = tokio::time::timeout(WITHIN, await_condition(world.clusters(), name, ready)).await;
    assert!(waited.is_ok(), "{}", world.describe(name).await);
}

/// Changes what runs, and sees that it runs.
async fn change_parameter(world: &World, name: &str, value: usize, with_kubectl: bool) {
    let value = value.to_string();
    world.patch(name, json!({"spec": {"engine": {"parameters": {"size": value}}}})).await;
    wait(world, name, with_kubectl).await;
    let member = format!("{name}-a-0");
    let config = world.api::<Member>().get(&member).await.unwrap().spec.workload.unwrap().config;
    let data = world.api::<ConfigMap>().get(&config).await.unwrap().data.unwrap();
    assert_eq!(data["parameters.size"], value, "{name}");
    let set = world.api::<StatefulSet>().get(&member).await.unwrap();
    let pod = world.api::<Pod>().get(&format!("{member}-0")).await.unwrap();
    let newest = set.status.unwrap().update_revision.unwrap();
    assert_eq!(pod.labels()["controller-revision-hash"], newest, "{name} at {value}");
    assert!(pod.metadata.deletion_timestamp.is_none());
    let volumes = pod.spec.unwrap().volumes.unwrap_or_default();
    let mounted = |volume: &k8s_openapi::api::core::v1::Volume| {
        volume.config_map.as_ref().is_some_and(|map| map.name == config)
    };
    assert!(volumes.iter().any(mounted), "the Pod of {name} runs something else than {config}");
    assert_eq!(world.fleet.serving(&world.namespace, name), [member]);
}

/// Changes what surrounds it, and sees that it is there.
async fn change_service(world: &World, name: &str, value: usize, with_kubectl: bool) {
    let value = value.to_string();
    world.patch(name, json!({"spec": {"service": {"annotations": {"example.org/round": value}}}})).await;
    wait(world, name, with_kubectl).await;
    let service = world.api::<Service>().get(name).await.unwrap();
    assert_eq!(service.annotations()["example.org/round"], value, "{name}");
}

async fn change(world: &World, name: &str, offset: usize) {
    world.create(name, 1).await;
    wait(world, name, false).await;
    for round in 0..CHANGES {
        let with_kubectl = (round + offset).is_multiple_of(KUBECTL_EVERY);
        if round % 2 == 0 {
            change_parameter(world, name, round + 2, with_kubectl).await;
        } else {
            change_service(world, name, round, with_kubectl).await;
        }
    }
}

#[tokio::test]
async fn r1_2_kubectl_wait_never_returns_early() {
    let plane = shared();
    let world = world(plane, "waits", false, 83).await;
    // Slow, and in another order than things happened.
    world.kubelet.turn(|knobs| knobs.delay = Duration::from_millis(150));
    let access = account(plane, &rbac::for_namespace("waits"), "waits").await;
    let operator = Process::start(world.setup(&access, Some("waits"), 83));
    let names: Vec<String> = (0..CLUSTERS).map(|number| format!("c{number}")).collect();
    let changes = names.iter().enumerate().map(|(offset, name)| change(&world, name, offset));
    futures::future::join_all(changes).await;
    operator.stop().await;
    world.unharmed();
}
