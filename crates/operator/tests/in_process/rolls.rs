//! Rolling changes: one Member at a time, the primary last, the next only when all others are Ready, and nothing written twice.

use std::collections::{BTreeMap, BTreeSet};

use futures::{FutureExt, StreamExt};
use kube::ResourceExt;
use kube::api::{ListParams, WatchEvent, WatchParams};
use muster_api::Member;
use serde_json::{Value, json};

use super::help::member_is;
use super::samples;
use super::world::World;

/// What is written once for each change: everything that follows from specs. Roles and statuses follow from what happens.
const APPLIED: [&str; 7] = [
    "muster.dev/members",
    "apps/statefulsets",
    "configmaps",
    "services",
    "policy/poddisruptionbudgets",
    "persistentvolumeclaims",
    "apps/deployments",
];

/// How often each object was written that follows from specs, since this was last asked.
fn applied(world: &World) -> BTreeMap<String, usize> {
    let mut written = BTreeMap::new();
    for write in world.writes() {
        let words: Vec<&str> = write.split_whitespace().collect();
        // A status is another resource.
        if let ["write", verb, resource, name] = words[..]
            && APPLIED.contains(&resource.trim_start_matches('/'))
        {
            *written.entry(format!("{verb} {resource} {name}")).or_insert(0) += 1;
        }
    }
    written
}

/// What was written more often than it changed. A claim changes twice: it is made, and marked when its cluster is formed.
fn too_often(written: &BTreeMap<String, usize>) -> Vec<(&String, &usize)> {
    let changes = |what: &str| if what.starts_with("patch /persistentvolumeclaims") { 2 } else { 1 };
    written.iter().filter(|(what, count)| **count > changes(what)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_created_scaled_up_and_parked_is_written_once_for_each_change() {
    let world = World::new(237).await;
    let until_rest = async || {
        world.ready("orders").await;
        world.rest().await;
    };
    world.create("orders", 2).await;
    until_rest().await;
    let created = applied(&world);
    assert!(created.contains_key("patch apps/statefulsets orders-a-1"), "{created:?}");
    assert!(too_often(&created).is_empty(), "when it was created: {created:?}");
    world.scale("orders", 3).await;
    until_rest().await;
    let grown = applied(&world);
    assert!(too_often(&grown).is_empty(), "when it was scaled up: {grown:?}");
    let others: Vec<&String> = grown.keys().filter(|what| !what.contains("orders-a-2")).collect();
    assert_eq!(others, Vec::<&String>::new(), "nobody else is touched");
    world.scale("orders", 0).await;
    until_rest().await;
    let parked = applied(&world);
    assert!(too_often(&parked).is_empty(), "when it was parked: {parked:?}");
    assert!(parked.contains_key("patch apps/statefulsets orders-a-2"), "{parked:?}");
    world.unharmed();
}

/// Every version of every Member that is stored while this happens, in order.
async fn changes(world: &World, happens: impl AsyncFnOnce()) -> (BTreeMap<String, Member>, Vec<Member>) {
    let before = world.members().list(&ListParams::default()).await.unwrap();
    let version = before.metadata.resource_version.clone().unwrap();
    let members = world.members();
    let mut watch = members.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    happens().await;
    let mut seen = Vec::new();
    while let Some(Some(Ok(event))) = watch.next().now_or_never() {
        if let WatchEvent::Modified(member) = event {
            seen.push(member);
        }
    }
    (before.into_iter().map(|member| (member.name_any(), member)).collect(), seen)
}

/// Whose workload was changed, in order. All others have to be Ready at that moment, where `all` are to be.
fn order(mut members: BTreeMap<String, Member>, seen: Vec<Member>, all: bool) -> Vec<String> {
    let mut order = Vec::new();
    for member in seen {
        let name = member.name_any();
        if members[&name].spec.workload != member.spec.workload {
            let unready: Vec<&String> = members
                .iter()
                .filter(|(other, member)| **other != name && all && !member_is(member, "Ready", "True"))
                .map(|(other, _)| other)
                .collect();
            assert_eq!(unready, Vec::<&String>::new(), "not Ready when {name} was changed");
            order.push(name.clone());
        }
        members.insert(name, member);
    }
    order
}

/// One change, which goes through a cluster of three.
async fn rolls(seed: u64, change: impl AsyncFnOnce(&World)) {
    let world = World::new(seed).await;
    world.create("orders", 3).await;
    let primary = world.ready("orders").await.status.unwrap().primary.unwrap();
    world.rest().await;
    world.calls.take();
    let (before, changed) = changes(&world, async || {
        change(&world).await;
        world.rest().await;
        world.ready("orders").await;
        world.rest().await;
    })
    .await;
    let order = order(before.clone(), changed, true);
    let everyone: BTreeSet<String> = before.into_keys().collect();
    assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), everyone, "{order:?}");
    assert_eq!(order.len(), everyone.len(), "each of them once: {order:?}");
    assert_eq!(order.last(), Some(&primary), "{order:?}");
    let written = applied(&world);
    assert!(everyone.iter().all(|name| written.contains_key(&format!("patch muster.dev/members {name}"))));
    assert!(everyone.iter().all(|name| written.contains_key(&format!("patch apps/statefulsets {name}"))));
    let twice: Vec<_> = written.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "written more than once: {twice:?}");
    world.unharmed();
}

/// One change of the cluster's spec.
async fn rolls_by(seed: u64, patch: Value) {
    rolls(seed, async |world| {
        world.patch("orders", patch).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_version_rolls_one_member_at_a_time_the_primary_last_and_nothing_is_written_twice() {
    rolls_by(231, json!({"spec": {"engine": {"version": "2"}}})).await;
}

#[tokio::test(start_paused = true)]
async fn a_parameter_rolls_one_member_at_a_time_the_primary_last_and_nothing_is_written_twice() {
    rolls_by(232, json!({"spec": {"engine": {"parameters": {"size": "7"}}}})).await;
}

#[tokio::test(start_paused = true)]
async fn resources_roll_one_member_at_a_time_the_primary_last_and_nothing_is_written_twice() {
    let mut pools = samples::manifest("orders", 3)["spec"]["pools"].clone();
    pools[0]["resources"] = json!({"requests": {"memory": "1Gi"}});
    rolls_by(233, json!({"spec": {"pools": pools}})).await;
}

#[tokio::test(start_paused = true)]
async fn an_edited_engine_rolls_one_member_at_a_time_the_primary_last_and_nothing_is_written_twice() {
    let parameters = json!([{"name": "size", "default": "2", "pattern": "[0-9]+"}]);
    rolls(234, async |world| world.patch_engine(json!({"spec": {"parameters": parameters}})).await).await;
}

/// While the claims of all of them grow nobody is Ready, and everyone serves.
#[tokio::test(start_paused = true)]
async fn members_that_serve_while_their_claims_grow_roll_one_at_a_time_the_primary_last() {
    let world = World::new(235).await;
    world.create("orders", 3).await;
    let primary = world.ready("orders").await.status.unwrap().primary.unwrap();
    world.rest().await;
    world.kubelet.turn(|knobs| knobs.claims_stay = true);
    let mut pools = samples::manifest("orders", 3)["spec"]["pools"].clone();
    pools[0]["storage"]["capacity"] = json!("20Gi");
    let (before, first) = changes(&world, async || {
        world.patch("orders", json!({"spec": {"pools": pools}})).await;
        world.rest().await;
        world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
        world.rest().await;
    })
    .await;
    let first = order(before, first, false);
    assert_eq!(first.len(), 1, "the next waits until that one is Ready: {first:?}");
    let (before, others) = changes(&world, async || {
        world.kubelet.turn(|knobs| knobs.claims_stay = false);
        world.ready("orders").await;
    })
    .await;
    let others = order(before, others, false);
    assert_eq!((others.len(), others.last()), (2, Some(&primary)), "{others:?}");
    world.unharmed();
}

/// While no primary is heard no secondary is Ready, and each of them may have to take over.
#[tokio::test(start_paused = true)]
async fn while_no_primary_is_heard_nobody_who_runs_is_rolled() {
    let world = World::new(236).await;
    world.create("orders", 3).await;
    let primary = world.ready("orders").await.status.unwrap().primary.unwrap();
    world.fleet.isolate("shop", &primary, true);
    let unready = |member: &Member| member_is(member, "Ready", "False");
    for member in world.names::<Member>().await {
        world.until_member(&member, "not to be Ready", unready).await;
    }
    let (before, changed) = changes(&world, async || {
        world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
        world.rest().await;
    })
    .await;
    assert_eq!(order(before, changed, false), Vec::<String>::new());
    let (before, changed) = changes(&world, async || {
        world.fleet.isolate("shop", &primary, false);
        world.ready("orders").await;
    })
    .await;
    assert_eq!(order(before, changed, true).len(), 3);
    world.unharmed();
}
