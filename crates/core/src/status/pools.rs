//! `pools[]`, `freeStorage` and `failureDomains[]`.

use std::collections::BTreeMap;

use muster_api::cluster::{FailureDomain, PoolStatus, ReplicatedClusterStatus};
use muster_api::limits;

use super::inputs::{ClusterInputs, MemberSeen, PoolSeen, Sizing};
use super::text;

/// What `failureDomains[].attributes` calls the members of a zone.
const MEMBERS: &str = "members";
/// What `failureDomains[].attributes` calls those of them that are Ready.
const READY_MEMBERS: &str = "readyMembers";

/// Fills in the pools. `looking`: what comes from agents is known.
pub(super) fn describe(inputs: &ClusterInputs<'_>, looking: bool, status: &mut ReplicatedClusterStatus) {
    let Some(sizing) = inputs.sizing() else { return };
    let most = usize::try_from(limits::MAX_POOLS).unwrap_or(0);
    let pools = sizing.pools.iter().zip(&sizing.advice.pools).filter(|(pool, _)| !pool.name.is_empty());
    status.pools = pools
        .take(most)
        .map(|(pool, advice)| {
            let desired = i32::try_from(advice.desired_nodes).unwrap_or(i32::MAX);
            one_pool(inputs, pool, desired, looking)
        })
        .collect();
    status.free_storage = total_free(sizing).filter(|_| looking).map(text::bytes);
    status.failure_domains = domains(inputs, sizing, looking).into_iter().take(most).collect();
}

fn one_pool(inputs: &ClusterInputs<'_>, pool: &PoolSeen<'_>, desired: i32, looking: bool) -> PoolStatus {
    let all: Vec<&MemberSeen> = inputs.members.iter().filter(|member| member.pool == pool.name).collect();
    let made: Vec<&&MemberSeen> = all.iter().filter(|member| member.from_pool).collect();
    let ready = made.iter().filter(|member| member.ready().is_ready()).count();
    let capacity = all.iter().try_fold(0_u128, |sum, member| Some(sum.saturating_add(member.capacity?)));
    PoolStatus {
        name: text::name(pool.name),
        zone: Some(text::name(zone(pool))),
        nodes: Some(text::count(made.len())),
        ready_nodes: looking.then(|| text::count(ready)),
        desired_nodes: Some(desired),
        capacity: capacity.map(text::bytes),
        free_storage: pool.free.filter(|_| looking).map(|shown| text::bytes(shown.bytes)),
    }
}

/// The sum over the pools; one that is not known makes the whole unknown.
fn total_free(sizing: &Sizing<'_>) -> Option<u128> {
    sizing.pools.iter().try_fold(0_u128, |sum, pool| Some(sum.saturating_add(pool.free?.bytes)))
}

/// The zones of the pools, by name. A pool without a zone is one of its own.
fn domains(inputs: &ClusterInputs<'_>, sizing: &Sizing<'_>, looking: bool) -> Vec<FailureDomain> {
    let mut zones: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for pool in sizing.pools.iter().filter(|pool| !zone(pool).is_empty()) {
        let counts = zones.entry(zone(pool)).or_default();
        for member in inputs.members.iter().filter(|member| member.pool == pool.name) {
            counts.0 += 1;
            counts.1 += usize::from(member.ready().is_ready());
        }
    }
    let describe = |(name, (members, ready)): (&str, (usize, usize))| {
        let mut attributes = BTreeMap::from([(MEMBERS.to_owned(), members.to_string())]);
        if looking {
            attributes.insert(READY_MEMBERS.to_owned(), ready.to_string());
        }
        FailureDomain { name: text::name(name), control_plane: Some(true), attributes }
    };
    zones.into_iter().map(describe).collect()
}

fn zone<'a>(pool: &PoolSeen<'a>) -> &'a str {
    pool.zone.unwrap_or(pool.name)
}
