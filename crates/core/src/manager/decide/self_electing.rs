//! Software that elects by itself (etcd, Gluster): Muster forms it, keeps everyone started, and never promotes.

use muster_api::names::BlockedBy;

use super::super::command::Action;
use super::super::election::Obstacle;
use super::super::report::{Application, Held, Report};
use super::super::requests::Directive;
use super::super::roster::Roster;
use super::form::form;
use super::scene::Scene;
use super::{Decision, Effect, Rule, join, recover, replace};

pub(super) fn keep(scene: &Scene<'_>) -> Decision {
    if scene.observed.running().next().is_none() && !scene.data_exists() {
        return form(scene);
    }
    let Some(roster) = scene.roster else { return recover::recover(scene) };
    let chosen = match &scene.observed.directive {
        Some(Directive::Seed { member, .. }) => Some(member.as_str()),
        _ => None,
    };
    let serving = scene.serving();
    if chosen.is_some() && serving.map(|primary| primary.name) != chosen {
        return seed_by_request(scene);
    }
    if let Some(primary) = serving {
        let mut decision = join::tend(scene, primary);
        start_all(scene, roster, &mut decision);
        return decision;
    }
    let nobody_runs = scene.observed.running().next().is_none();
    let mut decision = Decision::new(if nobody_runs { Rule::Recover } else { Rule::FailOver });
    // Where two have a majority only together, the one that was stopped to be replaced would be started and stopped for ever.
    replace::replace_stopped(scene, &mut decision);
    start_all(scene, roster, &mut decision);
    decision
}

/// Starts every stopped member of the roster whose data belongs to the one history, and whose Pod is not about to go.
/// Different histories: a person decides.
fn start_all(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    let histories: std::collections::BTreeSet<&str> = scene
        .observed
        .reporting()
        .filter_map(|(_, report)| report.held().filter(|held| held.counts()))
        .map(|held| held.history.as_str())
        .collect();
    if histories.len() > 1 {
        let members = scene.observed.reporting().map(|(name, _)| name.to_owned()).collect();
        decision.blocked = Some(Obstacle { by: BlockedBy::HistoryDiffers, members });
        return;
    }
    let startable = |report: &Report| {
        report.application == Application::Stopped && report.held().is_some_and(Held::counts)
    };
    for (name, report) in scene.observed.reporting() {
        let ordered = decision.orders.iter().any(|order| order.member == name);
        let goes = decision.effects.contains(&Effect::Replace(name.to_owned()));
        if roster.entry(name).is_some()
            && startable(report)
            && !ordered
            && !goes
            && (scene.wanted.stays(name) || !report.evacuated)
        {
            decision.order(scene, name, Action::Start);
        }
    }
}

/// Quorum was lost for good, and a person chose who starts anew: all others stop first.
fn seed_by_request(scene: &Scene<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Recover);
    if super::unanswered::stop_all(scene, &mut decision) {
        return recover::recover(scene);
    }
    decision
}
