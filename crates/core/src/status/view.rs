//! What each member does, by what the manager knows now.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use muster_api::names::Role;

use crate::manager::decide::{Decision, SPLIT_LIMIT};
use crate::manager::election::relation;
use crate::manager::fencing::Standing;
use crate::manager::observed::{Observed, Seen, serves_as_primary};
use crate::manager::report::{Activity, Application, Held, Report, Running};
use crate::manager::roster::Roster;
use crate::manager::stamp::Term;
use crate::manager::terms::Relation;
use crate::manager::wanted::Wanted;

/// What the manager sees.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// What it knows.
    pub observed: &'a Observed,
    /// What it is asked to keep.
    pub wanted: &'a Wanted,
    /// What it decided last.
    pub decision: &'a Decision,
    /// When it is.
    pub now: Timestamp,
}

/// What one member does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// It does what its role asks, in the newest term.
    Joined {
        /// Its role.
        role: Role,
        /// Whether it has all that the primary has.
        synced: bool,
    },
    /// It starts, or fetches what it lacks.
    Joining,
    /// It lives and has no quorum.
    Isolated,
    /// It runs for a primary, or in a term, that is not the newest.
    StaleTerm {
        /// Its role.
        role: Role,
    },
    /// It failed.
    Failed {
        /// How, as a clause without a subject.
        how: &'static str,
    },
    /// It is stopped, and holds something that the primary does not have.
    Errant,
    /// It is stopped.
    Stopped,
    /// Its agent cannot tell yet whether it runs.
    Undetermined,
    /// Its agent is not heard, and it is proven that it does not run.
    Fenced,
    /// Its agent is not heard.
    Silent,
}

impl Part {
    /// What it does, as a clause without a subject.
    pub fn clause(&self) -> &'static str {
        match self {
            Self::Joined { role: Role::Primary, .. } => "serves as primary",
            Self::Joined { synced: true, .. } => "follows the primary",
            Self::Joined { synced: false, .. } => "has not caught up",
            Self::Joining => "is joining",
            Self::Isolated => "runs without a quorum",
            Self::StaleTerm { .. } => "runs in a term that is not the newest",
            Self::Failed { how } => how,
            Self::Errant => "holds data that the primary does not have",
            Self::Stopped => "is stopped",
            Self::Undetermined => "cannot tell yet whether its application runs",
            Self::Fenced => "does not run",
            Self::Silent => "is not heard",
        }
    }
}

/// The primary that the others follow.
#[derive(Clone, Copy, Debug)]
pub struct Leader<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub held: &'a Held,
}

/// What everyone does, found out once.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// What the manager sees.
    pub view: View<'a>,
    /// The serving primary of the highest place.
    pub leader: Option<Leader<'a>>,
    newest_term: Option<Term>,
    parts: BTreeMap<&'a str, Part>,
    order: Vec<&'a str>,
}

impl<'a> Picture<'a> {
    /// Looks at everyone: configured, in the roster, or heard.
    pub fn new(view: View<'a>) -> Self {
        let newest_term = view.observed.running().filter_map(|(_, report, app)| term_of(report, app)).max();
        let parts = BTreeMap::new();
        let mut picture = Self { view, leader: leader(view.observed), newest_term, parts, order: Vec::new() };
        let roster = view.observed.roster().into_iter().flat_map(Roster::names);
        let configured = view.wanted.members.keys().map(String::as_str);
        let heard = view.observed.members.keys().map(String::as_str);
        let everyone: BTreeSet<&str> = configured.chain(roster).chain(heard).collect();
        picture.parts = everyone.iter().map(|name| (*name, picture.find_part(name))).collect();
        picture.order = everyone.into_iter().collect();
        picture.order.sort_by_key(|name| view.wanted.order(name));
        picture
    }

    /// What this member does; of a stranger nothing is heard.
    pub fn part(&self, member: &str) -> Part {
        self.parts.get(member).cloned().unwrap_or(Part::Silent)
    }

    fn find_part(&self, member: &str) -> Part {
        let observed = self.view.observed;
        let Some(report) = observed.report_of(member) else {
            return match observed.standing(member) {
                Standing::Fenced(_) => Part::Fenced,
                _ => Part::Silent,
            };
        };
        match &report.application {
            Application::Unknown => Part::Undetermined,
            Application::Stopped => self.part_of_stopped(member, report),
            Application::Running(running) => self.part_of_running(report, running),
        }
    }

    fn part_of_stopped(&self, member: &str, report: &Report) -> Part {
        let Some(held) = report.held() else {
            return Part::Failed { how: "is stopped, and its data could not be read" };
        };
        if self.view.observed.failed_seeds.members.contains(member) {
            return Part::Failed { how: "was started as seed and stopped again" };
        }
        let counted = held.complete && !held.empty;
        let contradicts = |leader: &Leader<'_>| counted && self.contradicts(held, leader);
        if self.leader.as_ref().is_some_and(contradicts) {
            return Part::Errant;
        }
        // Once is a crash, of which it comes back; again and again is a failure.
        let rests = |seen: &Seen| seen.rests_until() > Timestamp::MIN;
        if self.view.observed.members.get(member).is_some_and(rests) {
            return Part::Failed { how: "failed again and again before it had caught up" };
        }
        Part::Stopped
    }

    /// Whether the leader surely lacks some of this. What only came in after its last report is asked for first.
    fn contradicts(&self, held: &Held, leader: &Leader<'_>) -> bool {
        match relation(held, leader.held) {
            Relation::Prefix => false,
            Relation::Ahead => self.view.observed.standing(leader.name) == Standing::Reporting,
            Relation::Errant => true,
        }
    }

    fn part_of_running(&self, report: &Report, running: &Running) -> Part {
        match running.activity {
            Activity::Starting | Activity::Joining => Part::Joining,
            Activity::Isolated => Part::Isolated,
            Activity::Failed => Part::Failed { how: "runs, and says that it has failed" },
            Activity::Serving | Activity::Donor => {
                // Where the software elects by itself the term moves only at a seed, and starts carry none.
                let newest = self.view.wanted.engine.elects || term_of(report, running) == self.newest_term;
                let role = running.role;
                let synced = running.synced || role == Role::Primary;
                if newest { Part::Joined { role, synced } } else { Part::StaleTerm { role } }
            }
        }
    }

    /// Every member that is known of, in order.
    pub fn everyone(&self) -> Vec<&'a str> {
        self.order.clone()
    }

    /// The configured members that stay, in order.
    pub fn staying(&self) -> Vec<&'a str> {
        let mut names = self.everyone();
        names.retain(|name| self.view.wanted.stays(name));
        names
    }

    /// The configured members that stay and are enabled, in order.
    pub fn enabled(&self) -> Vec<&'a str> {
        let mut names = self.staying();
        names.retain(|name| !self.view.wanted.disabled(name));
        names
    }

    /// Those of whom this is true, in order.
    pub fn whose(&self, test: impl Fn(&Part) -> bool) -> Vec<&'a str> {
        let mut names = self.everyone();
        names.retain(|name| self.parts.get(name).is_some_and(&test));
        names
    }

    /// Those that serve as primary in the newest term.
    pub fn primaries(&self) -> Vec<&'a str> {
        self.whose(|part| matches!(part, Part::Joined { role: Role::Primary, .. }))
    }

    /// Whether anyone serves as primary in the newest term.
    pub fn has_primary(&self) -> bool {
        self.parts.values().any(|part| matches!(part, Part::Joined { role: Role::Primary, .. }))
    }

    /// How many primaries there are to be: no more than there are members.
    pub fn wanted_primaries(&self) -> usize {
        self.view.wanted.primaries.min(self.staying().len()).max(1)
    }

    /// Each of these members with what it does: "orders-a-1 is joining".
    pub fn clauses(&self, members: &[&str]) -> Vec<String> {
        members.iter().map(|name| format!("{name} {}", self.part(name).clause())).collect()
    }

    /// Whether primaries on different sides have been seen for longer than a change of hands takes.
    pub fn is_torn(&self) -> bool {
        let since = self.view.observed.split_since;
        let certain = since.is_some_and(|since| self.view.now.duration_since(since) >= SPLIT_LIMIT);
        let primaries = self.view.observed.running().filter(|(_, _, running)| {
            running.role == Role::Primary
                && !matches!(running.activity, Activity::Isolated | Activity::Joining)
        });
        let sides: BTreeSet<&str> =
            primaries.map(|(name, _, running)| running.view.as_deref().unwrap_or(name)).collect();
        certain && sides.len() > 1
    }

    /// Whether those who take part see one and the same view.
    pub fn one_view(&self) -> bool {
        let joined = |name: &str| matches!(self.parts.get(name), Some(Part::Joined { .. }));
        let running = self.view.observed.running().filter(|(name, _, _)| joined(name));
        let views: BTreeSet<&str> = running.filter_map(|(_, _, app)| app.view.as_deref()).collect();
        views.len() <= 1
    }
}

/// The serving primary of the highest place.
fn leader(observed: &Observed) -> Option<Leader<'_>> {
    let serving = observed.reporting().filter(|(_, report)| serves_as_primary(report));
    let leaders = serving.filter_map(|(name, report)| Some(Leader { name, held: report.held()? }));
    leaders.max_by_key(|leader| (leader.held.terms.current(), leader.held.sequence))
}

fn term_of(report: &Report, running: &Running) -> Option<Term> {
    running.term.or_else(|| report.held()?.terms.current())
}
