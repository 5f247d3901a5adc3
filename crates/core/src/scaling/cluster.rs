//! The sizing of a whole cluster: its pools, the members of pools that are gone from the spec, and parking.

use super::candidate::{holders, next_to_go};
use super::{Around, Decision, Free, Hold, MEMBER_LIMIT, Pool, PoolAdvice, PoolMember, Stage, advise_pool};

/// The advice for a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// All pools are at 0: stop every member and keep it.
    pub parked: bool,
    /// One entry for each pool, in the order of the spec. At most one of all decisions, `removed_pools`
    /// included, is a removal.
    pub pools: Vec<PoolAdvice>,
    /// What to do with the members whose pool is gone from the spec.
    pub removed_pools: Decision,
    /// `status.desiredReplicas`.
    pub desired_replicas: u32,
    /// `status.freeStorage`, or who did not report.
    pub free: Free,
}

/// Whether every pool of the spec asks for no member at all.
pub fn is_parked(pools: &[Pool<'_>]) -> bool {
    !pools.is_empty() && pools.iter().all(|pool| pool.threshold.is_zero())
}

/// What to do with the cluster next. `homeless` are the Members whose pool is not in the spec, those made by
/// hand included.
pub fn advise(pools: &[Pool<'_>], homeless: &[PoolMember]) -> Advice {
    let parked = is_parked(pools);
    let all = pools.iter().flat_map(|p| p.members).chain(homeless);
    let all_holders: usize = pools.iter().map(|p| holders(p.members)).sum::<usize>() + holders(homeless);
    let mut room = MEMBER_LIMIT.saturating_sub(all.clone().count());
    // One removal at a time in the whole cluster: the removal gate takes one, and two pools must not each
    // give up one of the last two holders of data.
    let mut leaving = all.clone().find(|m| m.stage == Stage::Leaving).map(|m| m.name.clone());

    let removed_pools = one_removal(homeless_next(homeless, parked, all_holders), &mut leaving);
    let mut advised = Vec::with_capacity(pools.len());
    for pool in pools {
        let around = Around { holders_elsewhere: all_holders - holders(pool.members), room };
        let mut advice = advise_pool(pool, around);
        if parked {
            advice.decision = Decision::Hold(Hold::Parked);
        }
        if let Decision::Create { ordinals, .. } = &advice.decision {
            room = room.saturating_sub(ordinals.len());
        }
        advice.decision = one_removal(advice.decision, &mut leaving);
        advised.push(advice);
    }
    Advice {
        parked,
        removed_pools,
        desired_replicas: advised.iter().fold(0, |sum: u32, a| sum.saturating_add(a.desired_nodes)),
        free: Free::sum(advised.iter().map(|a| &a.free)),
        pools: advised,
    }
}

fn homeless_next(homeless: &[PoolMember], parked: bool, all_holders: usize) -> Decision {
    if homeless.iter().all(|m| !m.counts()) {
        return Decision::Hold(Hold::AtSize);
    }
    if parked {
        return Decision::Hold(Hold::Parked);
    }
    match next_to_go(homeless, all_holders - holders(homeless)) {
        Some(m) => Decision::Remove { member: m.name.clone(), switchover_first: m.primary },
        None => Decision::Hold(Hold::NobodyMayGo),
    }
}

/// Lets the first removal pass and makes the others wait for it.
fn one_removal(decision: Decision, leaving: &mut Option<String>) -> Decision {
    let Decision::Remove { member, .. } = &decision else {
        return decision;
    };
    if let Some(other) = leaving {
        return Decision::Hold(Hold::Leaving(other.clone()));
    }
    *leaving = Some(member.clone());
    decision
}
