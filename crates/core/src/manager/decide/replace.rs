//! Members whose Pod does not run what its workload says: they stop, one at a time and the primary last, and then their
//! Pod may go.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::observed::serves_as_primary;
use super::super::report::{Application, Report, Running};
use super::super::roster::Roster;
use super::scene::{Primary, Scene};
use super::{Decision, Effect, join, leave};

/// Replaces one member beside a serving primary: who is stopped already, then a secondary, then the primary, which hands
/// over first where it can. Nobody is disturbed while anyone else has not caught up.
pub(super) fn beside(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, decision: &mut Decision) {
    if replace_stopped(scene, decision) || someone_is_being_replaced(scene, roster) {
        return;
    }
    let outdated = scene.observed.running().filter(|(name, _, _)| scene.wanted.outdated(name));
    let next = outdated.min_by_key(|(name, report, running)| {
        (serves_as_primary(report), running.synced, std::cmp::Reverse(scene.wanted.order(name)))
    });
    let Some((name, report, running)) = next else { return };
    // Whoever lags gives nothing up by stopping; anyone else only when all the others are whole.
    let lags = running.role == Role::Secondary && !running.synced;
    if !lags && !others_are_whole(scene, roster, name) {
        return;
    }
    let others_serve =
        scene.observed.reporting().any(|(other, said)| other != name && serves_as_primary(said));
    let alone = roster.entries.len() <= 1;
    if serves_as_primary(report) && !others_serve && !alone && !scene.wanted.engine.elects {
        leave::hand_over(scene, roster, primary, None, decision);
    } else {
        decision.order(scene, name, Action::Stop);
    }
}

/// Where no primary serves and nothing can be done about it now, whoever is stopped may be replaced: what is new may be
/// what helps. Where something can be done, that comes first; except that a member alone, which could not hand over and
/// so was stopped to be replaced, is not started before.
pub(super) fn where_nothing_serves(scene: &Scene<'_>, decision: &mut Decision) {
    if scene.wanted.parked || scene.observed.reporting().any(|(_, report)| serves_as_primary(report)) {
        return;
    }
    let stuck = decision.blocked.is_some() || decision.no_seed.is_some();
    let idle = decision.orders.is_empty() && decision.roster.is_none();
    let alone = scene.roster.is_some_and(|roster| roster.entries.len() <= 1);
    let nothing_runs = scene.observed.running().next().is_none();
    if ((stuck && idle) || (alone && nothing_runs)) && replace_stopped(scene, decision) {
        decision.orders.clear();
        decision.roster = None;
    }
}

/// Lets the Pods go whose agent says that its application is stopped. True: there are such.
pub(super) fn replace_stopped(scene: &Scene<'_>, decision: &mut Decision) -> bool {
    let stopped = |report: &Report| report.application == Application::Stopped;
    let idle = |name: &str| {
        let owes = |seen: &super::super::observed::Seen| seen.unanswered_start.is_some();
        !scene.observed.members.get(name).is_some_and(owes)
    };
    let gone: Vec<&str> = scene
        .observed
        .reporting()
        .filter(|(name, report)| scene.wanted.outdated(name) && stopped(report) && idle(name))
        .map(|(name, _)| name)
        .collect();
    decision.effects.extend(gone.iter().map(|name| Effect::Replace((*name).to_owned())));
    !gone.is_empty()
}

/// Whether a member of the roster is not heard: it may be the one that is being replaced.
fn someone_is_being_replaced(scene: &Scene<'_>, roster: &Roster) -> bool {
    let expected = roster.entries.iter().filter(|entry| scene.wanted.stays(&entry.member));
    let mut enabled = expected.filter(|entry| !scene.wanted.disabled(&entry.member));
    enabled.any(|entry| scene.observed.report_of(&entry.member).is_none())
}

/// Whether everyone else that takes part runs, follows, and is whole.
fn others_are_whole(scene: &Scene<'_>, roster: &Roster, name: &str) -> bool {
    let whole = |member: &str| {
        let report = scene.observed.report_of(member);
        let follows = |running: &Running| running.role == Role::Secondary && running.synced;
        // One of several primaries may run and serve nobody, because it lost the others.
        report.is_some_and(|report| serves_as_primary(report) || report.running().is_some_and(follows))
    };
    let others = roster.entries.iter().map(|entry| entry.member.as_str());
    let mut enabled = others.filter(|other| *other != name && !scene.wanted.disabled(other));
    !join::someone_is_joining(scene) && roster.before.is_none() && enabled.all(whole)
}
