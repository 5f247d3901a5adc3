//! What the manager knows: it is told what happens ([`fold`]), and forgets everything when its process ends.

mod fold;
mod seen;
mod trials;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use muster_api::names::Role;

pub use self::seen::{Failures, Seen, Sent};
pub use self::trials::{FailedSeeds, MAX_RETRY_PAUSE, RETRY_PAUSE, Trial, retry_pause};
use super::decide::is_split;
use super::report::{Activity, Report, Running};
use super::requests::{Directive, Mandate};
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
    /// How far that reaches.
    pub mandate: Option<Mandate>,
    /// Who reported when it was asked for and could not say what it held. It may hold more than the one that was chosen: that nobody
    /// knew is no decision against it.
    pub unread: BTreeSet<String>,
    /// Which data this cluster is about, once that is known.
    pub lineage: Option<String>,
    /// Whether a primary has been seen serving.
    pub has_served: bool,
    /// Whether one has since a person last set a count: it is about the outage it was set in, and spent then.
    pub count_spent: bool,
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
            mandate: None,
            unread: BTreeSet::new(),
            lineage: None,
            has_served: false,
            count_spent: false,
        }
    }

    /// The same manager after a pause: everything is observed anew, but what was sent stays sent.
    #[must_use]
    pub fn resumed(self) -> Self {
        let members = self.members.into_iter().map(|(name, seen)| (name, seen.resumed())).collect();
        Self { members, round: self.round + 1, issued: self.issued, ..Self::new(self.epoch) }
    }

    /// The newest roster of this cluster that anyone names.
    pub fn roster(&self) -> Option<&Roster> {
        let lineages = self.lineages();
        let ours = match (&self.lineage, lineages.len()) {
            (Some(lineage), _) => lineage.as_str(),
            (None, 1) => lineages.first()?,
            (None, _) => return None,
        };
        self.rosters().filter(|roster| roster.lineage == ours).max_by_key(|roster| roster.version)
    }

    /// The lineages that are named: more than one, when a volume comes from another cluster.
    fn lineages(&self) -> BTreeSet<&str> {
        self.rosters().map(|roster| roster.lineage.as_str()).collect()
    }

    /// All rosters that are named by an agent that can be believed.
    fn rosters(&self) -> impl Iterator<Item = &Roster> {
        let believable = |report: &&Report| report.epoch.saturating_sub(self.epoch) <= MAX_EPOCH_LEAD;
        let reported = self.members.values().filter_map(|seen| seen.report.as_ref()).filter(believable);
        reported.filter_map(|report| report.roster.as_ref()).chain(self.issued.as_ref())
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

    /// The `restoreReplicas` that Muster wrote last, and the one before it, as the agents remember them. None: nobody
    /// has reported who remembers any. One on a new disk does not.
    pub fn recorded(&self) -> Option<&[usize]> {
        let remember = self.reporting().filter(|(_, report)| report.recorded_at.is_some());
        let newest = remember.max_by_key(|(_, report)| report.recorded_at);
        newest.map(|(_, report)| report.recorded.as_slice())
    }

    /// Makes this the newest roster. Whose it is, is known from now on: where a person had a cluster formed anew of which
    /// nothing was left, it begins a lineage of its own, and what was known of the one before is about nobody any more.
    pub fn issue(&mut self, roster: Roster) {
        self.lineage = Some(roster.lineage.clone());
        self.issued = Some(roster);
    }

    /// Gives the manager something to do by a person's word.
    pub fn direct(&mut self, directive: Directive, until: Timestamp) {
        // The chosen one was chosen whatever it holds.
        let chosen = |name: &str| matches!(&directive, Directive::Seed { member, .. } if member == name);
        let silent = self.reporting().filter(|(name, report)| report.held().is_none() && !chosen(name));
        self.unread = silent.map(|(name, _)| name.to_owned()).collect();
        let heard = self.reporting().map(|(name, _)| name.to_owned()).collect();
        self.directive = Some(directive);
        self.mandate = Some(Mandate { until, heard });
    }

    /// Why the request under way cannot be carried out any more, if so.
    pub fn void_mandate(&self, now: Timestamp) -> Option<String> {
        let (directive, mandate) = (self.directive.as_ref()?, self.mandate.as_ref()?);
        if now >= mandate.until {
            return Some(format!(
                "it could not be carried out by {}: look again and repeat it",
                mandate.until
            ));
        }
        let chooses = matches!(directive, Directive::Seed { .. });
        if !chooses {
            return None;
        }
        if let Some((newcomer, _)) = self.reporting().find(|(name, _)| !mandate.heard.contains(*name)) {
            return Some(format!("{newcomer} has reported since: look again and repeat it"));
        }
        let read = |(name, report): &(&str, &Report)| self.unread.contains(*name) && report.held().is_some();
        let (read, _) = self.reporting().find(read)?;
        Some(format!("what {read} holds could be read since: look again and repeat it"))
    }

    /// Keeps what has to be known over time: which data this is about, and since when more than one view, or more
    /// primaries than wanted, are seen. To be called before deciding.
    pub fn look_around(&mut self, wanted: &Wanted, now: Timestamp) {
        if self.lineage.is_none() {
            self.lineage = self.settle_lineage(wanted);
        }
        self.split_since = is_split(self, wanted).then(|| self.split_since.unwrap_or(now));
    }

    /// The mark on the claims names the volume on which the cluster was formed. Where there is no such mark, a lineage
    /// that nobody contradicts is ours.
    fn settle_lineage(&self, wanted: &Wanted) -> Option<String> {
        let marks = &wanted.formed.found;
        let named = self.lineages();
        match (marks.first(), marks.len()) {
            (Some(mark), 1) if named.contains(mark.volume.as_str()) => Some(mark.volume.clone()),
            _ if named.len() == 1 => named.first().map(|lineage| (*lineage).to_owned()),
            _ => None,
        }
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
