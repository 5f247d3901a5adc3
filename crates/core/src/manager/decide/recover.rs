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
        without_a_roster(scene, &mut decision);
        return decision;
    };
    refuse_what_needs_a_primary(scene, &mut decision);
    match elect(scene.observed, scene.wanted, roster, scene.now, true) {
        Outcome::Elected(winner) => seed(scene, roster, winner, &mut decision),
        other => report_outcome(scene, other, &mut decision),
    }
    decision
}

/// There is data, and no roster of this cluster names it: Muster never wrote it, or it comes from elsewhere.
fn without_a_roster(scene: &Scene<'_>, decision: &mut Decision) {
    form_anew(scene, None, decision);
    if decision.blocked.as_ref().is_some_and(|obstacle| obstacle.by == BlockedBy::AllEmpty) {
        let holders = scene.observed.reporting().filter(|(_, report)| !report.is_empty());
        let members = holders.map(|(name, _)| name.to_owned()).collect();
        decision.blocked = Some(Obstacle { by: BlockedBy::HistoryDiffers, members });
    }
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
        decision.roster = Some(roster_of_one(Some(roster), member, &report.volume));
    }
}

/// Whether a person chose a seed whatever the others hold.
pub(super) fn accepts_data_loss(scene: &Scene<'_>) -> bool {
    matches!(scene.observed.directive, Some(Directive::Seed { accept_data_loss: true, .. }))
}

/// Requests that need a serving primary end here: nothing is given up while nobody can say who has it.
pub(super) fn refuse_what_needs_a_primary(scene: &Scene<'_>, decision: &mut Decision) {
    let cluster = &scene.wanted.cluster;
    let why = match &scene.observed.directive {
        Some(Directive::Forget { .. }) => {
            format!(
                "no primary serves: choose who seeds first (kubectl muster recover {cluster} --seed MEMBER)"
            )
        }
        Some(Directive::Rejoin { .. }) => "no primary serves: there is nothing to copy from".to_owned(),
        Some(Directive::Seed { .. } | Directive::Switchover { .. }) | None => return,
    };
    decision.effects.push(Effect::RequestEnded(Err(why)));
}

/// A person chose a member that nobody should start from, and did not say that data may be lost.
pub(super) fn refuse_unfit(member: &str, decision: &mut Decision) {
    let why =
        format!("{member} holds no data that counts: it would take --accept-data-loss to start from it");
    decision.effects.push(Effect::RequestEnded(Err(why)));
}

/// What an election that elected nobody leads to.
pub(super) fn report_outcome(scene: &Scene<'_>, outcome: Outcome, decision: &mut Decision) {
    decision.ask = scene.someone_is_to_be_asked();
    match outcome {
        Outcome::Blocked(obstacle) => decision.blocked = Some(obstacle),
        Outcome::Waiting(members) => decision.waiting = members,
        Outcome::Unfit(member) => refuse_unfit(&member, decision),
        Outcome::NoSeed(at) => {
            decision.no_seed = Some(at);
            decision.wake_at(at);
        }
        Outcome::Elected(_) => {}
    }
}
