//! Planned departures while a primary serves: members through the removal gate, the primary by a switchover.

use jiff::{SignedDuration, Timestamp};
use muster_api::names::Role;

use super::super::command::Action;
use super::super::election::{Outcome, elect};
use super::super::observed::{Observed, serves_as_primary};
use super::super::removal::{Step, next_step};
use super::super::report::{Application, Held, Report};
use super::super::requests::Directive;
use super::super::roster::Roster;
use super::scene::{Primary, Scene};
use super::{Decision, Effect};

/// How long to wait before a failed `leave` is asked for again.
pub(super) const LEAVE_PAUSE: SignedDuration = SignedDuration::from_mins(1);

/// Takes the next step of the one member that leaves, and of a switchover that was asked for.
pub(super) fn leave(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, decision: &mut Decision) {
    if let Some(Directive::Switchover { to, from, deadline }) = &scene.observed.directive {
        if let Some(ended) = switchover_ended(scene, primary, to.as_deref(), from, *deadline) {
            decision.effects.push(Effect::RequestEnded(ended));
        } else {
            decision.wake_at(*deadline);
            hand_over(scene, roster, primary, to.as_deref(), decision);
        }
        return;
    }
    release_strangers(scene, roster, decision);
    if scene.gives_up() {
        // Who would leave may be needed to keep what the others give up.
        return;
    }
    if let Some(member) = next_to_leave(scene, roster) {
        if roster.before.is_some() && roster.entry(member).is_some() {
            // Its copies may be needed to carry over what the roster before acknowledged.
            return;
        }
        take_step(scene, roster, primary, member, decision);
    }
}

/// What became of a switchover that was asked for; none while it is under way.
fn switchover_ended(
    scene: &Scene<'_>,
    primary: Primary<'_>,
    to: Option<&str>,
    from: &str,
    deadline: Timestamp,
) -> Option<Result<(), String>> {
    let serves = |name: &str| scene.observed.report_of(name).is_some_and(serves_as_primary);
    if scene.wanted.engine.elects {
        return Some(Err("this software elects its primary by itself".to_owned()));
    }
    if !serves(from) {
        let instead = || format!("{} was promoted instead: it held more", primary.name);
        return Some(if to.is_none_or(serves) { Ok(()) } else { Err(instead()) });
    }
    // Where several take writes nobody has to catch up to do so, too.
    if let Some(to) = to.filter(|to| serves(to)) {
        return Some(Err(format!("{to} is a primary already")));
    }
    let mut others = scene.wanted.members.keys().filter(|name| *name != from && scene.wanted.stays(name));
    if to.is_none() && others.all(|name| serves(name)) {
        return Some(Err("every member is a primary already".to_owned()));
    }
    let target = to.map_or_else(|| "no secondary".to_owned(), |to| format!("{to} had not"));
    let late = if to.is_some() { "caught up in time" } else { "had caught up in time" };
    (scene.now >= deadline).then(|| Err(format!("{target} {late}, {from} stays")))
}

/// The one member that leaves now: who is on the way out already, then the last in order.
pub(super) fn next_to_leave<'a>(scene: &Scene<'a>, roster: &'a Roster) -> Option<&'a str> {
    let leaving = roster.names().filter(|name| !scene.wanted.stays(name));
    let begun = |name: &str| scene.observed.report_of(name).is_some_and(|report| report.evacuated);
    let heard = leaving.filter(|name| scene.observed.report_of(name).is_some());
    heard.max_by_key(|name| (roster.entry(name).is_none(), begun(name), scene.wanted.order(name)))
}

/// Members that are to go and that no roster names: they never took part, or were given up. One that was never heard
/// has nothing to say; one that holds data which could be elected elsewhere is marked first.
fn release_strangers(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    let strangers = scene.wanted.members.iter().filter(|(_, member)| member.leaving);
    for (name, _) in strangers.filter(|(name, _)| roster.names().all(|known| known != name.as_str())) {
        let report = scene.observed.report_of(name);
        let holds = report.and_then(Report::held).is_some_and(Held::counts);
        match report.map(|report| &report.application) {
            Some(Application::Running(_)) => decision.order(scene, name, Action::Stop),
            Some(Application::Unknown) => {}
            Some(Application::Stopped) if holds => decision.order(scene, name, Action::MarkLeft),
            Some(Application::Stopped) | None => {
                if scene.acknowledged(roster) {
                    decision.effects.push(Effect::Release(name.clone()));
                }
            }
        }
    }
}

fn take_step(
    scene: &Scene<'_>,
    roster: &Roster,
    primary: Primary<'_>,
    member: &str,
    decision: &mut Decision,
) {
    let engine = &scene.wanted.engine;
    match next_step(scene.observed, roster, engine, member, (primary.name, primary.report)) {
        Step::SwitchOver => hand_over(scene, roster, primary, None, decision),
        Step::Leave => order_leave(scene, member, decision),
        Step::Stop => decision.order(scene, member, Action::Stop),
        Step::AwaitCopies => decision.ask = scene.floor_is_to_be_read(),
        Step::MarkLeft => decision.order(scene, member, Action::MarkLeft),
        Step::ShrinkRoster if scene.acknowledged(roster) && roster.before.is_none() => {
            decision.roster = Some(roster.without(member));
        }
        Step::Release | Step::ShrinkRoster | Step::AwaitRoster | Step::LastHolder | Step::Unheard => {}
    }
}

/// Asks the engine to evacuate the member, again after a pause where it failed.
fn order_leave(scene: &Scene<'_>, member: &str, decision: &mut Decision) {
    let failed = scene.observed.members.get(member).and_then(|seen| seen.leave_failed);
    let Some(failed) = failed else { return decision.order(scene, member, Action::Leave) };
    decision.effects.push(Effect::LeaveFailed(member.to_owned()));
    let again = failed + LEAVE_PAUSE;
    if scene.now >= again {
        decision.order(scene, member, Action::Leave);
    } else {
        decision.wake_at(again);
    }
}

/// Demotes the primary, once it is certain that another can be promoted after it: everyone is accounted for, the read
/// set is complete, and the target has caught up.
pub(super) fn hand_over(
    scene: &Scene<'_>,
    roster: &Roster,
    primary: Primary<'_>,
    to: Option<&str>,
    decision: &mut Decision,
) {
    match elect(scene.observed, scene.wanted, roster, scene.now, true) {
        Outcome::Elected(winner) if winner.without.is_empty() => {}
        Outcome::Waiting(_) => {
            decision.ask = true;
            return;
        }
        Outcome::Elected(_) | Outcome::Blocked(_) | Outcome::NoSeed(_) | Outcome::Unfit(_) => return,
    }
    // By volume, as in an election: data on an exchanged disk is not what was counted.
    let votes = |name: &str| {
        let volume = scene.observed.report_of(name).map(|report| report.volume.as_str());
        roster.entry(name).is_some_and(|entry| entry.voter && Some(entry.volume.as_str()) == volume)
    };
    let caught_up = |name: &str| votes(name) && follows(scene.observed, name, primary.report);
    let able = |name: &str| scene.wanted.stays(name) && !scene.wanted.disabled(name);
    let target = match to {
        Some(to) => Some(to).filter(|to| caught_up(to) && able(to)),
        None => roster
            .voters()
            .map(|voter| voter.member.as_str())
            .find(|name| *name != primary.name && caught_up(name) && able(name)),
    };
    if target.is_some() {
        let action = if scene.wanted.engine.demotes { Action::Demote } else { Action::Stop };
        decision.order(scene, primary.name, action);
    }
}

/// Whether this member runs as a secondary and holds all that the primary was last seen to hold.
fn follows(observed: &Observed, name: &str, primary: &Report) -> bool {
    let Some(report) = observed.report_of(name) else { return false };
    let term = primary.held().and_then(|held| held.terms.current());
    let running = report
        .running()
        .is_some_and(|running| running.role == Role::Secondary && running.synced && running.term == term);
    let sequence = |report: &Report| report.held().map(|held| held.sequence);
    running && sequence(report) >= sequence(primary)
}
