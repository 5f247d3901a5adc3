//! Rule 2: a primary serves. The others follow it, one at a time, and the roster is kept.

use jiff::Timestamp;
use muster_api::names::Role;

use super::super::command::{Action, Join};
use super::super::election::is_prefix;
use super::super::observed::{Seen, serves_as_primary};
use super::super::report::{Activity, Application, Held, Report};
use super::super::requests::Directive;
use super::super::restore;
use super::super::roster::Roster;
use super::super::stamp::Term;
use super::recover::apply_forget;
use super::scene::{Primary, Scene};
use super::{Decision, Effect, Rule, leave, upkeep};

/// Tends a cluster that has a serving primary.
pub(super) fn tend(scene: &Scene<'_>, primary: Primary<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Join);
    let (Some(roster), Some(term)) = (scene.roster, primary.held.terms.current()) else {
        return decision;
    };
    end_requests(scene, primary, &mut decision);
    if apply_forget(scene, roster, &mut decision) {
        return decision;
    }
    match upkeep::give_up_before_rejoin(scene, roster) {
        Some(Ok(change)) => {
            decision.roster = Some(change);
            return decision;
        }
        Some(Err(why)) => decision.effects.push(Effect::RequestEnded(Err(why))),
        None => {}
    }
    upkeep::hand_out(scene, roster, &mut decision);
    decision.roster = upkeep::next_change(scene, roster, primary);
    stop_followers_of_older_terms(scene, primary, term, &mut decision);
    if decision.roster.is_none() {
        leave::leave(scene, roster, primary, &mut decision);
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
    if primaries(scene) >= scene.wanted.primaries || scene.wanted.engine.elects {
        return;
    }
    let secondaries = scene.observed.running().filter(|(name, _, running)| {
        running.role == Role::Secondary && running.synced && !scene.wanted.disabled(name)
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

/// A primary serves: a recovery that a person asked for is over.
fn end_requests(scene: &Scene<'_>, primary: Primary<'_>, decision: &mut Decision) {
    let ended = match &scene.observed.directive {
        Some(Directive::Seed { member, .. }) if member == primary.name => Some(Ok(())),
        Some(Directive::Seed { member, .. }) => {
            Some(Err(format!("{} serves already, {member} was not needed", primary.name)))
        }
        Some(Directive::Rejoin { member }) => {
            let running = scene.observed.report_of(member).and_then(Report::running);
            running.filter(|running| running.term == primary.held.terms.current()).map(|_| Ok(()))
        }
        Some(Directive::Switchover { .. } | Directive::Forget { .. }) | None => None,
    };
    decision.effects.extend(ended.map(Effect::RequestEnded));
}

/// A running secondary that was started for an earlier primary, or that no roster names, does not follow this one: it
/// is stopped, and then goes through the same test as any other that is stopped.
fn stop_followers_of_older_terms(
    scene: &Scene<'_>,
    primary: Primary<'_>,
    term: Term,
    decision: &mut Decision,
) {
    let known = |name: &str| scene.roster.is_some_and(|roster| roster.names().any(|member| member == name));
    let stale = scene.observed.running().filter(|(name, report, running)| {
        let stranger = !known(name);
        *name != primary.name && !serves_as_primary(report) && (stranger || running.term != Some(term))
    });
    for (member, _, _) in stale {
        decision.orders.retain(|order| order.member != member);
        decision.order(scene, member, Action::Stop);
    }
}

/// Starts the stopped member that holds most, when no other is still on its way.
fn join_next(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, term: Term, decision: &mut Decision) {
    if someone_is_joining(scene) {
        return;
    }
    let stopped = scene.observed.reporting().filter(|(name, report)| {
        report.application == Application::Stopped
            && may_start(scene, roster, name)
            && !(scene.wanted.engine.elects && report.held().is_some_and(Held::counts))
            && (scene.wanted.stays(name) || !report.evacuated || roster.before.is_some())
            && scene.commandable(name).is_some()
    });
    let rested = stopped.filter(|(name, _)| {
        let at = scene.observed.members.get(*name).map_or(Timestamp::MIN, Seen::startable_at);
        if scene.now < at {
            decision.wake_at(at);
        }
        scene.now >= at
    });
    let fit: Vec<_> = rested
        .filter_map(|(name, report)| Some((name, report, how_to_join(scene, primary, name, report)?)))
        .collect();
    let next = fit.into_iter().min_by_key(|(name, report, _)| {
        let place = report.held().map(Held::place).unwrap_or_default();
        (std::cmp::Reverse(place), scene.wanted.order(name))
    });
    if let Some((name, _, copy)) = next {
        let role = if primaries(scene) < scene.wanted.primaries { Role::Primary } else { Role::Secondary };
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
        return Some(true);
    }
    let held = report.held()?;
    if held.empty || !held.complete {
        return Some(true);
    }
    is_prefix(held, primary.held).then_some(false)
}

/// Whether everyone who must know of this member does: it was in the roster before this one, or this one is
/// acknowledged.
fn may_start(scene: &Scene<'_>, roster: &Roster, name: &str) -> bool {
    let known = roster.before.as_ref().is_none_or(|before| before.iter().any(|entry| entry.member == name));
    roster.entry(name).is_some() && (known || scene.acknowledged(roster))
}

fn someone_is_joining(scene: &Scene<'_>) -> bool {
    let on_its_way = scene.observed.running().any(|(_, _, running)| {
        matches!(running.activity, Activity::Starting | Activity::Joining)
            || (running.role == Role::Secondary && !running.synced && running.activity != Activity::Failed)
    });
    on_its_way || scene.observed.members.values().any(|seen| seen.unanswered_start.is_some())
}

fn primaries(scene: &Scene<'_>) -> usize {
    scene.observed.running().filter(|(_, _, running)| running.role == Role::Primary).count()
}
