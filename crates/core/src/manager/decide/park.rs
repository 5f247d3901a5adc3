//! All pools are at 0: everything stops and stays. Secondaries first, the primary once they have what it has.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::observed::serves_as_primary;
use super::super::report::Application;
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
    if scene.observed.directive.is_some() {
        let why = "all pools are at 0, so nothing is to run: ask again once they are not".to_owned();
        decision.effects.push(Effect::RequestEnded(Err(why)));
    }
    decision
}

/// Whether nothing runs, as far as anyone says, and nothing that was sent can start anything. Who is not heard does not
/// hold it up: what it has is stopped with its Pod, and stays on its volume.
fn everyone_stopped(scene: &Scene<'_>) -> bool {
    let stopped = scene.observed.reporting().all(|(_, report)| report.application == Application::Stopped);
    let connected = scene.observed.members.values().filter(|seen| seen.connected);
    stopped && connected.into_iter().all(|seen| seen.unanswered_start.is_none())
}
