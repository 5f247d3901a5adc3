//! The oracle can fail: what is planted is caught.

use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use muster_test_agents::Pace;
use serde_json::{Value, json};

use super::claims::TAKEN_BACK;
use super::cores::{self, alone};
use super::lives::Beginning;
use super::samples::{CLUSTER, NAMESPACE};
use super::troubles::{Came, Deed, Planned, Trouble};
use super::world::{AFTER_A_START, World, pause};

/// A cluster that is live, and that nobody operates.
async fn abandoned(base: &super::world::Base) -> World {
    World::begin(base, 1, Pace::default()).await
}

/// Someone writes to the cluster whom nobody expects to.
async fn meddle(world: &World, part: Option<&str>, patch: Value) {
    let kind = GroupVersionKind::gvk("muster.dev", "v1alpha1", "ReplicatedCluster");
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(world.client.clone(), NAMESPACE, &ApiResource::from_gvk(&kind));
    let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
    match part {
        Some(part) => drop(clusters.patch_subresource(part, CLUSTER, &params, &patch).await.unwrap()),
        None => drop(clusters.patch(CLUSTER, &params, &patch).await.unwrap()),
    }
}

fn caught(world: &World, what: &str) {
    let wrongs = world.oracle.wrongs();
    assert!(wrongs.iter().any(|wrong| wrong.contains(what)), "not caught: {wrongs:?}");
}

#[test]
fn the_oracle_catches_what_is_planted() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(2).base();
    alone(async {
        let world = abandoned(&base).await;
        meddle(&world, Some("status"), json!({"status": {"reason": "Told"}})).await;
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new(), "it is Ready");
        assert_eq!(world.oracle.confirmed(), 1);
        // A member that is gone: the first word about Ready after it is a lie.
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        meddle(&world, Some("status"), json!({"status": {"reason": "Planted"}})).await;
        caught(&world, "was said to be Ready, and was not: the application of orders-a-1");
    });
    alone(async {
        // One that was hurt is excused for a moment, and no longer.
        let world = abandoned(&base).await;
        world.oracle.hurt();
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        meddle(&world, Some("status"), json!({"status": {"reason": "Excused"}})).await;
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new());
        pause(Duration::from_secs(30)).await;
        meddle(&world, Some("status"), json!({"status": {"reason": "Planted"}})).await;
        caught(&world, "was said to be Ready");
    });
    alone(async {
        let world = abandoned(&base).await;
        meddle(&world, None, json!({"spec": {"engine": {"version": "2"}}})).await;
        caught(&world, "the spec was changed by nobody who may");
        meddle(&world, Some("status"), json!({"status": {"observedGeneration": 0}})).await;
        caught(&world, "observedGeneration went back");
        meddle(&world, Some("status"), json!({"status": {"observedGeneration": 9}})).await;
        caught(&world, "is of the future");
    });
    alone(async {
        // The spec says something else: status that says Ready of it is a lie, whatever machines do.
        let world = abandoned(&base).await;
        world.oracle.hurt();
        world.edit(json!({"spec": {"engine": {"version": "2"}}})).await;
        let mut status = world.oracle.cluster(|cluster| cluster.unwrap()["status"].clone());
        status["observedGeneration"] = 2.into();
        for condition in status["conditions"].as_array_mut().unwrap() {
            condition["observedGeneration"] = 2.into();
        }
        meddle(&world, Some("status"), json!({"status": status})).await;
        caught(&world, "has version");
    });
}

/// Of two that fight for the Lease: a claim is held against whoever leads, once it could find out, and against nobody before.
#[test]
fn the_oracle_catches_what_a_leader_does_not_take_back() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(2).base();
    alone(async {
        let world = abandoned(&base).await;
        world.oracle.lead("one", true);
        world.oracle.lead("one", false);
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        pause(AFTER_A_START * 2).await;
        world.oracle.look();
        world.oracle.lead("other", true);
        pause(AFTER_A_START).await;
        world.oracle.look();
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new(), "nobody could take it back");
        pause(TAKEN_BACK * 2).await;
        world.oracle.look();
        caught(&world, "Cluster is claimed for");
    });
}

/// Someone gives the Pod of a member this role.
async fn label(world: &World, member: &str, role: &str) {
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(world.client.clone(), NAMESPACE);
    let patch = Patch::Merge(json!({"metadata": {"labels": {"muster.dev/role": role}}}));
    pods.patch(&format!("{member}-0"), &PatchParams::default(), &patch).await.unwrap();
}

#[test]
fn the_oracle_catches_what_has_become_untrue() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(2).base();
    alone(async {
        // Nobody writes anything, and yet Ready is a lie before long.
        let world = abandoned(&base).await;
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        pause(TAKEN_BACK / 2).await;
        world.oracle.look();
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new(), "nobody could know yet");
        pause(TAKEN_BACK * 2).await;
        world.oracle.look();
        caught(&world, "Cluster is claimed for");
        caught(&world, "Member(\"orders-a-1\") is claimed for");
        caught(&world, "Role(\"orders-a-1\") is claimed for");
    });
    alone(async {
        // What is over in time is no lie; and one that nobody hears is as good as gone.
        let world = abandoned(&base).await;
        world.fleet.isolate(NAMESPACE, "orders-a-0", true);
        pause(TAKEN_BACK / 2).await;
        world.fleet.isolate(NAMESPACE, "orders-a-0", false);
        pause(TAKEN_BACK * 2).await;
        world.oracle.look();
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new());
        world.fleet.isolate(NAMESPACE, "orders-a-0", true);
        pause(TAKEN_BACK / 2).await;
        world.oracle.look();
        pause(TAKEN_BACK * 2).await;
        world.oracle.look();
        caught(&world, "Cluster is claimed for");
    });
    alone(async {
        // Whoever cannot take it back has the time that it takes, and no more.
        let world = abandoned(&base).await;
        world.oracle.stun(TAKEN_BACK * 3);
        world.fleet.crash_application(NAMESPACE, "orders-a-1");
        pause(TAKEN_BACK * 3).await;
        world.oracle.look();
        assert_eq!(world.oracle.wrongs(), Vec::<String>::new());
        pause(TAKEN_BACK * 2).await;
        world.oracle.look();
        caught(&world, "Cluster is claimed for");
    });
}

#[test]
fn the_oracle_catches_roles_that_are_not_so() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(2).base();
    alone(async {
        let world = abandoned(&base).await;
        label(&world, "orders-a-0", "primary").await;
        assert_eq!((world.oracle.wrongs(), world.is_live()), (Vec::new(), true));
        label(&world, "orders-a-1", "primary").await;
        caught(&world, "a role was given that is not so: the Pod of orders-a-1");
        assert!(!world.is_live(), "{:?}", world.oracle.mislabelled());
    });
    alone(async {
        let world = abandoned(&base).await;
        world.oracle.told_to_end("orders-a-0", "stop");
        caught(&world, "orders-a-0 is told to stop while its Pod carries primary");
    });
}

#[test]
fn a_plan_that_was_not_reached_is_known() {
    if cores::replayed().is_some() {
        return;
    }
    let base = Beginning::Members(1).base();
    alone(async {
        let mut world = abandoned(&base).await;
        let planned = |number| Planned { deed: Deed::Epoch, number, trouble: Trouble::CommandRepeated };
        world.troubles.arm(Some(planned(2)));
        world.start_operator();
        world.pass(Duration::from_secs(30)).await;
        assert_eq!((world.troubles.counted(Deed::Epoch), world.troubles.came()), (1, Came::Not));
        world.troubles.arm(Some(planned(1)));
        world.start_operator();
        world.pass(Duration::from_secs(30)).await;
        assert_eq!((world.troubles.counted(Deed::Epoch), world.troubles.came()), (1, Came::Met));
    });
}
