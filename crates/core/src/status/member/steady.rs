//! What moves all the time is not a change: a running member's sequence and position are restated only when its role
//! or a condition changed, its free storage rounded and at most once a minute.

use jiff::Timestamp;
use muster_api::cluster::Threshold;
use muster_api::limits;
use muster_api::member::MemberStatus;

use crate::scaling::{self, Published};

/// The free storage to show: rounded down to a hundredth of the capacity, at most once a minute, and at once across a
/// threshold of its pool.
pub fn free_storage(
    free: u128,
    capacity: u128,
    shown: Option<Published>,
    threshold: &Threshold,
    now: Timestamp,
) -> Published {
    let lines = [&threshold.free_storage_min, &threshold.free_storage_max];
    let lines: Vec<u128> =
        lines.into_iter().flatten().map(|line| u128::try_from(line.bytes()).unwrap_or(0)).collect();
    scaling::publish(free, capacity, shown, &lines, now)
}

/// Keeps sequence and position as they were shown, where nothing else about the member changed. After a restart, when
/// memory is empty, the stored ones serve, if they have the shape of ours.
pub(super) fn hold_still(
    status: &mut MemberStatus,
    previous: Option<&MemberStatus>,
    stored: Option<&MemberStatus>,
) {
    let source = previous.or_else(|| stored.filter(|stored| is_plausible(stored, status)));
    let Some(source) = source.filter(|source| same_otherwise(source, status)) else { return };
    status.sequence = source.sequence;
    status.position.clone_from(&source.position);
}

/// A running member's sequence only grows, so a stored one that is higher is not ours.
fn is_plausible(stored: &MemberStatus, fresh: &MemberStatus) -> bool {
    let short = |position: &String| {
        position.chars().count() <= usize::try_from(limits::POSITION_MAX).unwrap_or(0) && !position.is_empty()
    };
    stored.sequence.is_some_and(|sequence| (0..=fresh.sequence.unwrap_or(-1)).contains(&sequence))
        && stored.position.as_ref().is_none_or(short)
        && stored.position.is_some() == fresh.position.is_some()
}

/// Whether role, data and the status of every condition are the same.
fn same_otherwise(old: &MemberStatus, new: &MemberStatus) -> bool {
    let known = |status: &MemberStatus| {
        let conditions = status.conditions.iter();
        conditions.map(|c| (c.type_.clone(), c.status.clone(), c.reason.clone())).collect::<Vec<_>>()
    };
    old.role == new.role && old.history == new.history && old.term == new.term && known(old) == known(new)
}
