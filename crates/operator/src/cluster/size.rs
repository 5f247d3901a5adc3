//! Decide, first half: how many members each pool is to have, by what they report.

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt;
use muster_api::Member;
use muster_api::member::DesiredState;
use muster_core::build::names;
use muster_core::manager::report::Report;
use muster_core::scaling::{self, Advice, Data, FreeReport, PoolMember, Stage, Threshold};
use muster_core::status::{Part, Picture};

use super::observe::Seen;
use crate::memory::Memory;

/// What pool sizing sees of a cluster's Members.
pub struct Sized {
    /// The advice.
    pub advice: Advice,
    /// Every Member as sizing sees it.
    pub members: BTreeMap<String, PoolMember>,
}

/// How large each pool is to be. Keeps in memory when members came, joined and went, and what they brought.
pub(super) fn size(
    seen: &Seen,
    picture: Option<&Picture<'_>>,
    reserved: &BTreeMap<String, BTreeSet<u32>>,
    memory: &mut Memory,
) -> Sized {
    let since = *memory.since.get_or_insert(seen.now);
    let members: BTreeMap<String, PoolMember> = seen
        .members
        .iter()
        .map(|member| (member.name_any(), pool_member(seen, member, picture, memory)))
        .collect();
    note_changes(seen, &members, memory);
    let pool_of = |name: &str| members_of(seen, &members, name);
    let of_pools: Vec<Vec<PoolMember>> =
        seen.cluster.spec.pools.iter().map(|pool| pool_of(&pool.name)).collect();
    let nothing = BTreeSet::new();
    let pools: Vec<scaling::Pool<'_>> = seen
        .cluster
        .spec
        .pools
        .iter()
        .zip(&of_pools)
        .map(|(pool, members)| scaling::Pool {
            name: &pool.name,
            threshold: Threshold::from(&pool.threshold),
            members,
            reserved: reserved.get(&pool.name).unwrap_or(&nothing),
            changed_at: Some(memory.pools_changed.get(&pool.name).copied().unwrap_or(since)),
        })
        .collect();
    let configured: BTreeSet<&str> = seen.cluster.spec.pools.iter().map(|pool| pool.name.as_str()).collect();
    let homeless = seen.members.iter().filter(|member| !configured.contains(member.spec.pool.as_str()));
    let homeless: Vec<PoolMember> =
        homeless.filter_map(|member| members.get(&member.name_any()).cloned()).collect();
    let advice = scaling::advise(&pools, &homeless);
    for pool in &advice.pools {
        if let Some((member, raised)) = &pool.measured {
            memory.gains.insert(member.clone(), scaling::Gain::Measured { raised: *raised });
        }
    }
    Sized { advice, members }
}

fn members_of(seen: &Seen, members: &BTreeMap<String, PoolMember>, pool: &str) -> Vec<PoolMember> {
    let of_pool = seen.members.iter().filter(|member| member.spec.pool == pool);
    of_pool.filter_map(|member| members.get(&member.name_any()).cloned()).collect()
}

/// A Member as sizing sees it. Where nobody looks, it counts as one that holds data.
fn pool_member(seen: &Seen, member: &Member, picture: Option<&Picture<'_>>, memory: &Memory) -> PoolMember {
    let name = member.name_any();
    let part = picture.map(|picture| picture.part(&name));
    let report = picture.and_then(|picture| picture.view.observed.report_of(&name));
    let heard = seen.view.heard.get(&name).filter(|_| report.is_some());
    let storage = heard.and_then(|heard| heard.measured.storage);
    let capacity = storage.map_or_else(|| claimed(member), |storage| storage.capacity.into());
    PoolMember {
        ordinal: names::ordinal(member),
        stage: stage(member, picture),
        enabled: member.spec.desired_state == DesiredState::Enabled,
        failed: matches!(part, Some(Part::Failed { .. })),
        primary: picture.is_some_and(|picture| picture.primaries().contains(&name.as_str())),
        data: data(report, part.as_ref()),
        capacity,
        free: storage
            .zip(heard)
            .map(|(storage, heard)| FreeReport { bytes: storage.free.into(), at: heard.at }),
        gain: memory.gains.get(&name).copied(),
        name,
    }
}

fn stage(member: &Member, picture: Option<&Picture<'_>>) -> Stage {
    if member.metadata.deletion_timestamp.is_some() {
        return Stage::Leaving;
    }
    let Some(picture) = picture else { return Stage::Joined };
    let name = member.name_any();
    let entry = picture.view.observed.roster().and_then(|roster| roster.entry(&name));
    // A voter once had all that the primary had.
    if entry.is_some_and(|entry| entry.voter) { Stage::Joined } else { Stage::Creating }
}

fn data(report: Option<&Report>, part: Option<&Part>) -> Data {
    let Some(report) = report else { return Data::Holds };
    let counts = report.held().is_none_or(|held| held.counts() && !held.left);
    if counts && part != Some(&Part::Errant) { Data::Holds } else { Data::None }
}

/// What the Member's claims ask for, in bytes.
fn claimed(member: &Member) -> u128 {
    let claims = member.spec.storage.iter().filter_map(|storage| storage.claim.as_ref());
    claims.filter_map(|claim| u128::try_from(claim.capacity.bytes()).ok()).sum()
}

/// The smallest change of a pool's free storage that is shown: a hundredth of its capacity.
pub(super) fn step(seen: &Seen, sized: &Sized, pool: &str) -> u128 {
    let members = members_of(seen, &sized.members, pool);
    (members.iter().map(|member| member.capacity).sum::<u128>() / 100).max(1)
}

/// Notes when the members of a pool changed: the next change waits for reports that are newer.
fn note_changes(seen: &Seen, members: &BTreeMap<String, PoolMember>, memory: &mut Memory) {
    let stage = |member: &PoolMember| match member.stage {
        Stage::Creating => 0,
        Stage::Joined => 1,
        Stage::Leaving => 2,
    };
    let mut pools: BTreeMap<String, BTreeMap<String, u8>> = BTreeMap::new();
    for member in &seen.members {
        if let Some(sized) = members.get(&member.name_any()) {
            pools.entry(member.spec.pool.clone()).or_default().insert(member.name_any(), stage(sized));
        }
    }
    for (pool, stages) in &pools {
        let before = memory.pool_stages.get(pool);
        if before.is_some_and(|before| before != stages) {
            memory.pools_changed.insert(pool.clone(), seen.now);
            // With other members it is another figure, and shown at once.
            memory.shown_free.remove(pool);
        }
    }
    memory.pool_stages = pools;
    memory.gains.retain(|member, _| members.contains_key(member));
}
