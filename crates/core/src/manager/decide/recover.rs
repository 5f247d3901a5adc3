//! Rule 4: no application runs, data exists. The most advanced member seeds, when that can be known.

use muster_api::names::BlockedBy;

use super::super::command::Action;
use super::super::election::{Obstacle, Outcome, Winner, elect};
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

/// Whether the winner may count by the newest roster. Else it is handed out first; where those who would have to know
/// it are not there, someone has to say that it goes on without them.
pub(super) fn roster_is_known(
    scene: &Scene<'_>,
    roster: &Roster,
    winner: &Winner,
    decision: &mut Decision,
) -> bool {
    let untold = upkeep::untold(scene, roster, &winner.member);
    if untold.is_empty() {
        return true;
    }
    upkeep::hand_out(scene, roster, decision);
    let heard = |volume: &str| scene.observed.reporting().any(|(_, report)| report.volume == volume);
    let unheard = untold.iter().any(|voter| !heard(&voter.volume));
    if !decision.orders.is_empty() || !unheard {
        decision.ask = true;
        return false;
    }
    let untold = untold.into_iter().map(|voter| voter.member.clone()).collect();
    if scene.wanted.allow_loss || matches!(scene.observed.directive, Some(Directive::Seed { .. })) {
        decision.roster = Some(roster.settled());
        decision.effects.push(Effect::WarnOfLoss(Winner { without: untold, ..winner.clone() }));
        return true;
    }
    decision.blocked = Some(Obstacle { by: BlockedBy::DataMissing, members: untold });
    false
}

/// Orders the winner to seed. Whoever else returns is judged against it.
pub(super) fn seed(scene: &Scene<'_>, roster: &Roster, winner: Winner, decision: &mut Decision) {
    let Some(report) = scene.observed.report_of(&winner.member) else { return };
    if scene.commandable(&winner.member).is_none() {
        decision.waiting.push(winner.member);
        return;
    }
    if !roster_is_known(scene, roster, &winner, decision) {
        return;
    }
    start_roster_anew(scene, roster, &winner.member, decision);
    let member = winner.member.clone();
    if !winner.without.is_empty() {
        decision.effects.push(Effect::WarnOfLoss(winner));
    }
    decision.order(scene, &member, Action::Seed { forming: report.is_empty() });
}

/// Where a person accepted the loss of all that this member does not hold, the roster starts with it alone.
pub(super) fn start_roster_anew(scene: &Scene<'_>, roster: &Roster, member: &str, decision: &mut Decision) {
    let Some(report) = scene.observed.report_of(member) else { return };
    if accepts_data_loss(scene) {
        let id = roster.entry(member).map(|entry| entry.id);
        decision.roster = Some(roster_of_one(member, &report.volume, roster.next_id, id));
    }
}

/// Whether a person chose a seed whatever the others hold.
pub(super) fn accepts_data_loss(scene: &Scene<'_>) -> bool {
    matches!(scene.observed.directive, Some(Directive::Seed { accept_data_loss: true, .. }))
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
        Outcome::Unfit(member) => {
            let why = format!(
                "{member} holds no data that counts: it would take --accept-data-loss to start from it"
            );
            decision.effects.push(Effect::RequestEnded(Err(why)));
        }
        Outcome::NoSeed(at) => {
            decision.no_seed = Some(at);
            decision.wake_at(at);
        }
        Outcome::Elected(_) => {}
    }
}
