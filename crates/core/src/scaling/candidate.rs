//! Who goes first: never-joined and failed members, then the highest ordinal; a primary only if nobody else
//! may; never a disabled member, one made by hand, or the last holder of data.

use super::{Data, PoolMember, Stage};

/// The member to remove next. `holders_elsewhere` counts the members outside of `members` that hold data.
pub(super) fn next_to_go(members: &[PoolMember], holders_elsewhere: usize) -> Option<&PoolMember> {
    let holders = holders_elsewhere + members.iter().filter(|m| holds(m)).count();
    members
        .iter()
        .filter(|m| m.counts() && m.enabled)
        .filter(|m| !holds(m) || holders > 1)
        .max_by_key(|m| (!m.primary, m.stage == Stage::Creating || m.failed, m.ordinal))
}

/// How many of `members` hold data the cluster would miss; one on its way out is no longer relied upon.
pub(super) fn holders(members: &[PoolMember]) -> usize {
    members.iter().filter(|m| holds(m)).count()
}

fn holds(member: &PoolMember) -> bool {
    member.data == Data::Holds && member.stage != Stage::Leaving
}
