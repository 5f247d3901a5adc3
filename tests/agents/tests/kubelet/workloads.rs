//! What becomes of a member's StatefulSet, Pod and claim.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use muster_core::manager::command::{Action, Command};
use muster_core::manager::stamp::Stamp;
use serde_json::json;

use crate::scene::{MEMBER, POD, Scene, claim};

/// Seeds the member, so that it serves.
fn seed(scene: &Scene) {
    let obeyed = scene.fleet.with("default", MEMBER, |node| {
        let instance = node.agent.as_ref().unwrap().instance;
        let n = node.volume.last.map_or(1, |last| last.stamp.n + 1);
        let action = Action::Seed { forming: node.volume.empty() };
        let command =
            Command { stamp: Stamp::new(1, n), instance, member: MEMBER.into(), roster: None, action };
        node.obey(&command, || "h".into()).unwrap().unwrap().succeeded
    });
    assert_eq!(obeyed, Some(true));
}

async fn ready(scene: &Scene) -> bool {
    scene.set().await["status"]["readyReplicas"] == 1
}

async fn runs(scene: &Scene) -> bool {
    let pod = scene.pod().await;
    let phase = pod.as_ref().and_then(|pod| pod.status.as_ref()?.phase.as_deref());
    phase == Some("Running") && scene.fleet.run("default", MEMBER).is_some()
}

#[tokio::test(start_paused = true)]
async fn a_member_runs_and_is_ready_when_its_agent_serves() {
    let scene = Scene::new(1).await;
    scene.member().await;
    scene.until("it runs", runs).await;
    assert!(!ready(&scene).await, "nothing serves yet");
    seed(&scene);
    scene.until("it is ready", ready).await;
    let (set, pod) = (scene.set().await, scene.pod().await.unwrap());
    let status = &set["status"];
    assert_eq!(status["observedGeneration"], set["metadata"]["generation"]);
    assert_eq!((&status["replicas"], &status["updatedReplicas"]), (&json!(1), &json!(1)));
    assert_eq!(pod.labels()["controller-revision-hash"], status["updateRevision"].as_str().unwrap());
    let claim = scene.api::<PersistentVolumeClaim>().get(&format!("data-{MEMBER}")).await.unwrap();
    assert_eq!(claim.status.unwrap().phase.as_deref(), Some("Bound"));
    assert_eq!(scene.fleet.pod_of("default", MEMBER), pod.uid());
    scene.fleet.crash_application("default", MEMBER);
    scene.until("it is not ready", async |scene| !ready(scene).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_template_waits_for_the_delete() {
    let scene = Scene::new(2).await;
    scene.member().await;
    scene.until("it runs", runs).await;
    let first = scene.pod().await.unwrap();
    let change = json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}});
    let sets = scene.api::<StatefulSet>();
    sets.patch(MEMBER, &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
    scene
        .until("the change is seen", async |scene| {
            let set = scene.set().await;
            set["status"]["observedGeneration"] == set["metadata"]["generation"]
        })
        .await;
    assert_eq!(scene.set().await["status"]["updatedReplicas"].as_u64().unwrap_or_default(), 0);
    assert_eq!(scene.pod().await.unwrap().uid(), first.uid());
    let run = scene.fleet.run("default", MEMBER);
    scene.api::<Pod>().delete(POD, &DeleteParams::default()).await.unwrap();
    scene.until("a new Pod", async |scene| scene.set().await["status"]["updatedReplicas"] == 1).await;
    scene.until("it runs", runs).await;
    assert_ne!(scene.fleet.run("default", MEMBER), run);
    assert_ne!(scene.pod().await.unwrap().uid(), first.uid());
}

#[tokio::test(start_paused = true)]
async fn without_replicas_there_is_no_pod_and_the_volume_stays() {
    let scene = Scene::new(3).await;
    scene.member().await;
    scene.until("it runs", runs).await;
    seed(&scene);
    scene.until("it is ready", ready).await;
    let volume = scene.fleet.with("default", MEMBER, |node| node.volume.uuid.clone());
    let sets = scene.api::<StatefulSet>();
    for replicas in [0, 1] {
        let change = json!({"spec": {"replicas": replicas}});
        sets.patch(MEMBER, &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
        scene
            .until("the count is reached", async |scene| {
                let (set, pod) = (scene.set().await, scene.pod().await);
                set["status"]["replicas"].as_u64().unwrap_or_default() == replicas
                    && set["status"]["observedGeneration"] == set["metadata"]["generation"]
                    && pod.is_some() == (replicas == 1)
            })
            .await;
        assert_eq!(scene.fleet.with("default", MEMBER, |node| node.volume.uuid.clone()), volume);
    }
    scene.until("it runs", runs).await;
    assert_eq!(scene.fleet.with("default", MEMBER, |node| node.volume.empty()), Some(false));
}

#[tokio::test(start_paused = true)]
async fn another_claim_is_another_volume() {
    let scene = Scene::new(4).await;
    scene.member().await;
    scene.until("it runs", runs).await;
    let volume = scene.fleet.with("default", MEMBER, |node| node.volume.uuid.clone());
    let claims = scene.api::<PersistentVolumeClaim>();
    let name = format!("data-{MEMBER}");
    claims.delete(&name, &DeleteParams::default()).await.unwrap();
    scene.api::<Pod>().delete(POD, &DeleteParams::default()).await.unwrap();
    let gone =
        async |scene: &Scene| scene.api::<PersistentVolumeClaim>().get_opt(&name).await.unwrap().is_none();
    scene.until("the claim is gone", gone).await;
    assert!(!scene.fleet.is_ready("default", MEMBER));
    scene.create::<PersistentVolumeClaim>(claim()).await;
    scene.until("it runs", runs).await;
    assert_ne!(scene.fleet.with("default", MEMBER, |node| node.volume.uuid.clone()), volume);
}

#[tokio::test(start_paused = true)]
async fn a_crashed_agent_is_a_container_that_ended_and_runs_again() {
    let scene = Scene::new(5).await;
    scene.member().await;
    scene.until("it runs", runs).await;
    let container = async |scene: &Scene| {
        let pod = serde_json::to_value(scene.pod().await.unwrap()).unwrap();
        pod["status"]["containerStatuses"][0].clone()
    };
    let first = container(&scene).await["containerID"].clone();
    scene.fleet.stop("default", MEMBER);
    scene.until("it ended", async |scene| container(scene).await["state"]["terminated"].is_object()).await;
    assert_eq!(container(&scene).await["state"]["terminated"]["containerID"], first);
    scene.until("it runs", async |scene| container(scene).await["state"]["running"].is_object()).await;
    let again = container(&scene).await;
    assert_eq!(
        (&again["restartCount"], &again["lastState"]["terminated"]["containerID"]),
        (&json!(1), &first)
    );
    assert!(scene.fleet.run("default", MEMBER).is_some());
}

#[tokio::test(start_paused = true)]
async fn knobs_keep_a_pod_from_being_ready_or_started() {
    let scene = Scene::new(6).await;
    let member = ("default".to_owned(), MEMBER.to_owned());
    scene.kubelet.turn(|knobs| knobs.never_ready.extend([member]));
    scene.member().await;
    scene.until("it runs", runs).await;
    seed(&scene);
    scene.until("it serves", async |scene| scene.fleet.is_ready("default", MEMBER)).await;
    tokio::time::sleep_until(tokio::time::Instant::now() + std::time::Duration::from_secs(30)).await;
    assert!(!ready(&scene).await);
    scene.kubelet.turn(|knobs| knobs.never_ready.clear());
    scene.until("it is ready", ready).await;
    scene.fleet.restart("default", MEMBER);
    scene.until("it is not ready", async |scene| !ready(scene).await).await;
    scene
        .until("the new run looked around", async |scene| {
            let looking =
                |node: &mut muster_test_model::Node| node.agent.as_ref().is_some_and(|it| !it.looking);
            scene.fleet.with("default", MEMBER, looking) == Some(true)
        })
        .await;
    seed(&scene);
    scene.until("it is ready", ready).await;
}

#[tokio::test(start_paused = true)]
async fn a_driver_is_rolled_out() {
    let scene = Scene::new(7).await;
    let labels = json!({"app": "proxy"});
    scene
        .create::<Deployment>(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "proxy"},
            "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "b"}]},
            }},
        }))
        .await;
    let deployments = scene.api::<Deployment>();
    let mut left = 500;
    loop {
        let status = deployments.get("proxy").await.unwrap().status.unwrap_or_default();
        if status.available_replicas == Some(2) && status.observed_generation == Some(1) {
            break;
        }
        left -= 1;
        assert!(left > 0, "{status:?}");
        tokio::time::sleep_until(tokio::time::Instant::now() + std::time::Duration::from_millis(10)).await;
    }
}
