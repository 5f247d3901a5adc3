//! Seed election: who is the most advanced, and whether that can be known.

use std::collections::BTreeSet;

use jiff::Timestamp;
use muster_api::names::BlockedBy;

use super::fencing::Standing;
use super::observed::Observed;
use super::report::{Held, Report};
use super::requests::Directive;
use super::roster::{Entry, Roster, voters};
use super::terms::{Place, Relation};
use super::wanted::{Mark, Wanted};

/// What came of an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This member.
    Elected(Winner),
    /// Someone has to do something first.
    Blocked(Obstacle),
    /// Answers are outstanding that will come by themselves.
    Waiting(Vec<String>),
    /// A person chose this member, and it holds nothing that counts: only `--accept-data-loss` would start from it.
    Unfit(String),
    /// Everyone with the highest place was tried and stopped again; the next try is at that time.
    NoSeed(Timestamp),
}

/// Who is to be seeded or promoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Winner {
    /// The member.
    pub member: String,
    /// What it holds.
    pub place: Place,
    /// The voters whose data was not there, when a person or `allowLoss` said to go on without: what they alone
    /// hold is lost.
    pub without: Vec<String>,
}

/// Why an election cannot be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The kind.
    pub by: BlockedBy,
    /// The members it is about.
    pub members: Vec<String>,
}

/// The data of one voter.
#[derive(Clone, Copy, Debug)]
struct Ballot<'a> {
    member: &'a str,
    report: &'a Report,
    held: &'a Held,
}

impl Ballot<'_> {
    fn place(&self) -> Place {
        self.held.place()
    }
}

/// Holds an election over the roster. `all_data`: data outside of the roster may contradict it too (rule 4).
pub fn elect(
    observed: &Observed,
    wanted: &Wanted,
    roster: &Roster,
    now: Timestamp,
    all_data: bool,
) -> Outcome {
    let election = Election { observed, wanted, roster };
    match election.hold(now, all_data) {
        Ok(winner) => Outcome::Elected(winner),
        Err(outcome) => outcome,
    }
}

struct Election<'a> {
    observed: &'a Observed,
    wanted: &'a Wanted,
    roster: &'a Roster,
}

impl<'a> Election<'a> {
    fn hold(&self, now: Timestamp, all_data: bool) -> Result<Winner, Outcome> {
        self.everyone_accounted_for()?;
        self.count_a_person_set()?;
        if let Some(winner) = self.chosen_regardless() {
            return Ok(winner);
        }
        let ballots: Vec<Ballot<'a>> = self.ballots(self.roster.voters()).collect();
        let winner = if let Some(chosen) = self.chosen(&ballots)? {
            chosen
        } else {
            self.one_history(&ballots, all_data)?;
            self.most_advanced(&ballots, now)?
        };
        let without = self.unread(&winner);
        let complete = self.read_set_complete(&winner);
        if !complete && !self.loss_allowed(&ballots) {
            return Err(blocked(BlockedBy::DataMissing, without));
        }
        let without = if complete { Vec::new() } else { without };
        Ok(Winner { member: winner.member.to_owned(), place: winner.place(), without })
    }

    /// Every member of the roster, and of the one before while that has to answer too, is accounted for.
    fn everyone_accounted_for(&self) -> Result<(), Outcome> {
        let mut silent = Vec::new();
        let mut unconfirmed = Vec::new();
        let mut waiting = Vec::new();
        for member in self.roster.names() {
            let connected = self.observed.members.get(member).is_some_and(|seen| seen.connected);
            match self.observed.standing(member) {
                Standing::Reporting | Standing::Fenced(_) => {}
                Standing::Silent { .. } => silent.push(member.to_owned()),
                Standing::Unanswered if !connected => unconfirmed.push(member.to_owned()),
                Standing::Unanswered | Standing::Stale | Standing::Undetermined => {
                    waiting.push(member.to_owned());
                }
            }
        }
        if !silent.is_empty() {
            return Err(blocked(BlockedBy::MemberMissing, silent));
        }
        if !unconfirmed.is_empty() {
            return Err(blocked(BlockedBy::SeedUnconfirmed, unconfirmed));
        }
        if waiting.is_empty() { Ok(()) } else { Err(Outcome::Waiting(waiting)) }
    }

    /// A count set by a person blocks until that many members are configured.
    fn count_a_person_set(&self) -> Result<(), Outcome> {
        let configured = self.wanted.members.values().filter(|member| !member.leaving).count();
        match self.persons_count() {
            Some(count) if count > configured => Err(blocked(BlockedBy::RestoreReplicas, Vec::new())),
            _ => Ok(()),
        }
    }

    /// The data of these voters: there, whole, and read in this round. By volume, not by name: an exchanged disk is not
    /// the data that was acknowledged on.
    fn ballots(&self, voters: impl Iterator<Item = &'a Entry>) -> impl Iterator<Item = Ballot<'a>> {
        voters.filter_map(|entry| {
            self.observed.reporting().find_map(|(member, report)| {
                let held = report.held().filter(|held| held.counts() || self.is_all_there_is(entry, held))?;
                let read = self.observed.standing(member) == Standing::Reporting;
                (read && report.volume == entry.volume).then_some(Ballot { member, report, held })
            })
        })
    }

    /// Whether this is the data of a seed that formed the cluster and ended before it was seen to serve: nobody else was ever
    /// started, so it is whole, whatever it is.
    fn is_all_there_is(&self, entry: &Entry, held: &Held) -> bool {
        let mark = Mark { member: entry.member.clone(), volume: entry.volume.clone() };
        let alone = self.roster.entries.len() == 1 && self.roster.before.is_none();
        alone && !held.empty && !held.left && self.wanted.formed.found.contains(&mark)
    }

    /// A person chose a member and accepted the loss of whatever it does not hold.
    fn chosen_regardless(&self) -> Option<Winner> {
        let Some(Directive::Seed { member, accept_data_loss: true }) = &self.observed.directive else {
            return None;
        };
        let report = self.observed.report_of(member).filter(|_| !self.wanted.disabled(member))?;
        let place = report.held().map(Held::place).unwrap_or_default();
        let others = self.roster.voters().map(|voter| voter.member.clone()).filter(|name| name != member);
        Some(Winner { member: member.clone(), place, without: others.collect() })
    }

    /// A person chose a member: it must hold data of this cluster.
    fn chosen(&self, ballots: &[Ballot<'a>]) -> Result<Option<Ballot<'a>>, Outcome> {
        let Some(Directive::Seed { member, .. }) = &self.observed.directive else { return Ok(None) };
        if self.wanted.disabled(member) {
            return Err(blocked(BlockedBy::MemberDisabled, vec![member.clone()]));
        }
        let chosen = ballots.iter().find(|ballot| ballot.member == member).copied();
        chosen.map(Some).ok_or_else(|| Outcome::Unfit(member.clone()))
    }

    fn one_history(&self, ballots: &[Ballot<'a>], all_data: bool) -> Result<(), Outcome> {
        let mut found: BTreeSet<(&str, &str)> =
            ballots.iter().map(|ballot| (ballot.held.history.as_str(), ballot.member)).collect();
        if all_data {
            let others = self.observed.reporting().filter_map(|(member, report)| {
                let held = report.held().filter(|held| held.counts())?;
                Some((held.history.as_str(), member))
            });
            found.extend(others);
        }
        let histories: BTreeSet<&str> = found.iter().map(|(history, _)| *history).collect();
        if histories.len() <= 1 {
            return Ok(());
        }
        Err(blocked(
            BlockedBy::HistoryDiffers,
            found.iter().map(|(_, member)| (*member).to_owned()).collect(),
        ))
    }

    /// The highest place of all; among equals, one that was not tried in vain, stays, does not hand over, is not to be
    /// replaced, runs already, or comes first.
    fn most_advanced(&self, ballots: &[Ballot<'a>], now: Timestamp) -> Result<Ballot<'a>, Outcome> {
        let Some(top) = ballots.iter().map(Ballot::place).max() else {
            let all = self.roster.voters().map(|voter| voter.member.clone()).collect();
            return Err(blocked(BlockedBy::DataMissing, all));
        };
        let level: Vec<&Ballot<'a>> = ballots.iter().filter(|ballot| ballot.place() == top).collect();
        let enabled: Vec<&&Ballot<'a>> =
            level.iter().filter(|ballot| !self.wanted.disabled(ballot.member)).collect();
        if enabled.is_empty() {
            let members = level.iter().map(|ballot| ballot.member.to_owned()).collect();
            return Err(blocked(BlockedBy::MemberDisabled, members));
        }
        let failed = &self.observed.failed_seeds;
        let retry_at = failed.retry_at();
        let untried = |ballot: &&&&Ballot<'a>| retry_at <= now || !failed.members.contains(ballot.member);
        let rank = |ballot: &&&&Ballot<'a>| {
            let asked_for = self.switchover_target() == Some(ballot.member);
            let leaves = !self.wanted.stays(ballot.member);
            // Running ones are promoted; where the engine cannot, one that is stopped already spares a stop.
            let runs = ballot.report.running().is_some();
            let hands_over = self.switchover_source() == Some(ballot.member);
            let outdated = self.wanted.outdated(ballot.member);
            let restarts = runs != self.wanted.engine.promotes;
            (!asked_for, leaves, hands_over, outdated, restarts, self.wanted.order(ballot.member))
        };
        enabled
            .iter()
            .filter(untried)
            .min_by_key(rank)
            .map(|ballot| ***ballot)
            .ok_or(Outcome::NoSeed(retry_at))
    }

    /// A count that a person set is about the outage it was set in: once a primary has served, it is spent.
    fn persons_count(&self) -> Option<usize> {
        self.wanted.restore.filter(|_| !self.observed.count_spent)
    }

    fn switchover_target(&self) -> Option<&str> {
        match &self.observed.directive {
            Some(Directive::Switchover { to, .. }) => to.as_deref(),
            _ => None,
        }
    }

    /// Who hands over to anyone but itself. One who hands over to a certain member takes back what that one cannot have.
    fn switchover_source(&self) -> Option<&str> {
        match &self.observed.directive {
            Some(Directive::Switchover { to: None, from, .. }) => Some(from),
            _ => None,
        }
    }

    /// The voters of this roster, and of the one before while that counts.
    ///
    /// A disk that this roster exchanged for another of the same member cannot be read any more. Whatever was acknowledged
    /// until the new one was filled is on the new one; what was acknowledged since is on someone else's, too. Where all voters
    /// have to be read, that is found without the old disk, and the new one is read in its place. Where fewer are enough, no
    /// disk is waited for: then each counts as what it is, because an old one that still runs somewhere may hold a copy.
    fn rosters(&self) -> impl Iterator<Item = Vec<&'a Entry>> {
        let now = |old: &'a Entry| {
            let same = |entry: &&Entry| entry.member == old.member && entry.id == old.id;
            self.roster.voters().find(same).filter(|_| self.reads_all()).unwrap_or(old)
        };
        let stay = |old: &&'a Entry| !self.has_left(old);
        let before = self.roster.before.as_ref().map(|before| voters(before).filter(stay).map(now).collect());
        std::iter::once(self.roster.voters().collect()).chain(before)
    }

    /// Whether this voter of the roster before went through the gate: its volume says so, and this roster is without it.
    ///
    /// The gate marks a volume only when enough of those who stay hold all that was acknowledged until it stopped, and
    /// what was acknowledged since is on those who stay: so it need not be read, and never will be. A member that
    /// this roster has again may have been started again, and may hold a copy that counts before the mark is taken away.
    fn has_left(&self, old: &Entry) -> bool {
        let back = self.roster.entries.iter().any(|it| it.member == old.member || it.volume == old.volume);
        let mut reports = self.observed.reporting();
        !back
            && reports.any(|(member, report)| {
                let gone = report.volume == old.volume && report.running().is_none();
                let read = self.observed.standing(member) == Standing::Reporting;
                gone && read && report.held().is_some_and(|held| held.left)
            })
    }

    /// Whether nobody's data may be missing.
    fn reads_all(&self) -> bool {
        let stay = |old: &&Entry| !self.has_left(old);
        let before = self.roster.before.as_ref().map_or(0, |before| voters(before).filter(stay).count());
        let copies = self.wanted.engine.copies;
        [before, self.roster.voters().count()].into_iter().all(|count| copies.read(count) == count.max(1))
    }

    /// Whether enough voters were read, in this roster and in the one before, to know every acknowledged write.
    fn read_set_complete(&self, winner: &Ballot<'a>) -> bool {
        self.rosters().all(|voters| {
            let needed = self.wanted.engine.copies.read(voters.len()).min(self.readable(&voters).len());
            self.ballots(voters.into_iter()).filter(|ballot| agrees(ballot, winner)).count() >= needed
        })
    }

    /// Those of these voters whose data may be read: all but those who threw theirs away, beside a primary that had all of it, for
    /// a copy that was cut off.
    ///
    /// What they had acknowledged is on that primary, and all that they had before; so with them go no more than as many copies of a
    /// write as they are, and who reads one voter less for each, but nobody else less, still meets one copy. Where nobody is
    /// left that says nothing.
    fn readable(&self, voters: &[&'a Entry]) -> Vec<&'a Entry> {
        let superseded = |entry: &Entry| {
            self.observed.reporting().any(|(member, report)| {
                let read = self.observed.standing(member) == Standing::Reporting;
                read && report.volume == entry.volume && report.is_superseded()
            })
        };
        let left: Vec<&'a Entry> = voters.iter().copied().filter(|entry| !superseded(entry)).collect();
        if left.is_empty() { voters.to_vec() } else { left }
    }

    /// The voters whose data was not read, or disagrees: of this roster, and of the one before while that counts.
    fn unread(&self, winner: &Ballot<'a>) -> Vec<String> {
        let mut unread = Vec::new();
        for voters in self.rosters() {
            let read: BTreeSet<&str> = self
                .ballots(voters.iter().copied())
                .filter(|ballot| agrees(ballot, winner))
                .map(|ballot| ballot.report.volume.as_str())
                .collect();
            let readable = self.readable(&voters);
            let missing = readable.into_iter().filter(|voter| !read.contains(voter.volume.as_str()));
            unread.extend(missing.map(|voter| voter.member.clone()));
        }
        unread.sort();
        unread.dedup();
        unread
    }

    /// Whether someone said to go on without a complete read set.
    fn loss_allowed(&self, ballots: &[Ballot<'a>]) -> bool {
        let asked = matches!(self.chosen(ballots), Ok(Some(_)));
        let few_enough = self.persons_count().is_some_and(|count| ballots.len() >= count);
        self.wanted.allow_loss || asked || few_enough
    }
}

/// Whether this voter's data is part of the winner's.
fn agrees(ballot: &Ballot<'_>, winner: &Ballot<'_>) -> bool {
    is_prefix(ballot.held, winner.held)
}

/// How this data relates to the primary's.
pub fn relation(held: &Held, primary: &Held) -> Relation {
    if held.history == primary.history {
        held.terms.relation(held.sequence, &primary.terms, primary.sequence)
    } else {
        Relation::Errant
    }
}

/// Whether this data is a prefix of the primary's.
pub fn is_prefix(held: &Held, primary: &Held) -> bool {
    relation(held, primary) == Relation::Prefix
}

fn blocked(by: BlockedBy, members: Vec<String>) -> Outcome {
    Outcome::Blocked(Obstacle { by, members })
}

#[cfg(test)]
mod tests;
