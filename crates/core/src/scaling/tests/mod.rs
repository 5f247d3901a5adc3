//! Tests of pool sizing: each row of the table at its exact boundaries, who goes first, and, by simulation,
//! that advice followed leads to rest.

use super::*;

mod properties;
mod rows;
mod simulation;
mod whole;

/// The capacity of every member here, unless a test says otherwise.
const CAPACITY: u128 = 100;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A joined, enabled secondary with data, that reported at second 100.
fn joined(ordinal: u32, free: u128) -> PoolMember {
    PoolMember {
        name: format!("c-a-{ordinal}"),
        ordinal: Some(ordinal),
        stage: Stage::Joined,
        enabled: true,
        failed: false,
        primary: false,
        data: Data::Holds,
        capacity: CAPACITY,
        free: Some(FreeReport { bytes: free, at: at(100) }),
        gain: None,
    }
}

fn creating(ordinal: u32) -> PoolMember {
    PoolMember { stage: Stage::Creating, data: Data::None, free: None, ..joined(ordinal, 0) }
}

fn leaving(ordinal: u32) -> PoolMember {
    PoolMember { stage: Stage::Leaving, ..joined(ordinal, 0) }
}

fn silent(ordinal: u32) -> PoolMember {
    PoolMember { free: None, ..joined(ordinal, 0) }
}

fn by_hand(name: &str, free: u128) -> PoolMember {
    PoolMember { name: name.into(), ordinal: None, ..joined(0, free) }
}

fn disabled(member: PoolMember) -> PoolMember {
    PoolMember { enabled: false, ..member }
}

fn primary(member: PoolMember) -> PoolMember {
    PoolMember { primary: true, ..member }
}

const UNBOUNDED: Threshold =
    Threshold::Bounds { min_nodes: None, max_nodes: None, free_min: None, free_max: None };

fn bounds(min: Option<u32>, max: Option<u32>, free_min: Option<u128>, free_max: Option<u128>) -> Threshold {
    Threshold::Bounds { min_nodes: min, max_nodes: max, free_min, free_max }
}

/// Advice for a pool whose last change was long ago, in a cluster with room and data elsewhere.
fn ask(threshold: Threshold, members: &[PoolMember]) -> Decision {
    full(threshold, members).decision
}

fn full(threshold: Threshold, members: &[PoolMember]) -> PoolAdvice {
    changed(threshold, members, Some(at(99)))
}

fn changed(threshold: Threshold, members: &[PoolMember], changed_at: Option<Timestamp>) -> PoolAdvice {
    let reserved = BTreeSet::new();
    let pool = Pool { name: "a", threshold, members, reserved: &reserved, changed_at };
    advise_pool(&pool, Around { holders_elsewhere: 1, room: 100 })
}

fn create(ordinals: &[u32]) -> Decision {
    Decision::Create { ordinals: ordinals.to_vec(), free_before: None }
}

fn create_for_storage(ordinal: u32, before: u128) -> Decision {
    Decision::Create { ordinals: vec![ordinal], free_before: Some(before) }
}

fn remove(ordinal: u32) -> Decision {
    Decision::Remove { member: format!("c-a-{ordinal}"), switchover_first: false }
}

fn name(ordinal: u32) -> String {
    format!("c-a-{ordinal}")
}
