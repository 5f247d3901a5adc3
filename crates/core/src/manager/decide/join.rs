//! Rule 2: a primary serves. The others follow it, one at a time, and the roster is kept.

use muster_api::names::Role;

use super::super::command::{Action, Follow, Join};
use super::super::election::{is_prefix, relation};
use super::super::fencing::Standing;
use super::super::observed::{Seen, serves_as_primary};
use super::super::report::{Activity, Application, Held, Report};
use super::super::requests::Directive;
use super::super::restore;
use super::super::roster::Roster;
use super::super::stamp::Term;
use super::super::terms::Relation;
use super::scene::{Primary, Scene};
use super::upkeep::GivingUp;
use super::{ANSWER_LIMIT, Decision, Effect, Rule, leave, replace, upkeep};

/// Tends a cluster that has a serving primary.
pub(super) fn tend(scene: &Scene<'_>, primary: Primary<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Join);
    let (Some(roster), Some(term)) = (scene.roster, primary.held.terms.current()) else {
        return decision;
    };
    end_recovery(scene, primary, &mut decision);
    if give_up(scene, roster, primary, &mut decision) {
        return decision;
    }
    decision.ask |= someone_seems_ahead(scene, primary);
    upkeep::hand_out(scene, roster, &mut decision);
    decision.roster = upkeep::next_change(scene, roster, primary);
    turn_to_this_term(scene, primary, term, &mut decision);
    if decision.roster.is_none() {
        leave::leave(scene, roster, primary, &mut decision);
    }
    if decision.orders.is_empty() && decision.roster.is_none() {
        replace::beside(scene, roster, primary, &mut decision);
    }
    if decision.orders.is_empty() && decision.roster.is_none() {
        join_next(scene, roster, primary, term, &mut decision);
    }
    if decision.orders.is_empty() && decision.roster.is_none() {
        restart_for_another_primary(scene, &mut decision);
        remember_count(scene, roster, &mut decision);
    }
    decision
}

/// Fewer primaries than wanted, and everyone has joined: a secondary is stopped, and joins again as a primary.
fn restart_for_another_primary(scene: &Scene<'_>, decision: &mut Decision) {
    if primaries(scene) >= scene.wanted.primaries || scene.wanted.engine.elects || someone_is_joining(scene) {
        return;
    }
    let secondaries = scene.observed.running().filter(|(name, _, running)| {
        running.role == Role::Secondary
            && running.synced
            && scene.wanted.stays(name)
            && !scene.wanted.disabled(name)
    });
    if let Some((name, _, _)) = secondaries.min_by_key(|(name, _, _)| scene.wanted.order(name)) {
        decision.order(scene, name, Action::Stop);
    }
}

/// The cluster is whole: every agent is told the count before it is written into status.
fn remember_count(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    let Some(count) = restore::to_record(scene.observed, scene.wanted, roster) else { return };
    for (member, report) in scene.observed.reporting() {
        if report.recorded.last() != Some(&count) && roster.entry(member).is_some() {
            decision.order(scene, member, Action::Remember(count));
        }
    }
}

/// Gives up what a person said is gone. True: this is all for now.
fn give_up(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, decision: &mut Decision) -> bool {
    match upkeep::give_up(scene, roster, primary) {
        GivingUp::Change(change) => {
            decision.roster = Some(change);
            return true;
        }
        GivingUp::Waiting => decision.ask = scene.floor_is_to_be_read() || scene.someone_is_to_be_asked(),
        GivingUp::Done => decision.effects.push(Effect::RequestEnded(Ok(()))),
        GivingUp::Refused(why) => decision.effects.push(Effect::RequestEnded(Err(why))),
        GivingUp::NotAsked => {}
    }
    false
}

/// A primary serves: a recovery that a person asked for is over.
fn end_recovery(scene: &Scene<'_>, primary: Primary<'_>, decision: &mut Decision) {
    let Some(Directive::Seed { member, .. }) = &scene.observed.directive else { return };
    // Where several take writes the one that was chosen need not be the one that the others are held against.
    let serves = scene.observed.report_of(member).is_some_and(serves_as_primary);
    let ended = if member == primary.name || serves {
        Ok(())
    } else {
        Err(format!("{} serves already, {member} was not needed", primary.name))
    };
    decision.effects.push(Effect::RequestEnded(ended));
}

/// A running member that was started for an earlier primary, or that no roster names, does not follow this one. It is
/// stopped, and then goes through the same test as any other that is stopped; only where the software itself keeps both
/// in one view it takes over the term as it is.
fn turn_to_this_term(scene: &Scene<'_>, primary: Primary<'_>, term: Term, decision: &mut Decision) {
    if scene.wanted.engine.elects {
        return;
    }
    let known = |name: &str| scene.roster.is_some_and(|roster| roster.names().any(|member| member == name));
    let view = primary.report.running().and_then(|running| running.view.as_ref());
    for (name, report, running) in scene.observed.running().filter(|(name, _, _)| *name != primary.name) {
        let one_view = view.is_some() && running.view.as_ref() == view && known(name);
        let stranger = !known(name) && !serves_as_primary(report);
        if running.term == Some(term) && !stranger {
            continue;
        }
        if one_view {
            let terms = primary.held.terms.clone();
            decision.order(scene, name, Action::Follow(Follow { term, terms }));
        } else if !serves_as_primary(report) {
            decision.orders.retain(|order| order.member != name);
            decision.order(scene, name, Action::Stop);
        }
    }
}

/// Starts the stopped member that holds most, when no other is still on its way.
fn join_next(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, term: Term, decision: &mut Decision) {
    if someone_is_joining(scene) {
        return;
    }
    // Whoever is on its way out stays stopped; those whose turn comes later run until then, because their copies count.
    let leaves_now = leave::next_to_leave(scene, roster);
    let stopped = scene.observed.reporting().filter(|(name, report)| {
        report.application == Application::Stopped
            && may_start(scene, roster, name)
            && !scene.wanted.outdated(name)
            && !(scene.wanted.engine.elects && report.held().is_some_and(Held::counts))
            && (Some(*name) != leaves_now || !report.evacuated || roster.before.is_some() || scene.gives_up())
            && scene.commandable(name).is_some()
    });
    let fit: Vec<_> = stopped
        .filter_map(|(name, report)| Some((name, report, how_to_join(scene, primary, name, report)?)))
        .collect();
    wake_after_rest(scene, decision);
    let next = fit.into_iter().min_by_key(|(name, report, _)| {
        let place = report.held().map(Held::place).unwrap_or_default();
        (std::cmp::Reverse(place), scene.wanted.order(name))
    });
    if let Some((name, _, copy)) = next {
        let wanted = primaries(scene) < scene.wanted.primaries;
        let may_lead = !scene.wanted.engine.elects && !scene.wanted.disabled(name);
        let role = if wanted && may_lead { Role::Primary } else { Role::Secondary };
        let (history, terms) = (primary.held.history.clone(), primary.held.terms.clone());
        decision.order(scene, name, Action::Join(Join { role, term, history, terms, copy }));
    }
}

/// Whether this stopped member may join, and whether by a full copy. None: it is errant, or could not be read; it
/// stays as it is until a person says that it may be discarded.
fn how_to_join(scene: &Scene<'_>, primary: Primary<'_>, name: &str, report: &Report) -> Option<bool> {
    if let Some(Directive::Rejoin { member }) = &scene.observed.directive
        && member == name
    {
        let counts = scene.roster.is_some_and(|roster| upkeep::counts(roster, name));
        return (!counts).then_some(true);
    }
    let held = report.held()?;
    // What a copy was begun on has a list of terms; without one it is data that Muster never wrote.
    let unfinished_copy = !held.complete && !held.terms.entries().is_empty();
    if held.empty || unfinished_copy {
        return Some(true);
    }
    is_prefix(held, primary.held).then_some(false)
}

/// Whether a stopped member holds more than the primary did when it was last heard: while clients write that is only the older
/// news, and the primary has to be asked before anyone calls it errant.
fn someone_seems_ahead(scene: &Scene<'_>, primary: Primary<'_>) -> bool {
    let ahead = |report: &Report| {
        let held = report.held().filter(|held| held.counts() && report.application == Application::Stopped);
        held.is_some_and(|held| relation(held, primary.held) == Relation::Ahead)
    };
    scene.observed.standing(primary.name) == Standing::Stale
        && scene.observed.reporting().any(|(_, report)| ahead(report))
}

/// Looks again when a stopped member has rested.
fn wake_after_rest(scene: &Scene<'_>, decision: &mut Decision) {
    for (name, report) in scene.observed.reporting() {
        let rests =
            scene.observed.members.get(name).map(Seen::rests_until).filter(|until| *until > scene.now);
        if let Some(until) = rests.filter(|_| report.application == Application::Stopped) {
            decision.wake_at(until);
        }
    }
}

/// Whether everyone who must know of this member does: it was in the roster before this one, or this one is
/// acknowledged.
fn may_start(scene: &Scene<'_>, roster: &Roster, name: &str) -> bool {
    let known = roster.before.as_ref().is_none_or(|before| before.iter().any(|entry| entry.member == name));
    roster.entry(name).is_some() && (known || scene.acknowledged(roster))
}

pub(super) fn someone_is_joining(scene: &Scene<'_>) -> bool {
    let on_its_way = scene.observed.running().any(|(_, _, running)| {
        matches!(running.activity, Activity::Starting | Activity::Joining)
            || (running.role == Role::Secondary && !running.synced && running.activity != Activity::Failed)
    });
    // One that is not heard any more may be down for good: it does not hold up the others for longer than an answer may take.
    let may_begin = |seen: &Seen| {
        seen.unanswered_start.is_some_and(|sent| seen.connected || scene.now < sent.at + ANSWER_LIMIT)
    };
    on_its_way || scene.observed.members.values().any(may_begin)
}

fn primaries(scene: &Scene<'_>) -> usize {
    scene.observed.running().filter(|(_, _, running)| running.role == Role::Primary).count()
}
