//! The removal gate: the one way by which a member leaves a cluster that goes on without it.

use super::election::is_prefix;
use super::observed::Observed;
use super::report::{Application, Report};
use super::roster::{Copies, Entry, Roster};
use super::wanted::Engine;

/// How far a leaving member has come, and what is next. The steps cannot be taken in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is the primary: another one takes over first.
    SwitchOver,
    /// Only it holds the data, or nobody else could take over: it stays.
    LastHolder,
    /// Its agent is not heard. A dead member goes by `kubectl muster forget` only.
    Unheard,
    /// Its data has to be evacuated by the engine's `leave`.
    Leave,
    /// Its application has to be stopped, confirmed.
    Stop,
    /// The others have to reach what the primary held after that stop.
    AwaitCopies,
    /// Its agent has to mark the volume.
    MarkLeft,
    /// It has to be taken out of the roster.
    ShrinkRoster,
    /// The roster without it has to be acknowledged.
    AwaitRoster,
    /// Its Pod may go, then what `retention` says.
    Release,
}

/// What the next step is for a member that is to leave while `primary` serves.
pub fn next_step(
    observed: &Observed,
    roster: &Roster,
    engine: &Engine,
    member: &str,
    (primary, primary_report): (&str, &Report),
) -> Step {
    let Some(report) = observed.report_of(member) else { return Step::Unheard };
    if roster.names().all(|name| name != member) {
        return if report.application == Application::Stopped { Step::Release } else { Step::Stop };
    }
    if roster.entry(member).is_none() {
        return Step::AwaitRoster;
    }
    if member == primary && !engine.elects {
        return if others_could_take_over(observed, roster, member) {
            Step::SwitchOver
        } else {
            Step::LastHolder
        };
    }
    if !report.evacuated {
        return Step::Leave;
    }
    if report.application != Application::Stopped {
        return Step::Stop;
    }
    if !copies_kept(observed, roster, engine.copies, member, primary_report) {
        return Step::AwaitCopies;
    }
    if report.held().is_some_and(|held| !held.left && !held.empty) {
        return Step::MarkLeft;
    }
    Step::ShrinkRoster
}

/// Whether enough of the remaining voters hold all that the primary held after the leaving member had stopped.
fn copies_kept(
    observed: &Observed,
    roster: &Roster,
    copies: Copies,
    leaving: &str,
    primary: &Report,
) -> bool {
    let Some(floor) = observed.floor.filter(|floor| floor.round == observed.round) else { return false };
    let remaining: Vec<&Entry> = roster.voters().filter(|voter| voter.member != leaving).collect();
    hold_enough(observed, &remaining, copies, floor.sequence, primary)
}

/// Whether enough of these voters hold all that the primary held when it was at `floor`: so many that every read set
/// among them contains one.
pub fn hold_enough(
    observed: &Observed,
    voters: &[&Entry],
    copies: Copies,
    floor: u64,
    primary: &Report,
) -> bool {
    let Some(source) = primary.held() else { return false };
    let holding = voters.iter().filter(|voter| {
        let report = observed.report_of(&voter.member).filter(|report| report.volume == voter.volume);
        report
            .and_then(Report::held)
            .is_some_and(|held| held.counts() && held.sequence >= floor && is_prefix(held, source))
    });
    !voters.is_empty() && holding.count() >= copies.kept(voters.len())
}

/// Whether another voter runs that could be promoted in its stead.
fn others_could_take_over(observed: &Observed, roster: &Roster, member: &str) -> bool {
    roster.voters().filter(|voter| voter.member != member).any(|voter| {
        let report = observed.report_of(&voter.member);
        report.is_some_and(|report| {
            report.volume == voter.volume && report.running().is_some_and(|running| running.synced)
        })
    })
}

#[cfg(test)]
mod tests;
