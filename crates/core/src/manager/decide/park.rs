//! All pools are at 0: everything stops and stays. Secondaries first, the primary once they have what it has.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::observed::serves_as_primary;
use super::super::report::Application;
use super::super::roster::Roster;
use super::scene::Scene;
use super::{Decision, Effect, Rule};

pub(super) fn park(scene: &Scene<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Park);
    let mut secondaries = Vec::new();
    let mut primaries = Vec::new();
    for (name, report, running) in scene.observed.running() {
        match running.role {
            Role::Primary => primaries.push((name, report)),
            Role::Secondary => secondaries.push((name, running)),
        }
    }
    let served = primaries.iter().any(|(_, report)| serves_as_primary(report));
    for (name, running) in &secondaries {
        if running.synced || !served {
            decision.order(scene, name, Action::Stop);
        } else {
            decision.waiting.push((*name).to_owned());
        }
    }
    if secondaries.is_empty() {
        for (name, _) in &primaries {
            decision.order(scene, name, Action::Stop);
        }
    }
    if secondaries.is_empty() && primaries.is_empty() && everyone_stopped(scene) {
        decision.effects.push(Effect::Parked);
    }
    decision
}

/// Whether every member of the roster is accounted for and none runs.
fn everyone_stopped(scene: &Scene<'_>) -> bool {
    let roster = scene.roster.into_iter().flat_map(Roster::names);
    let stopped = |name: &str| {
        let reported = scene.observed.report_of(name).map(|report| &report.application);
        match reported {
            Some(application) => *application == Application::Stopped && !owes_a_start(scene, name),
            None => scene.observed.standing(name).accounted(),
        }
    };
    let mut roster = roster;
    roster.all(stopped)
}

fn owes_a_start(scene: &Scene<'_>, name: &str) -> bool {
    scene.observed.members.get(name).is_some_and(|seen| seen.unanswered_start.is_some())
}
