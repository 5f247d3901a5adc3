//! What the rules look at: the observations, the wishes, and the questions that several rules ask.

use jiff::Timestamp;
use muster_api::names::Role;

use super::super::fencing::Standing;
use super::super::observed::{Observed, serves_as_primary};
use super::super::report::{Activity, Application, Held, Report, Running};
use super::super::requests::Directive;
use super::super::roster::{Entry, Roster, voters};
use super::super::wanted::Wanted;
use super::ANSWER_LIMIT;

/// One moment, as the rules see it.
pub(super) struct Scene<'a> {
    pub(super) observed: &'a Observed,
    pub(super) wanted: &'a Wanted,
    pub(super) now: Timestamp,
    /// The newest roster that anyone names.
    pub(super) roster: Option<&'a Roster>,
}

/// The primary that the others follow.
#[derive(Clone, Copy)]
pub(super) struct Primary<'a> {
    pub(super) name: &'a str,
    pub(super) report: &'a Report,
    pub(super) held: &'a Held,
}

impl<'a> Scene<'a> {
    pub(super) fn new(observed: &'a Observed, wanted: &'a Wanted, now: Timestamp) -> Self {
        Self { observed, wanted, now, roster: observed.roster() }
    }

    /// The serving primary of the highest place, rather one that stays than one that leaves.
    pub(super) fn serving(&self) -> Option<Primary<'a>> {
        let known = |name: &str| self.roster.is_none_or(|roster| roster.names().any(|member| member == name));
        let serving =
            self.observed.reporting().filter(|(name, report)| serves_as_primary(report) && known(name));
        let primaries =
            serving.filter_map(|(name, report)| Some(Primary { name, report, held: report.held()? }));
        primaries.max_by_key(|primary| {
            let stays = self.wanted.stays(primary.name);
            (primary.held.terms.current(), stays, primary.held.sequence)
        })
    }

    /// Those that run as primary, though they do not serve yet, or cannot say what they hold.
    pub(super) fn primaries_that_run(&self) -> impl Iterator<Item = &'a str> {
        let primary =
            |running: &Running| running.role == Role::Primary && running.activity != Activity::Isolated;
        self.observed.running().filter(move |(_, _, running)| primary(running)).map(|(name, _, _)| name)
    }

    /// Whether there is, or may be, data of this cluster. Unreadable is not nothing.
    pub(super) fn data_exists(&self) -> bool {
        self.observed.reporting().any(|(_, report)| !report.is_empty())
    }

    /// The report of a member that can be sent a command now: it is heard, owes no answer, or has owed one for
    /// too long, and does not rest after a failure. One that owes the answer to a start is sent nothing but a stop.
    pub(super) fn commandable(&self, member: &str) -> Option<&'a Report> {
        let rested = self.observed.members.get(member)?.rests_until() <= self.now;
        self.stoppable(member).filter(|_| rested)
    }

    /// The same for a stop, which needs no rest.
    pub(super) fn stoppable(&self, member: &str) -> Option<&'a Report> {
        let report = self.observed.report_of(member)?;
        let seen = self.observed.members.get(member)?;
        let free = seen.unanswered_start.is_none()
            && seen.pending.is_none_or(|pending| pending.at + ANSWER_LIMIT <= self.now);
        (free && report.application != Application::Unknown).then_some(report)
    }

    /// Whether asking would tell something: someone was read before the last change, or a proof has to be looked at
    /// again.
    pub(super) fn someone_is_to_be_asked(&self) -> bool {
        let known = self.roster.into_iter().flat_map(Roster::names);
        let configured = self.wanted.members.keys().map(String::as_str);
        known.chain(configured).any(|name| {
            matches!(
                self.observed.standing(name),
                Standing::Stale
                    | Standing::Undetermined
                    | Standing::Unanswered
                    | Standing::Silent { expired: true }
            )
        })
    }

    /// Whether a person said that data is gone, and it is being given up.
    pub(super) fn gives_up(&self) -> bool {
        matches!(self.observed.directive, Some(Directive::Forget { .. } | Directive::Rejoin { .. }))
    }

    /// Whether what the primary holds has not been read since the last change.
    pub(super) fn floor_is_to_be_read(&self) -> bool {
        self.observed.floor.is_none_or(|floor| floor.round != self.observed.round)
    }

    /// Whether the newest roster has reached everyone it must: all that report, enough voters of the one before, and
    /// every primary's application.
    pub(super) fn acknowledged(&self, roster: &Roster) -> bool {
        let told = |report: &Report| report.roster.as_ref().is_some_and(|own| own.is_at_least(roster));
        let ours = |report: &Report| report.roster.as_ref().is_none_or(|own| own.lineage == roster.lineage);
        let mut reporting = self.observed.reporting().filter(|(_, report)| ours(report));
        let everyone = reporting.all(|(_, report)| told(report) && Self::in_use(report, roster));
        let before = roster.before.as_deref().unwrap_or(&roster.entries);
        let knows = |voter: &&Entry| {
            self.observed.reporting().any(|(_, report)| report.volume == voter.volume && told(report))
        };
        let old_voters = voters(before).filter(knows).count();
        everyone && old_voters >= self.wanted.engine.copies.told(voters(before).count())
    }

    /// Whether a primary counts copies by this roster; others have nothing to count.
    pub(super) fn in_use(report: &Report, roster: &Roster) -> bool {
        report.running().is_none_or(|running| {
            running.role != Role::Primary || running.roster.is_some_and(|used| used >= roster.version)
        })
    }
}
