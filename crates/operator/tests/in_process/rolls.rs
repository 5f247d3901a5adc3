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

/// Whose workload was changed, in order. All others have to be Ready at that moment.
fn order(mut members: BTreeMap<String, Member>, seen: Vec<Member>) -> Vec<String> {
    let mut order = Vec::new();
    for member in seen {
        let name = member.name_any();
        if members[&name].spec.workload != member.spec.workload {
            let unready: Vec<&String> = members
                .iter()
                .filter(|(other, member)| **other != name && !member_is(member, "Ready", "True"))
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
    let order = order(before.clone(), changed);
    let everyone: BTreeSet<String> = before.into_keys().collect();
    assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), everyone, "{order:?}");
    assert_eq!(order.len(), everyone.len(), "each of them once: {order:?}");
    assert_eq!(order.last(), Some(&primary), "{order:?}");
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
