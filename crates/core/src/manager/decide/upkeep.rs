//! Keeping the roster: handing it out, counting members in once they are complete, adding and dropping them.

use super::super::command::Action;
use super::super::report::{Application, Report};
use super::super::requests::Directive;
use super::super::roster::{Change, Roster};
use super::Decision;
use super::scene::{Primary, Scene};

/// Hands the newest roster to everyone who does not use it yet.
pub(super) fn hand_out(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    for (member, report) in scene.observed.reporting() {
        let kept = report.roster.as_ref().is_some_and(|own| own.version >= roster.version);
        if !kept || !scene.in_use(report, roster) {
            decision.order(scene, member, Action::TakeRoster);
        }
    }
}

/// The next change of an acknowledged roster while a primary serves: one at a time.
pub(super) fn next_change(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    if !scene.acknowledged(roster) {
        return None;
    }
    if roster.before.is_some() {
        return Some(roster.settled());
    }
    new_voter(scene, roster, primary).or_else(|| new_member(scene, roster))
}

/// A member that has all the primary has, on a volume that does not vote yet: its copies count from now on. The
/// volume it had before, if any, stops counting with the same change.
fn new_voter(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    let term = primary.held.terms.current();
    scene.observed.running().find_map(|(member, report, running)| {
        let entry = roster.entry(member)?;
        let votes = entry.voter && entry.volume == report.volume;
        let whole = report.held().is_some_and(|held| held.counts()) && running.synced && running.term == term;
        (!votes && whole).then(|| roster.with_vote(member, &report.volume, true))
    })
}

/// A configured member that is not in the roster, heard, and not running.
fn new_member(scene: &Scene<'_>, roster: &Roster) -> Option<Change> {
    let strangers = scene.wanted.members.keys().filter(|name| scene.wanted.stays(name));
    let heard = strangers.filter(|name| roster.entry(name).is_none()).filter_map(|name| {
        let report = scene.observed.report_of(name)?;
        (report.application == Application::Stopped).then_some((name, report))
    });
    let first: Option<(&String, &Report)> = heard.min_by_key(|(name, _)| scene.wanted.order(name));
    first.map(|(name, report)| roster.adding(name, &report.volume))
}

/// A person said that a member's data is gone. Either the member is dead: then it must be certain that it does not
/// run. Or it reports from another volume than the roster knows: then the vote of the lost volume is given up.
pub(super) fn forget(scene: &Scene<'_>, roster: &Roster) -> Option<Result<Change, String>> {
    let Some(Directive::Forget { member }) = &scene.observed.directive else { return None };
    let known = [Some(&roster.entries), roster.before.as_ref()];
    let volumes: Vec<&str> = known
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.member == *member)
        .map(|entry| entry.volume.as_str())
        .collect();
    if volumes.is_empty() {
        return None;
    }
    let report = scene.observed.report_of(member);
    if let Some(report) = report.filter(|report| !volumes.contains(&report.volume.as_str())) {
        let given_up = roster.with_vote(member, &report.volume, false);
        return Some(last_holder_stays(roster, member).map(|()| Change { before: None, ..given_up }));
    }
    if report.is_some_and(|report| report.application != Application::Stopped) {
        return Some(Err(format!("{member} runs: disable or delete it instead")));
    }
    if !scene.observed.standing(member).accounted() {
        let fence = format!("kubectl muster fence {} {member}", scene.wanted.cluster);
        return Some(Err(format!("nothing proves that {member} does not run: {fence}")));
    }
    Some(last_holder_stays(roster, member).map(|()| Change { before: None, ..roster.without(member) }))
}

fn last_holder_stays(roster: &Roster, member: &str) -> Result<(), String> {
    if roster.voters().any(|voter| voter.member != member) {
        return Ok(());
    }
    Err(format!("{member} is the last whose copies count"))
}
