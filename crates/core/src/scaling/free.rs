//! The free storage of a pool: the sum over its enabled members, or an error that names who did not report
//! (R2.3).

use jiff::Timestamp;

use super::{PoolMember, Stage};

/// The free storage of a pool or cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Free {
    /// The sum of what the joined enabled members report.
    Known(u128),
    /// These members should report and do not.
    Missing(Vec<String>),
}

impl Free {
    /// Sums over pools: one unknown makes the whole unknown.
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut total: u128 = 0;
        let mut missing = Vec::new();
        for part in parts {
            match part {
                Self::Known(bytes) => total = total.saturating_add(*bytes),
                Self::Missing(names) => missing.extend(names.iter().cloned()),
            }
        }
        if missing.is_empty() { Self::Known(total) } else { Self::Missing(missing) }
    }
}

/// What is free now. A member that never joined has nothing to give yet and need not report.
pub(super) fn measured(members: &[PoolMember]) -> Free {
    let mut total: u128 = 0;
    let mut missing = Vec::new();
    for member in members.iter().filter(|m| m.gives_storage() && m.stage == Stage::Joined) {
        match member.free {
            Some(report) => total = total.saturating_add(report.bytes),
            None => missing.push(member.name.clone()),
        }
    }
    if missing.is_empty() { Free::Known(total) } else { Free::Missing(missing) }
}

/// What the members being created will bring, taken as their capacity.
pub(super) fn promised(members: &[PoolMember]) -> u128 {
    let creating = members.iter().filter(|m| m.gives_storage() && m.stage == Stage::Creating);
    creating.fold(0, |sum, m| sum.saturating_add(m.capacity))
}

/// The members whose report is not newer than the last change of the pool.
pub(super) fn outdated(members: &[PoolMember], changed_at: Option<Timestamp>) -> Vec<String> {
    let Some(changed_at) = changed_at else {
        return Vec::new();
    };
    members
        .iter()
        .filter(|m| m.gives_storage() && m.stage == Stage::Joined)
        .filter(|m| m.free.is_some_and(|report| report.at <= changed_at))
        .map(|m| m.name.clone())
        .collect()
}
