//! `Recovering` and `RollingOut`: what is happening to a formed cluster, and whether it waits for someone.

use muster_api::member::DesiredState;
use muster_api::names::{Reason, RecoveryState};

use super::inputs::{ClusterInputs, MemberSeen};
use super::recovery;
use super::view::Picture;
use crate::conditions::{self, Finding};
use crate::manager::decide::Rule;
use crate::scaling::Stage;

/// `Recovering`: rule 3 or 4 applies, or rule 1 and a person has to decide.
pub(super) fn recovering(picture: &Picture<'_>) -> Finding {
    let decision = picture.view.decision;
    let Some(state) = recovery::state(picture) else {
        return Finding::is_false(Reason::Idle, "replication is not being restored");
    };
    let waiting = match decision.waiting.as_slice() {
        _ if decision.rule == Rule::Starting => String::new(),
        [] => String::new(),
        members => format!("; waiting for answers of {}", conditions::names(members)),
    };
    let starting = (decision.rule == Rule::Starting).then(|| {
        format!("{} was started and does not serve yet", recovery::seed(picture).unwrap_or("a primary"))
    });
    match state {
        RecoveryState::NoSeed => Finding::is_false(Reason::NoSeed, no_seed(picture)),
        RecoveryState::Blocked => Finding::is_true(Reason::Blocked, blocked(picture)),
        RecoveryState::FailingOver | RecoveryState::SplitBrain => {
            let text = starting.unwrap_or_else(|| "some members run, none serves as primary".to_owned());
            Finding::is_true(Reason::FailingOver, format!("{text}{waiting}"))
        }
        RecoveryState::Recovering => {
            let text = starting.unwrap_or_else(|| "no member runs, and data exists".to_owned());
            Finding::is_true(Reason::Outage, format!("{text}{waiting}"))
        }
    }
}

fn blocked(picture: &Picture<'_>) -> String {
    let Some(obstacle) = &picture.view.decision.blocked else { return "it waits for someone".to_owned() };
    let who = match obstacle.members.as_slice() {
        [] => String::new(),
        members => format!(" ({})", conditions::names(members)),
    };
    let how = recovery::unblock(picture).map(|how| format!(": {how}")).unwrap_or_default();
    format!("{}{who}{how}", obstacle.by)
}

fn no_seed(picture: &Picture<'_>) -> String {
    let failed: Vec<&String> = picture.view.observed.failed_seeds.members.iter().collect();
    let next =
        picture.view.decision.no_seed.map(|at| format!("; the next try is at {at}")).unwrap_or_default();
    let how = recovery::unblock(picture).map(|how| format!("; or: {how}")).unwrap_or_default();
    format!("started as seed and stopped again: {}{next}{how}", conditions::names(&failed))
}

/// `RollingOut`: a change goes through the members, one by one.
pub(super) fn rolling_out(inputs: &ClusterInputs<'_>) -> Finding {
    let staying = || inputs.members.iter().filter(|member| member.stage != Stage::Leaving);
    let outdated: Vec<&MemberSeen> = staying().filter(|member| !member.spec_current).collect();
    let names: Vec<&str> = outdated.iter().map(|member| member.name.as_str()).collect();
    if outdated.is_empty() && inputs.rollout.current.is_none() {
        return Finding::is_false(Reason::Idle, "every member has the newest spec");
    }
    let open = match names.as_slice() {
        [] => String::new(),
        names => format!("; still to come: {}", conditions::names(names)),
    };
    if !inputs.pause().permits().apply {
        return Finding::is_true(Reason::Blocked, format!("reconciliation is stopped{open}"));
    }
    if let Some(why) = inputs.rollout.blocked {
        return Finding::is_true(Reason::Blocked, format!("{why}{open}"));
    }
    if inputs.rollout.current.is_none()
        && outdated.iter().all(|member| member.state == DesiredState::Disabled)
    {
        let text = format!("disabled members are not changed: {}", conditions::names(&names));
        return Finding::is_true(Reason::Blocked, text);
    }
    let now = inputs
        .rollout
        .current
        .map_or_else(|| "members are changed".to_owned(), |m| format!("{m} is changed"));
    Finding::is_true(Reason::InProgress, format!("{now}, one at a time{open}"))
}
