//! Which members would be rolled, in which order, and what of each changes.

use kube::ResourceExt;
use muster_api::member::{DesiredState, MemberSpec, Workload};
use muster_api::names::{ConditionType, Role};
use muster_api::{Member, ReplicatedCluster};
use muster_core::build::member::{self, Target};
use muster_core::build::names;
use muster_core::conditions;
use muster_core::rollout::{self, Next};

use super::outline::MemberStep;

/// The steps, in the order of the members.
pub(super) fn plan(
    cluster: &ReplicatedCluster,
    live: &[Member],
    target: &Target,
    parked: bool,
) -> Vec<MemberStep> {
    let mut live: Vec<&Member> = live.iter().collect();
    live.sort_by_cached_key(|member| rollout::order(&cluster.spec.pools, member));
    let wanted: Vec<MemberSpec> = live.iter().map(|member| wanted(cluster, member, target)).collect();
    let rolls = |member: &Member, wanted: &MemberSpec| {
        // What runs on a host of its own is not the operator's to roll, so nobody waits for it.
        member.spec.external.is_none()
            && (member.spec.zone != wanted.zone
                || member.spec.node_affinity != wanted.node_affinity
                || member.spec.workload != wanted.workload)
    };
    let rolled: Vec<rollout::Rolled> = live
        .iter()
        .zip(&wanted)
        .map(|(member, wanted)| as_rolled(member, !rolls(member, wanted), parked))
        .collect();
    let next = rollout::next(&rolled);
    let mut steps = Vec::new();
    for ((member, wanted), rolled) in live.iter().zip(&wanted).zip(&rolled) {
        let claim = claim_changes(&member.spec, wanted);
        if !claim.is_empty() {
            let when = "now".to_owned();
            steps.push(MemberStep { name: member.name_any(), when, what: claim.join("; ") });
        }
        let first = member.spec.external.is_some() && member.spec.workload.is_none();
        if first || !rolled.current {
            let when = if first { "now".to_owned() } else { when(rolled, &next) };
            let what = changes(&member.spec, wanted).join("; ");
            steps.push(MemberStep { name: member.name_any(), when, what });
        }
    }
    steps
}

/// What a Member's spec is to be; of one made by hand only its workload follows, and where it runs on a host of its own only
/// the first.
fn wanted(cluster: &ReplicatedCluster, live: &Member, target: &Target) -> MemberSpec {
    let pool = cluster.spec.pools.iter().find(|pool| pool.name == live.spec.pool);
    match (names::ordinal(live), pool) {
        (Some(ordinal), Some(pool)) => member::of_pool(cluster, pool, ordinal, target).spec,
        // Its pool is gone, and so will it be.
        (Some(_), None) => live.spec.clone(),
        (None, pool) => {
            MemberSpec { workload: Some(member::workload_by_hand(pool, target)), ..live.spec.clone() }
        }
    }
}

fn as_rolled(member: &Member, current: bool, parked: bool) -> rollout::Rolled {
    let status = member.status.clone().unwrap_or_default();
    let generation = member.metadata.generation.unwrap_or(0);
    let truth = |kind| conditions::truth_at(&status.conditions, kind, generation);
    let ready = truth(ConditionType::Ready);
    // Who is not heard may run, unless nothing runs that it could run in.
    let silent = truth(ConditionType::Joined) == conditions::Truth::Unknown
        && truth(ConditionType::WorkloadReady) != conditions::Truth::False;
    rollout::Rolled {
        name: member.name_any(),
        current,
        ready: if status.observed_generation == Some(generation) {
            ready
        } else {
            conditions::Truth::Unknown
        },
        runs: status.role.is_some() || silent,
        primary: status.role.as_deref() == Some(Role::Primary.as_str()),
        fixed: member.spec.desired_state == DesiredState::Disabled
            || member.metadata.deletion_timestamp.is_some(),
        at_rest: parked || member.spec.external.is_some(),
    }
}

fn when(rolled: &rollout::Rolled, next: &Next) -> String {
    let primary = if rolled.primary { ", after a switchover" } else { "" };
    match next {
        _ if rolled.fixed => "not while it is disabled or goes".to_owned(),
        Next::Update(names) if names.contains(&rolled.name) => format!("now{primary}"),
        Next::Wait { unready, next } if *next == rolled.name => {
            format!("when {} are ready{primary}", conditions::names(unready))
        }
        Next::Update(_) | Next::Wait { .. } | Next::Done => format!("later, one at a time{primary}"),
    }
}

fn claim_changes(live: &MemberSpec, wanted: &MemberSpec) -> Vec<String> {
    let mut changes = Vec::new();
    for (live, wanted) in live.storage.iter().zip(&wanted.storage) {
        let (Some(live), Some(wanted)) = (&live.claim, &wanted.claim) else { continue };
        if live.capacity != wanted.capacity {
            changes.push(format!("claim {} -> {}", live.capacity, wanted.capacity));
        }
        if live.retention != wanted.retention {
            changes.push(format!("retention {:?} -> {:?}", live.retention, wanted.retention));
        }
    }
    changes
}

fn changes(live: &MemberSpec, wanted: &MemberSpec) -> Vec<String> {
    let mut changes = Vec::new();
    let nothing = Workload::default();
    let (old, new) = (live.workload.as_ref(), wanted.workload.as_ref().unwrap_or(&nothing));
    match old {
        None => changes.push(format!("version {}", new.version)),
        Some(old) => {
            if old.version != new.version {
                changes.push(format!("version {} -> {}", old.version, new.version));
            }
            if old.config != new.config {
                changes.push(format!("configuration {} -> {}", old.config, new.config));
            }
            if old.secrets_hash != new.secrets_hash {
                changes.push("Secrets".to_owned());
            }
            if old.resources != new.resources {
                changes.push("resources".to_owned());
            }
            if old.tolerations != new.tolerations {
                changes.push("tolerations".to_owned());
            }
        }
    }
    if live.zone != wanted.zone {
        let zone = |zone: &Option<String>| zone.clone().unwrap_or_else(|| "any".to_owned());
        changes.push(format!("zone {} -> {}", zone(&live.zone), zone(&wanted.zone)));
    }
    if live.node_affinity != wanted.node_affinity {
        changes.push("nodeAffinity".to_owned());
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn cluster(pool: &Value) -> ReplicatedCluster {
        serde_json::from_value(json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": "orders"},
            "spec": {"engine": {"name": "ledger"}, "pools": [pool]},
        }))
        .unwrap()
    }

    fn member(name: &str, role: &str, ready: &str) -> Member {
        let condition = json!({"type": "Ready", "status": ready, "reason": "x", "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z"});
        serde_json::from_value(json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "Member",
            "metadata": {"name": name, "generation": 1, "labels": {"muster.dev/pool": "a"}},
            "spec": {"clusterName": "orders", "pool": "a", "workload": {"version": "1", "config": "orders-1"},
                "storage": [{"pvcName": format!("data-{name}"), "claim": {"capacity": "1Gi"}}]},
            "status": {"observedGeneration": 1, "role": role, "conditions": [condition]},
        }))
        .unwrap()
    }

    fn target(version: &str) -> Target {
        Target { version: version.into(), config: format!("orders-{version}"), secrets_hash: None }
    }

    fn steps(cluster: &ReplicatedCluster, live: &[Member], version: &str) -> Vec<String> {
        let steps = plan(cluster, live, &target(version), false);
        steps.iter().map(|step| format!("{} {}: {}", step.name, step.when, step.what)).collect()
    }

    #[test]
    fn a_new_version_rolls_the_secondary_first_and_the_primary_last() {
        let cluster =
            cluster(&json!({"name": "a", "threshold": {"nodes": 2}, "storage": {"capacity": "1Gi"}}));
        let live = [member("orders-a-0", "primary", "True"), member("orders-a-1", "secondary", "True")];
        assert_eq!(steps(&cluster, &live, "1"), Vec::<String>::new());
        assert_eq!(
            steps(&cluster, &live, "2"),
            [
                "orders-a-0 later, one at a time, after a switchover: version 1 -> 2; configuration orders-1 -> orders-2",
                "orders-a-1 now: version 1 -> 2; configuration orders-1 -> orders-2",
            ]
        );
    }

    #[test]
    fn a_claim_grows_at_once_on_all() {
        let pool =
            json!({"name": "a", "zone": "z", "threshold": {"nodes": 2}, "storage": {"capacity": "2Gi"}});
        let live = [member("orders-a-0", "primary", "True")];
        assert_eq!(
            steps(&cluster(&pool), &live, "1"),
            ["orders-a-0 now: claim 1Gi -> 2Gi", "orders-a-0 now, after a switchover: zone any -> z"]
        );
    }

    #[test]
    fn a_member_on_a_host_of_its_own_is_as_it_is_and_nobody_waits_for_it() {
        let cluster =
            cluster(&json!({"name": "a", "threshold": {"nodes": 1}, "storage": {"capacity": "1Gi"}}));
        let mut external = member("db-1", "secondary", "False");
        external.metadata.labels = None;
        external.spec.storage = Vec::new();
        let host = json!({"address": "db-1.example.org", "credentials": {"secretName": "db-1"}});
        external.spec.external = serde_json::from_value(host).unwrap();
        let live = [member("orders-a-0", "secondary", "True"), external.clone()];
        assert_eq!(
            steps(&cluster, &live, "2"),
            ["orders-a-0 now: version 1 -> 2; configuration orders-1 -> orders-2"]
        );
        external.spec.workload = None;
        assert_eq!(steps(&cluster, &[external], "2"), ["db-1 now: version 2"], "its first one it is given");
    }
}
