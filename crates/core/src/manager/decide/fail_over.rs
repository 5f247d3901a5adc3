//! Rule 3: some applications run, none is primary. The most advanced is promoted, when that can be known.

use jiff::SignedDuration;
use muster_api::names::Role;

use super::super::command::Action;
use super::super::election::{Outcome, Winner, elect};
use super::super::report::{Activity, Application, Running};
use super::super::requests::Directive;
use super::super::roster::Roster;
use super::recover::{
    accepts_data_loss, refuse_what_needs_a_primary, report_outcome, roster_is_known, start_roster_anew,
};
use super::scene::Scene;
use super::{Decision, Effect, Rule, unanswered};

pub(super) fn fail_over(scene: &Scene<'_>) -> Decision {
    let mut decision = Decision::new(Rule::FailOver);
    let Some(roster) = scene.roster else { return decision };
    refuse_what_needs_a_primary(scene, &mut decision);
    match elect(scene.observed, scene.wanted, roster, scene.now, false) {
        Outcome::Elected(winner) => promote(scene, roster, &winner, &mut decision),
        other => report_outcome(scene, other, &mut decision),
    }
    decision
}

fn promote(scene: &Scene<'_>, roster: &Roster, winner: &Winner, decision: &mut Decision) {
    if target_may_catch_up(scene, winner, decision) || another_may_catch_up(scene, winner, decision) {
        return;
    }
    let Some(report) = scene.observed.report_of(&winner.member) else { return };
    let isolated = |running: &Running| running.activity == Activity::Isolated;
    let all_isolated = scene.observed.running().all(|(_, _, running)| isolated(running));
    if !all_isolated && stop_isolated_primaries(scene, decision) {
        return;
    }
    let action = match &report.application {
        Application::Running(_) if all_isolated && scene.wanted.engine.bootstraps => Action::Bootstrap,
        _ if all_isolated || (accepts_data_loss(scene) && report.running().is_none()) => {
            // Nothing can be promoted beside members that wait for a quorum, and nothing is started from scratch
            // beside members that run: all stop, and rule 4 goes on.
            unanswered::stop_all(scene, decision);
            return;
        }
        Application::Running(_) if scene.wanted.engine.promotes => Action::Promote,
        Application::Running(_) => Action::Stop,
        Application::Stopped => Action::Lead,
        Application::Unknown => return,
    };
    if action.begins_term() && !roster_is_known(scene, roster, winner, decision) {
        return;
    }
    if action.begins_term() && scene.commandable(&winner.member).is_some() {
        start_roster_anew(scene, roster, &winner.member, decision);
    }
    if action.begins_term() && !winner.without.is_empty() {
        decision.effects.push(Effect::WarnOfLoss(winner.clone()));
    }
    decision.order(scene, &winner.member, action);
}

/// A primary without a quorum could find one again beside the member that is promoted: it stops first. True: it does.
fn stop_isolated_primaries(scene: &Scene<'_>, decision: &mut Decision) -> bool {
    let primaries: Vec<&str> = scene
        .observed
        .running()
        .filter(|(_, _, running)| running.role == Role::Primary && running.activity == Activity::Isolated)
        .map(|(name, _, _)| name)
        .collect();
    for name in &primaries {
        decision.order(scene, name, Action::Stop);
    }
    !primaries.is_empty()
}

/// How long one that gave up the lead to be replaced waits for another to be seen where it is: what is known of who runs is as
/// old as its agent's last look, and while clients write nobody was level then.
const CATCH_UP: SignedDuration = SignedDuration::from_secs(5);

/// Whether the winner was told to hand over so that it can be replaced, and another that runs may be level in a moment.
fn another_may_catch_up(scene: &Scene<'_>, winner: &Winner, decision: &mut Decision) -> bool {
    let name = winner.member.as_str();
    let told = scene.observed.members.get(name).and_then(|seen| seen.last_sent);
    let Some(until) = told.map(|told| told + CATCH_UP).filter(|until| scene.now < *until) else {
        return false;
    };
    let mut others = scene.observed.running().filter(|(other, _, running)| {
        *other != name && running.synced && !scene.wanted.disabled(other) && scene.wanted.stays(other)
    });
    if !scene.wanted.outdated(name) || others.next().is_none() {
        return false;
    }
    decision.wake_at(until);
    true
}

/// In the middle of a planned switchover its target may be waited for, until the deadline.
fn target_may_catch_up(scene: &Scene<'_>, winner: &Winner, decision: &mut Decision) -> bool {
    let Some(Directive::Switchover { to: Some(to), from, deadline }) = &scene.observed.directive else {
        return false;
    };
    // A target can only catch up while the one it follows still runs.
    let runs = |member: &str| scene.observed.running().any(|(name, _, _)| name == member);
    let wait = *to != winner.member && runs(to) && runs(from) && scene.now < *deadline;
    if wait {
        decision.waiting.push(to.clone());
        decision.wake_at(*deadline);
    }
    wait
}
