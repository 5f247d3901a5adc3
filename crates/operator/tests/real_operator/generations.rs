//! Generations and owners on a real server: what the operator says of a spec, and when, by the server's own order of writes.

use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Api, Resource, ResourceExt};
use muster_api::{Member, ReplicatedCluster};
use muster_test_world::{World, is, is_ready, pause};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::edits;
use crate::scene::{Scene, live};

/// How long the operator is given to be wrong.
const A_WHILE: Duration = Duration::from_secs(2);

impl Scene {
    /// Waits until this is true of an object.
    async fn until<K>(&self, api: &Api<K>, name: &str, test: impl Fn(&K) -> bool) -> K
    where
        K: Resource + Clone + std::fmt::Debug + DeserializeOwned,
    {
        let began = Instant::now();
        loop {
            let object = api.get(name).await.unwrap();
            if test(&object) {
                return object;
            }
            assert!(began.elapsed() < self.world.patience, "{object:#?}");
            pause(self.world.look_every).await;
        }
    }
}

/// The versions of an object after this version, until the test is true of one.
async fn versions<K>(api: &Api<K>, from: &str, until: impl Fn(&K) -> bool) -> Vec<K>
where
    K: Resource + Clone + std::fmt::Debug + DeserializeOwned,
{
    let watch = api.watch(&WatchParams::default(), from).await.unwrap();
    let mut watch = std::pin::pin!(watch);
    let mut seen = Vec::new();
    let reading = async {
        while let Some(event) = watch.try_next().await.unwrap() {
            if let WatchEvent::Modified(object) | WatchEvent::Added(object) = event {
                let done = until(&object);
                seen.push(object);
                if done {
                    break;
                }
            }
        }
    };
    timeout(Duration::from_secs(60), reading).await.expect("it never came to be so");
    seen
}

/// When an object was written, in the server's order of all writes.
fn written(object: &impl ResourceExt) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

#[tokio::test]
async fn real_r1_1_a_new_generation_resets_the_verdicts_before_a_child_is_touched() {
    let scene = live("resets", 188, 2).await;
    let clusters = scene.world.clusters();
    let changed = scene.world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let from = changed.resource_version().unwrap();
    let seen = versions(&clusters, &from, is_ready).await;
    let of_new = |cluster: &&ReplicatedCluster| {
        cluster.status.as_ref().and_then(|status| status.observed_generation) == changed.metadata.generation
    };
    let reset = seen.iter().find(of_new).unwrap();
    let conditions = &reset.status.as_ref().unwrap().conditions;
    for kind in ["SpecValid", "InfrastructureReady", "ControlPlaneReady", "Ready"] {
        let found = conditions.iter().find(|condition| condition.type_ == kind).unwrap();
        assert_eq!((found.status.as_str(), found.reason.as_str()), ("Unknown", "Reconciling"), "{kind}");
        assert_eq!(found.observed_generation, changed.metadata.generation, "{kind}");
    }
    // The server numbers all writes: every child that was changed was changed later.
    let spec = |member: &Member| member.metadata.generation > Some(1);
    let member = versions(&scene.world.api::<Member>(), &from, spec).await.pop().unwrap();
    assert!(written(&member) > written(reset), "{member:#?}");
    let template = |set: &StatefulSet| set.metadata.generation > Some(1);
    let set = versions(&scene.world.api::<StatefulSet>(), &from, template).await.pop().unwrap();
    assert!(written(&set) > written(&member));
    scene.end().await;
}

#[tokio::test]
async fn real_r1_3_and_r1_4_what_children_said_of_an_older_generation_does_not_count() {
    let scene = live("older", 189, 1).await;
    let (members, sets) = (scene.world.api::<Member>(), scene.world.api::<StatefulSet>());
    scene.world.kubelet.turn(|knobs| knobs.stopped = true);
    scene.world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let set = scene.until(&sets, "orders-a-0", |set| set.metadata.generation > Some(1)).await;
    let counts = set.status.as_ref().unwrap();
    assert_eq!((counts.observed_generation, counts.ready_replicas), (Some(1), Some(1)), "of the one before");
    let member = scene
        .until(&members, "orders-a-0", |member| {
            let observed = member.status.as_ref().and_then(|status| status.observed_generation);
            member.metadata.generation > Some(1) && observed == member.metadata.generation
        })
        .await;
    // Somebody raises the counts; they are still of the generation before. Somebody says that the Member is Ready.
    let counts =
        json!({"status": {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
    sets.patch_status("orders-a-0", &PatchParams::default(), &Patch::Merge(counts)).await.unwrap();
    let ready = json!({"type": "Ready", "status": "True", "reason": "AsDesired", "message": "a lie",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1});
    let lie = json!({"status": {"observedGeneration": 1, "conditions": [ready]}});
    members.patch_status("orders-a-0", &PatchParams::default(), &Patch::Merge(lie)).await.unwrap();
    let began = Instant::now();
    while began.elapsed() < A_WHILE {
        let cluster = scene.world.clusters().get("orders").await.unwrap();
        assert!(
            !is(&cluster, "Ready", "True") && !is(&cluster, "InfrastructureReady", "True"),
            "{cluster:#?}"
        );
        pause(scene.world.look_every).await;
    }
    let told = scene
        .until(&members, "orders-a-0", |now| {
            now.status.as_ref().and_then(|status| status.observed_generation) == member.metadata.generation
        })
        .await;
    let workload = told.status.as_ref().unwrap().conditions.iter().find(|it| it.type_ == "WorkloadReady");
    assert_ne!(workload.unwrap().status, "True", "{told:#?}");
    scene.world.kubelet.turn(|knobs| knobs.stopped = false);
    assert_eq!(scene.world.ready("orders").await.status.unwrap().current_version.as_deref(), Some("2"));
    scene.end().await;
}

#[tokio::test]
async fn real_r1_5_what_somebody_else_edits_is_put_back() {
    let scene = live("edits", 190, 1).await;
    edits::are_put_back(&scene.world.admin, "edits").await;
    scene.world.ready("orders").await;
    scene.end().await;
}

async fn owners<K>(world: &World) -> Vec<(String, Option<String>)>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let labelled = ListParams::default().labels("muster.dev/cluster=orders");
    let list = world.api::<K>().list(&labelled).await.unwrap().items.into_iter();
    let owner = |object: &K| {
        let owner = object.owner_references().first()?.clone();
        assert_eq!(owner.controller, Some(true));
        Some(format!("{} {}", owner.kind, owner.name))
    };
    let found: Vec<_> = list.map(|object| (object.name_any(), owner(&object))).collect();
    assert!(!found.is_empty(), "no {}", K::kind(&()));
    found
}

#[tokio::test]
async fn real_r3_1_everything_is_owned_except_what_belongs_to_the_data() {
    let scene = live("owners", 191, 2).await;
    let world = &scene.world;
    let by_cluster = Some("ReplicatedCluster orders".to_owned());
    let lists = [
        owners::<Member>(world).await,
        owners::<Service>(world).await,
        owners::<PodDisruptionBudget>(world).await,
        owners::<ConfigMap>(world).await,
    ];
    for (name, owner) in lists.into_iter().flatten() {
        assert_eq!(owner, by_cluster, "{name}");
    }
    for (name, owner) in owners::<StatefulSet>(world).await {
        assert_eq!(owner, Some(format!("Member {name}")));
    }
    for (name, owner) in owners::<PersistentVolumeClaim>(world).await {
        assert_eq!(owner, None, "{name} belongs to the data");
    }
    for (name, owner) in owners::<Secret>(world).await {
        let expected = match name.strip_suffix("-agent") {
            Some(member) => Some(format!("Member {member}")),
            None if name == "orders-accounts" => None,
            None => by_cluster.clone(),
        };
        assert_eq!(owner, expected, "{name}");
    }
    scene.end().await;
}
