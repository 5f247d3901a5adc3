//! `AgentConnected` and `Joined`: what the agent says, and whether it may speak for this Member (the Pod's uid).

use muster_api::names::Reason;

use super::MemberInputs;
use crate::conditions::{Finding, Truth};
use crate::generation::Gate;
use crate::manager::fencing::{FenceKind, Standing};
use crate::manager::report::Report;
use crate::status::view::{Part, Picture};

/// `AgentConnected`.
pub(super) fn connected(inputs: &MemberInputs<'_>) -> Finding {
    let picture = match &inputs.seen {
        Ok(picture) => picture,
        Err(unknown) => return unknown.clone(),
    };
    if inputs.workload.at_zero && !inputs.external {
        return Finding::is_false(Reason::Parked, "its cluster is parked: there is no Pod");
    }
    if !inputs.external {
        match inputs.workload.pod {
            Some(Gate::Ready) => {}
            None => return Finding::is_false(Reason::Disconnected, "it has no Pod"),
            Some(Gate::Stale { reason }) => {
                return Finding::unknown(Reason::NotObserved, format!("its Pod {reason}"));
            }
            Some(Gate::NotYet { reason } | Gate::Failed { reason }) => {
                return Finding::is_false(Reason::Disconnected, format!("its Pod {reason}"));
            }
        }
    }
    match picture.part(inputs.name) {
        Part::Silent => Finding::is_false(Reason::Disconnected, "its agent is not heard"),
        Part::Fenced => {
            Finding::is_false(Reason::Disconnected, "its agent is not heard, and it does not run")
        }
        _ => Finding::is_true(Reason::Connected, "its agent reports"),
    }
}

/// `Joined`.
pub(super) fn joined(inputs: &MemberInputs<'_>, connected: &Finding) -> Finding {
    let picture = match &inputs.seen {
        Ok(picture) => picture,
        Err(unknown) => return unknown.clone(),
    };
    if connected.reason == Reason::Parked.as_str() {
        return connected.clone();
    }
    let part = picture.part(inputs.name);
    if part == Part::Fenced {
        return Finding::is_false(Reason::Stopped, "it does not run");
    }
    if connected.truth != Truth::True {
        return Finding::unknown(Reason::NotObserved, connected.message.clone());
    }
    let text = |why: &str| match inputs.action_error {
        Some(error) => format!("it {why}; its last action failed: {error}"),
        None => format!("it {why}"),
    };
    let or_action = |why: Reason| if inputs.action_error.is_some() { Reason::ActionFailed } else { why };
    let clause = part.clause();
    match part {
        Part::Joined { .. } if picture.has_primary() => Finding::is_true(Reason::Joined, text(clause)),
        Part::Joined { .. } => {
            Finding::is_false(Reason::NoPrimary, "no primary is heard that it could follow")
        }
        Part::Joining if stalled(inputs.name, picture) => {
            Finding::is_false(Reason::Stalled, text("makes no progress"))
        }
        Part::Joining => Finding::is_false(Reason::Joining, text(clause)),
        Part::Isolated => Finding::is_false(Reason::NotJoined, text(clause)),
        Part::StaleTerm { .. } => Finding::is_false(Reason::StaleTerm, text(clause)),
        Part::Failed { .. } => Finding::is_false(or_action(Reason::MemberFailed), text(clause)),
        Part::Errant => {
            let cluster = &picture.view.wanted.cluster;
            let how = format!("kubectl muster rejoin {cluster} {} --discard # copies it anew", inputs.name);
            Finding::is_false(Reason::MemberErrant, format!("it {clause}; to give that up: {how}"))
        }
        Part::Stopped => Finding::is_false(or_action(Reason::Stopped), text(clause)),
        Part::Undetermined | Part::Fenced | Part::Silent => {
            Finding::unknown(Reason::NotObserved, text(clause))
        }
    }
}

fn stalled(member: &str, picture: &Picture<'_>) -> bool {
    let view = picture.view;
    view.observed.idle_for(member, view.now) >= view.wanted.engine.stall_timeout
}

/// The report that may be shown: of a member that is heard, or whose agent confirmed the stop before it was lost.
pub(super) fn report<'a>(
    inputs: &MemberInputs<'_>,
    picture: &Picture<'a>,
    connected: &Finding,
) -> Option<&'a Report> {
    let observed = picture.view.observed;
    if connected.truth == Truth::True {
        return observed.report_of(inputs.name);
    }
    match observed.standing(inputs.name) {
        Standing::Fenced(FenceKind::StopConfirmed) => observed.members.get(inputs.name)?.report.as_ref(),
        _ => None,
    }
}
