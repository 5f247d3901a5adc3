//! `ScalingUp` and `ScalingDown`: members come and go.

use muster_api::names::Reason;

use super::inputs::{ClusterInputs, MemberSeen};
use super::view::Picture;
use crate::conditions::{self, Finding};
use crate::manager::removal::{Step, next_step};
use crate::scaling::{Decision, Hold, Stage};

/// `ScalingUp`: members are being added.
pub(super) fn scaling_up(inputs: &ClusterInputs<'_>) -> Finding {
    let mut coming = Vec::new();
    for (pool, decision) in decisions(inputs) {
        if let Decision::Create { ordinals, .. } = decision {
            coming.push(format!("pool {pool} gets {} more", ordinals.len()));
        }
    }
    let parked = inputs.parked();
    let creating = inputs.members.iter().filter(|member| member.stage == Stage::Creating && !parked);
    let creating: Vec<&str> = creating.map(|member| member.name.as_str()).collect();
    if !coming.is_empty() && !inputs.pause().permits().apply {
        let text = format!("reconciliation is stopped: {}", conditions::listed(&coming, "; "));
        return Finding::is_true(Reason::Blocked, text);
    }
    if !creating.is_empty() {
        coming.push(format!("waiting for {} to join", conditions::names(&creating)));
    }
    if !coming.is_empty() {
        return Finding::is_true(Reason::InProgress, conditions::listed(&coming, "; "));
    }
    let ended = |hold: &Hold| {
        matches!(
            hold,
            Hold::NoGain(_)
                | Hold::AtMaximum { .. }
                | Hold::ClusterFull
                | Hold::FreeUnknown(_)
                | Hold::Parked
        )
    };
    not_happening(inputs, ended, "no member is being added")
}

/// `ScalingDown`: members are being removed.
pub(super) fn scaling_down(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> Finding {
    let leaving: Vec<&MemberSeen> =
        inputs.members.iter().filter(|member| member.stage == Stage::Leaving).collect();
    let mut going: Vec<String> = leaving.iter().map(|member| format!("{} is leaving", member.name)).collect();
    let mut stuck: Vec<String> =
        leaving.iter().filter_map(|member| why_stuck(picture, &member.name)).collect();
    for (pool, decision) in decisions(inputs) {
        match decision {
            Decision::Remove { member, switchover_first: false } => {
                going.push(format!("{member} is to leave"));
            }
            Decision::Remove { member, switchover_first: true } => {
                going.push(format!("{member} is to leave, after another took over from it"));
            }
            Decision::Hold(hold @ Hold::NobodyMayGo) => {
                stuck.push(format!("pool {pool}: {}", hold.message()));
            }
            Decision::Hold(_) | Decision::Create { .. } => {}
        }
    }
    if let Some(text) = leaving.iter().find_map(|member| why_failed(picture, member)) {
        return Finding::is_false(Reason::LeaveFailed, text);
    }
    if !going.is_empty() && !inputs.pause().permits().apply {
        stuck.push("reconciliation is stopped".to_owned());
    }
    if !stuck.is_empty() {
        return Finding::is_true(Reason::Blocked, conditions::listed(&stuck, "; "));
    }
    if !going.is_empty() {
        return Finding::is_true(Reason::InProgress, conditions::listed(&going, "; "));
    }
    let ended = |hold: &Hold| matches!(hold, Hold::WouldGrowAgain(_) | Hold::FreeUnknown(_) | Hold::Parked);
    not_happening(inputs, ended, "no member is being removed")
}

/// The decisions, each with the name of its pool.
fn decisions<'i>(inputs: &'i ClusterInputs<'_>) -> impl Iterator<Item = (&'i str, &'i Decision)> {
    inputs.sizing().into_iter().flat_map(|sizing| {
        let pools = sizing.pools.iter().zip(&sizing.advice.pools);
        let pools = pools.map(|(pool, advice)| (pool.name, &advice.decision));
        pools.chain(std::iter::once(("gone from the spec", &sizing.advice.removed_pools)))
    })
}

/// It is not happening, and what ended it, where something did.
fn not_happening(inputs: &ClusterInputs<'_>, ended: impl Fn(&Hold) -> bool, idle: &str) -> Finding {
    let found = decisions(inputs).find_map(|(pool, decision)| match decision {
        Decision::Hold(hold) if ended(hold) => Some((pool, hold)),
        _ => None,
    });
    match found {
        Some((_, hold @ Hold::Parked)) => Finding::is_false(hold.reason(), hold.message()),
        Some((pool, hold)) => Finding::is_false(hold.reason(), format!("pool {pool}: {}", hold.message())),
        None => Finding::is_false(Reason::Idle, idle),
    }
}

/// Why a leaving member could not leave, if it was tried.
fn why_failed(picture: &Picture<'_>, member: &MemberSeen) -> Option<String> {
    let tried =
        picture.view.observed.members.get(&member.name).is_some_and(|seen| seen.leave_failed.is_some());
    let name = &member.name;
    match &member.leave_failed {
        Some(why) => Some(format!("{name} stays, because it could not leave: {why}")),
        None => tried.then(|| format!("{name} stays for now, because it could not leave; it is asked again")),
    }
}

/// Why a leaving member will not go by itself.
fn why_stuck(picture: &Picture<'_>, member: &str) -> Option<String> {
    let view = picture.view;
    let leader = picture.leader?;
    let report = view.observed.report_of(leader.name)?;
    let engine = &view.wanted.engine;
    match next_step(view.observed, view.observed.roster()?, engine, member, (leader.name, report)) {
        Step::Unheard => {
            let cluster = &view.wanted.cluster;
            Some(format!("{member} is not heard; if it is dead: kubectl muster forget {cluster} {member}"))
        }
        Step::LastHolder => Some(format!("{member} is the last that holds the data, so it stays")),
        _ => None,
    }
}
