//! Keeping the roster: handing it out, counting members in once they are complete, adding and dropping them.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::removal::hold_enough;
use super::super::report::{Application, Held, Report};
use super::super::requests::Directive;
use super::super::roster::{Change, Entry, Roster};
use super::Decision;
use super::scene::{Primary, Scene};

/// Hands the newest roster to everyone who does not use it yet: to a primary only when it may count by it.
pub(super) fn hand_out(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    for (member, report) in scene.observed.reporting() {
        let kept = report.roster.as_ref().is_some_and(|own| own.version >= roster.version);
        let primary = report.running().is_some_and(|running| running.role == Role::Primary);
        let wanted = if primary { may_count_by(scene, roster, member) } else { true };
        if wanted && !(kept && Scene::in_use(report, roster)) {
            decision.order(scene, member, Action::TakeRoster);
        }
    }
}

/// Whether `member`, as primary, may count copies by this roster: enough voters of the one before know it, so that
/// nobody can complete a read set of theirs and not learn of it. The member itself keeps it before it counts.
pub(super) fn may_count_by(scene: &Scene<'_>, roster: &Roster, member: &str) -> bool {
    untold(scene, roster, member).is_empty()
}

/// The voters of the roster before that would have to learn of this one first.
pub(super) fn untold<'r>(scene: &Scene<'_>, roster: &'r Roster, member: &str) -> Vec<&'r Entry> {
    let Some(before) = roster.voters_before() else { return Vec::new() };
    let knows = |voter: &&Entry| {
        scene.observed.reporting().any(|(name, report)| {
            let kept = report.roster.as_ref().is_some_and(|own| own.version >= roster.version);
            report.volume == voter.volume && (kept || name == member)
        })
    };
    let (told, untold): (Vec<&Entry>, Vec<&Entry>) = before.iter().copied().partition(knows);
    let enough = told.len() >= scene.wanted.engine.copies.told(before.len());
    if enough { Vec::new() } else { untold }
}

/// The next change of an acknowledged roster while a primary serves: one at a time.
pub(super) fn next_change(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    if !scene.acknowledged(roster) {
        return None;
    }
    if roster.before.is_some() {
        return copies_carried_over(scene, roster, primary).then(|| roster.settled());
    }
    new_voter(scene, roster, primary).or_else(|| new_member(scene, roster))
}

/// Whether what was acknowledged by the roster before has enough copies for this one. Where the voters changed, a
/// write that had all the copies asked for then may have too few now: the roster before is read too until enough of
/// these voters hold all that the primary held when it began to count by this roster.
fn copies_carried_over(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> bool {
    if roster.voters_before().is_none() {
        return true;
    }
    let floor = scene
        .observed
        .roster_floor
        .filter(|floor| floor.version >= roster.version && floor.term == primary.held.terms.current());
    let counted: Vec<&Entry> = roster.voters().collect();
    let copies = scene.wanted.engine.copies;
    floor.is_some_and(|floor| hold_enough(scene.observed, &counted, copies, floor.sequence, primary.report))
}

/// A member that has all the primary has, on a volume that does not vote yet: its copies count from now on. The
/// volume it had before, if any, stops counting with the same change.
fn new_voter(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    let term = primary.held.terms.current();
    scene.observed.running().find_map(|(member, report, running)| {
        let entry = roster.entry(member)?;
        let votes = entry.voter && entry.volume == report.volume;
        let whole = report.held().is_some_and(Held::counts) && running.synced && running.term == term;
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
    if let Some(report) = report.filter(|report| volumes.iter().any(|volume| *volume != report.volume)) {
        let present = roster.entry(member).is_some_and(|entry| entry.volume == report.volume);
        let given_up =
            if present { roster.settled() } else { roster.with_vote(member, &report.volume, false) };
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

/// A person said that what a member holds may be discarded: its vote goes first, then its data. `None`: nothing of it
/// counts any more, it can be copied anew.
pub(super) fn give_up_before_rejoin(scene: &Scene<'_>, roster: &Roster) -> Option<Result<Change, String>> {
    let Some(Directive::Rejoin { member }) = &scene.observed.directive else { return None };
    let Some(report) = scene.observed.report_of(member) else {
        return Some(Err(format!("the agent of {member} is not heard")));
    };
    if !scene.wanted.stays(member) {
        return Some(Err(format!("{member} is leaving")));
    }
    let counted = [Some(&roster.entries), roster.before.as_ref()].into_iter().flatten().flatten();
    let mut votes = counted.filter(|entry| entry.voter && entry.member == *member);
    if report.application != Application::Stopped || votes.next().is_none() {
        return None;
    }
    let given_up = roster.with_vote(member, &report.volume, false);
    Some(last_holder_stays(roster, member).map(|()| Change { before: None, ..given_up }))
}

fn last_holder_stays(roster: &Roster, member: &str) -> Result<(), String> {
    if roster.voters().any(|voter| voter.member != member) {
        return Ok(());
    }
    Err(format!("{member} is the last whose copies count"))
}
