//! Which members would come or go, by the same advice that the operator follows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kube::ResourceExt;
use muster_api::Member;
use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::member::DesiredState;
use muster_api::names::{ANNOTATION_FORGOTTEN, ConditionType, LABEL_MEMBER, Role};
use muster_core::build::names;
use muster_core::conditions;
use muster_core::scaling::{self, Data, Decision, FreeReport, Pool, PoolMember, Stage, Threshold};
use serde_json::Value;

use super::live::Live;
use super::outline::{Outline, PoolStep};
use super::subject::Subject;

/// Adds the pools, and what becomes of members whose pool is gone.
pub(super) fn plan(subject: &Subject, live: &Live, outline: &mut Outline) {
    let (cluster, pools) = (subject.wanted.name_any(), &subject.wanted.spec.pools);
    let status = subject.wanted.status.clone().unwrap_or_default();
    let now = Timestamp::now();
    let of = |pool: &str| -> Vec<PoolMember> {
        live.members.iter().filter(|m| m.spec.pool == pool).map(|m| seen(m, &status, now)).collect()
    };
    let members: Vec<Vec<PoolMember>> = pools.iter().map(|pool| of(&pool.name)).collect();
    let homeless: Vec<PoolMember> = live
        .members
        .iter()
        .filter(|member| !pools.iter().any(|pool| pool.name == member.spec.pool))
        .map(|member| seen(member, &status, now))
        .collect();
    let (reserved, none) = (reserved(live), BTreeSet::new());
    let sized: Vec<Pool<'_>> = pools
        .iter()
        .zip(&members)
        .map(|(pool, members)| Pool {
            name: &pool.name,
            threshold: Threshold::from(&pool.threshold),
            members,
            reserved: reserved.get(&pool.name).unwrap_or(&none),
            changed_at: None,
        })
        .collect();
    let advice = scaling::advise(&sized, &homeless);
    for (pool, advised) in pools.iter().zip(&advice.pools) {
        outline.pools.push(PoolStep {
            name: pool.name.clone(),
            nodes: advised.nodes,
            desired_nodes: advised.desired_nodes,
            next: words(&cluster, &pool.name, &advised.decision),
            acts: !matches!(advised.decision, Decision::Hold(_)),
        });
    }
    let gone = homeless.iter().filter(|member| member.ordinal.is_some()).count();
    if gone > 0 {
        outline.pools.push(PoolStep {
            name: "(not in the spec)".to_owned(),
            nodes: u32::try_from(gone).unwrap_or(u32::MAX),
            desired_nodes: 0,
            next: words(&cluster, "", &advice.removed_pools),
            acts: !matches!(advice.removed_pools, Decision::Hold(_)),
        });
    }
}

/// The ordinals of members that were given up and whose claims are still there, by pool: the operator does not use them again.
fn reserved(live: &Live) -> BTreeMap<String, BTreeSet<u32>> {
    let mut reserved: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let claims = live.objects.iter().filter(|((kind, _), _)| kind == "PersistentVolumeClaim");
    for (_, claim) in claims {
        let part = |of: &str, key: &str| claim["metadata"][of].get(key).and_then(Value::as_str);
        if part("annotations", ANNOTATION_FORGOTTEN).is_some()
            && let Some((_, pool, ordinal)) = part("labels", LABEL_MEMBER).and_then(names::parse_member)
        {
            reserved.entry(pool.to_owned()).or_default().insert(ordinal);
        }
    }
    reserved
}

fn words(cluster: &str, pool: &str, decision: &Decision) -> String {
    match decision {
        Decision::Hold(hold) => hold.message(),
        Decision::Create { ordinals, .. } => {
            let names: Vec<String> =
                ordinals.iter().map(|ordinal| names::member(cluster, pool, *ordinal)).collect();
            format!("create {}, each with its claim, workload and certificate", conditions::names(&names))
        }
        Decision::Remove { member, switchover_first: true } => {
            format!("switch over from {member}, then remove it")
        }
        Decision::Remove { member, switchover_first: false } => {
            format!("remove {member}: its data leaves, it stops, then its claim goes as retention says")
        }
    }
}

/// A Member as sizing sees it, as far as it is stored.
fn seen(member: &Member, cluster: &ReplicatedClusterStatus, now: Timestamp) -> PoolMember {
    let status = member.status.clone().unwrap_or_default();
    let bytes = |amount: &muster_api::Quantity| u128::try_from(amount.bytes()).unwrap_or(0);
    let joined =
        conditions::get(&status.conditions, ConditionType::Joined).is_some_and(|c| c.status == "True");
    let holds = status.sequence.is_some() || status.history.is_some();
    let stage = match (member.metadata.deletion_timestamp.is_some(), joined || holds) {
        (true, _) => Stage::Leaving,
        (false, true) => Stage::Joined,
        (false, false) => Stage::Creating,
    };
    let claims = member.spec.storage.iter().filter_map(|storage| storage.claim.as_ref());
    let failed =
        cluster.members.iter().flat_map(|lists| &lists.failed).any(|name| *name == member.name_any());
    PoolMember {
        name: member.name_any(),
        ordinal: names::ordinal(member),
        stage,
        enabled: member.spec.desired_state == DesiredState::Enabled,
        failed,
        primary: status.role.as_deref() == Some(Role::Primary.as_str()),
        data: if joined || holds { Data::Holds } else { Data::None },
        capacity: claims.map(|claim| bytes(&claim.capacity)).sum(),
        free: status.free_storage.as_ref().map(|free| FreeReport { bytes: bytes(free), at: now }),
        gain: None,
    }
}

#[cfg(test)]
mod tests {
    use muster_api::ReplicatedCluster;
    use serde_json::json;

    use super::*;

    fn claim(member: &str, forgotten: bool) -> ((String, String), Value) {
        let mut claim = json!({"metadata": {"labels": {"muster.dev/member": member}}});
        if forgotten {
            claim["metadata"]["annotations"] = json!({"muster.dev/forgotten": "true"});
        }
        (("PersistentVolumeClaim".to_owned(), format!("data-{member}")), claim)
    }

    fn member(name: &str) -> Member {
        serde_json::from_value(json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "Member",
            "metadata": {"name": name, "labels": {"muster.dev/pool": "a"}},
            "spec": {"clusterName": "orders", "pool": "a",
                "storage": [{"pvcName": format!("data-{name}"), "claim": {"capacity": "1Gi"}}]},
            "status": {"history": "h", "sequence": 7, "conditions": []},
        }))
        .unwrap()
    }

    #[test]
    fn the_ordinal_of_a_member_that_was_forgotten_is_not_planned_again() {
        let wanted: ReplicatedCluster = serde_json::from_value(json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": "orders"},
            "spec": {"engine": {"name": "ledger"}, "pools": [
                {"name": "a", "threshold": {"nodes": 3}, "storage": {"capacity": "1Gi"}}]},
        }))
        .unwrap();
        let next = |forgotten: bool| {
            let claims =
                [claim("orders-a-0", false), claim("orders-a-1", false), claim("orders-a-2", forgotten)];
            let members = vec![member("orders-a-0"), member("orders-a-1")];
            let live = Live { members, objects: claims.into(), configs: BTreeMap::new() };
            let mut outline = Outline::default();
            plan(&Subject::live(wanted.clone()), &live, &mut outline);
            outline.pools.remove(0).next
        };
        assert!(next(true).contains("create orders-a-3,"), "{}", next(true));
        assert!(
            next(false).contains("create orders-a-2,"),
            "a claim that was only kept is used: {}",
            next(false)
        );
    }
}
