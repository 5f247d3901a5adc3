//! What the manager knows: it is told what happens ([`fold`]), and forgets everything when its process ends.

mod fold;
mod seen;
mod trials;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use muster_api::names::Role;

pub use self::seen::{Seen, Sent};
pub use self::trials::{FailedSeeds, MAX_RETRY_PAUSE, RETRY_PAUSE, Trial, retry_pause};
use super::decide::is_split;
use super::report::{Activity, Report, Running};
use super::requests::Directive;
use super::roster::Roster;
use super::stamp::{Stamp, Term};
use super::wanted::Wanted;

/// An epoch is at least the wall clock in seconds. One that is this far above ours is no later leader's, but a broken
/// agent's: it is not followed.
pub const MAX_EPOCH_LEAD: u64 = 1 << 32;

/// The primary's sequence when it was first read in a round: what others must reach to have all it had then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The round.
    pub round: u64,
    /// The primary's sequence.
    pub sequence: u64,
}

/// The primary's sequence when it was first seen to count by a roster: what was acknowledged by the roster before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosterFloor {
    /// The roster.
    pub version: Stamp,
    /// The term of the primary.
    pub term: Option<Term>,
    /// The primary's sequence.
    pub sequence: u64,
}

/// All that a manager knows. Agents remember what must outlive it.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The epoch under which this manager commands.
    pub epoch: u64,
    /// Moves whenever anyone's accounting changes. What was read in an earlier round does not count in an election.
    pub round: u64,
    /// The members, configured or named by a roster.
    pub members: BTreeMap<String, Seen>,
    /// The newest roster that this manager made itself.
    pub issued: Option<Roster>,
    /// Since when more than one view, or more primaries than wanted, are seen.
    pub split_since: Option<Timestamp>,
    /// The member that was told to begin a term and has not been seen serving in it.
    pub trial: Option<Trial>,
    /// Those that were tried and did not come to serve.
    pub failed_seeds: FailedSeeds,
    /// The primary's sequence at the beginning of this round.
    pub floor: Option<Floor>,
    /// The primary's sequence at the beginning of its present roster.
    pub roster_floor: Option<RosterFloor>,
    /// What a person asked for.
    pub directive: Option<Directive>,
}

impl Observed {
    /// Knows nothing yet.
    pub fn new(epoch: u64) -> Self {
        Self {
            epoch,
            round: 1,
            members: BTreeMap::new(),
            issued: None,
            split_since: None,
            trial: None,
            failed_seeds: FailedSeeds::default(),
            floor: None,
            roster_floor: None,
            directive: None,
        }
    }

    /// The same manager after a pause: everything is observed anew, but what was sent stays sent.
    #[must_use]
    pub fn resumed(self) -> Self {
        let members = self.members.into_iter().map(|(name, seen)| (name, seen.resumed())).collect();
        Self { members, round: self.round + 1, issued: self.issued, ..Self::new(self.epoch) }
    }

    /// The newest roster that anyone names.
    pub fn roster(&self) -> Option<&Roster> {
        let reported = self.members.values().filter_map(|seen| seen.report.as_ref()?.roster.as_ref());
        reported.chain(self.issued.as_ref()).max_by_key(|roster| roster.version)
    }

    /// The reports of members whose stream is alive and whose agent follows this epoch.
    pub fn reporting(&self) -> impl Iterator<Item = (&str, &Report)> {
        self.members.iter().filter_map(|(name, seen)| Some((name.as_str(), self.live(seen)?)))
    }

    /// The report of this member, if its stream is alive and its agent follows this epoch.
    pub fn report_of(&self, member: &str) -> Option<&Report> {
        self.live(self.members.get(member)?)
    }

    /// The applications that are known to run now.
    pub fn running(&self) -> impl Iterator<Item = (&str, &Report, &Running)> {
        self.reporting().filter_map(|(name, report)| Some((name, report, report.running()?)))
    }

    /// Whether some agent follows a later leader.
    pub fn outranked(&self) -> bool {
        let epochs = self.members.values().filter_map(|seen| Some(seen.report.as_ref()?.epoch));
        let believable = epochs.filter(|epoch| epoch.saturating_sub(self.epoch) <= MAX_EPOCH_LEAD);
        believable.max().is_some_and(|epoch| epoch > self.epoch)
    }

    /// For how long this member made no progress.
    pub fn idle_for(&self, member: &str, now: Timestamp) -> SignedDuration {
        let progressed = self.members.get(member).and_then(|seen| seen.progressed);
        progressed.map_or(SignedDuration::ZERO, |at| now.duration_since(at))
    }

    /// The `restoreReplicas` that Muster wrote last, as the agents remember it: the value, and the one before it.
    pub fn recorded(&self) -> &[usize] {
        let newest = self.reporting().max_by_key(|(_, report)| report.last.map(|last| last.stamp));
        let remembered =
            self.reporting().map(|(_, report)| report.recorded.as_slice()).max_by_key(|list| list.len());
        newest
            .map(|(_, report)| report.recorded.as_slice())
            .filter(|list| !list.is_empty())
            .or(remembered)
            .unwrap_or(&[])
    }

    /// Keeps since when more than one view, or more primaries than wanted, are seen. To be called before deciding.
    pub fn watch_for_split(&mut self, wanted: &Wanted, now: Timestamp) {
        self.split_since = is_split(self, wanted).then(|| self.split_since.unwrap_or(now));
    }

    fn live<'a>(&self, seen: &'a Seen) -> Option<&'a Report> {
        seen.report.as_ref().filter(|report| seen.connected && report.epoch == self.epoch)
    }
}

/// Whether this report says that its member serves writes.
pub fn serves_as_primary(report: &Report) -> bool {
    report.running().is_some_and(|running| {
        running.role == Role::Primary && matches!(running.activity, Activity::Serving | Activity::Donor)
    })
}
