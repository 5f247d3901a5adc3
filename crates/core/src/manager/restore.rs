//! `restoreReplicas`: how many members made up the cluster when it was last whole.

use super::observed::{Observed, serves_as_primary};
use super::roster::Roster;
use super::wanted::Wanted;

/// Whose value a stored `restoreReplicas` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody's: absent, or 0.
    Nobody,
    /// It cannot be told yet: no agent has reported.
    NotKnownYet,
    /// Muster wrote it. It neither blocks nor gives anyone up; the roster does.
    Muster(usize),
    /// A person set it by hand while nobody was looking.
    Person(usize),
}

impl Source {
    /// Tells whose the stored value is, by the values that agents remember Muster to have written: the last, and the
    /// one before it, which is still stored when the operator ended between telling the agents and writing.
    pub fn of(stored: Option<i64>, written_by_muster: Option<&[usize]>) -> Self {
        let Some(stored) = stored.and_then(|value| usize::try_from(value).ok()).filter(|&value| value > 0)
        else {
            return Self::Nobody;
        };
        let Some(written_by_muster) = written_by_muster else { return Self::NotKnownYet };
        if written_by_muster.contains(&stored) { Self::Muster(stored) } else { Self::Person(stored) }
    }

    /// The person's value, if it is a person's.
    pub const fn persons(self) -> Option<usize> {
        match self {
            Self::Person(value) => Some(value),
            Self::Nobody | Self::NotKnownYet | Self::Muster(_) => None,
        }
    }
}

/// The value to record now, if the cluster is whole: a primary serves, exactly the wanted members are joined, and
/// none is leaving. Never 0.
pub fn to_record(observed: &Observed, wanted: &Wanted, roster: &Roster) -> Option<usize> {
    let members = wanted.members.len();
    let someone_leaves = wanted.members.values().any(|member| member.leaving);
    let served = observed.reporting().any(|(_, report)| serves_as_primary(report));
    let joined = |name: &String| {
        let synced = |report: &super::report::Report| report.running().is_some_and(|running| running.synced);
        roster.entry(name).is_some() && observed.report_of(name).is_some_and(synced)
    };
    let whole = members > 0
        && !wanted.parked
        && !someone_leaves
        && served
        && roster.before.is_none()
        && roster.entries.len() == members
        && wanted.members.keys().all(joined);
    whole.then_some(members)
}

#[cfg(test)]
mod tests;
