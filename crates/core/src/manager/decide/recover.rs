//! Rule 4: no application runs, data exists. The most advanced member seeds, when that can be known.

use super::super::command::Action;
use super::super::election::{Outcome, Winner, elect};
use super::super::requests::Directive;
use super::super::roster::Roster;
use super::form::form_anew;
use super::scene::Scene;
use super::{Decision, Effect, Rule, roster_of_one, upkeep};

pub(super) fn recover(scene: &Scene<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Recover);
    let Some(roster) = scene.roster else {
        form_anew(scene, None, &mut decision);
        return decision;
    };
    if apply_forget(scene, roster, &mut decision) {
        return decision;
    }
    match elect(scene.observed, scene.wanted, roster, scene.now, true) {
        Outcome::Elected(winner) => seed(scene, roster, winner, &mut decision),
        other => report_outcome(other, &mut decision),
    }
    decision
}

/// Orders the winner to seed. Where a person accepted the loss of all that it does not hold, the roster starts with
/// it alone: whoever else returns is judged against it.
pub(super) fn seed(scene: &Scene<'_>, roster: &Roster, winner: Winner, decision: &mut Decision) {
    let Some(report) = scene.observed.report_of(&winner.member) else { return };
    if scene.commandable(&winner.member).is_none() {
        decision.waiting.push(winner.member);
        return;
    }
    if let Some(Directive::Seed { accept_data_loss: true, .. }) = scene.observed.directive {
        let id = roster.entry(&winner.member).map(|entry| entry.id);
        let alone = roster_of_one(&winner.member, &report.volume, roster.next_id, id);
        if alone.entries != roster.entries || roster.before.is_some() {
            decision.roster = Some(alone);
        }
    }
    let member = winner.member.clone();
    if !winner.without.is_empty() {
        decision.effects.push(Effect::WarnOfLoss(winner));
    }
    decision.order(scene, &member, Action::Seed { forming: report.is_empty() });
}

/// Carries out a `forget` that stands in the way of an election. True: this is all for now.
pub(super) fn apply_forget(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) -> bool {
    match upkeep::forget(scene, roster) {
        Some(Ok(change)) => {
            decision.roster = Some(change);
            decision.effects.push(Effect::RequestEnded(Ok(())));
            true
        }
        Some(Err(why)) => {
            decision.effects.push(Effect::RequestEnded(Err(why)));
            false
        }
        None => false,
    }
}

/// What an election that elected nobody leads to.
pub(super) fn report_outcome(outcome: Outcome, decision: &mut Decision) {
    // Whoever is missing, those who are there are asked again: what blocks may be over.
    decision.ask = true;
    match outcome {
        Outcome::Blocked(obstacle) => decision.blocked = Some(obstacle),
        Outcome::Waiting(members) => decision.waiting = members,
        Outcome::NoSeed(at) => {
            decision.no_seed = Some(at);
            decision.wake_at(at);
        }
        Outcome::Elected(_) => {}
    }
}
