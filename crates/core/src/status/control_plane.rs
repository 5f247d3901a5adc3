//! `ControlPlaneReady`: the wanted primaries run, every enabled member joined and its copies count, in one view and the newest
//! term.

use muster_api::names::{Reason, Role};

use super::inputs::ClusterInputs;
use super::recovery;
use super::view::{Part, Picture, View};
use crate::conditions::{self, Finding};
use crate::manager::decide::{Effect, Rule};

pub(super) fn control_plane(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> Finding {
    match picture.view.decision.rule {
        Rule::Park => parking(inputs, picture),
        Rule::SplitBrain => split(picture),
        Rule::Form => forming(picture),
        Rule::Outranked | Rule::Join | Rule::Starting | Rule::FailOver | Rule::Recover => kept(picture),
    }
}

/// Whether every application is stopped because all pools are at 0.
pub(super) fn is_parked(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> bool {
    let stopped = picture.view.decision.effects.contains(&Effect::Parked);
    picture.view.decision.rule == Rule::Park
        && inputs.parked()
        && (stopped || inputs.members.iter().all(|member| member.at_zero))
}

fn parking(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> Finding {
    if is_parked(inputs, picture) {
        return Finding::is_true(Reason::Parked, "all pools are at 0: every application is stopped");
    }
    let running = picture.whose(|part| !matches!(part, Part::Stopped | Part::Fenced | Part::Errant));
    let text = format!("all pools are at 0; stopping: {}", listed(picture, &running));
    Finding::is_false(Reason::Stopping, text)
}

fn split(picture: &Picture<'_>) -> Finding {
    let primaries = picture.whose(|part| {
        matches!(part, Part::Joined { role: Role::Primary, .. } | Part::StaleTerm { role: Role::Primary })
    });
    let mut text = format!("more primaries or views than wanted: {}", conditions::names(&primaries));
    if let Some(unblock) = recovery::unblock(picture) {
        text = format!("{text}; one of them has to be chosen: {unblock}");
    }
    Finding::is_false(Reason::SplitBrain, text)
}

fn forming(picture: &Picture<'_>) -> Finding {
    let decision = picture.view.decision;
    let text = match (&decision.blocked, recovery::unblock(picture)) {
        (Some(_), Some(unblock)) => format!("the cluster cannot be formed: {unblock}"),
        _ if !decision.waiting.is_empty() => {
            format!("the cluster is being formed; waiting for {}", conditions::names(&decision.waiting))
        }
        _ => "the cluster is being formed".to_owned(),
    };
    Finding::is_false(Reason::Forming, text)
}

/// A formed cluster. Unknown only where those who are not heard could still make it true.
fn kept(picture: &Picture<'_>) -> Finding {
    let (silent, heard): (Vec<&str>, Vec<&str>) =
        picture.enabled().into_iter().partition(|name| picture.part(name) == Part::Silent);
    let apart: Vec<&str> =
        heard.into_iter().filter(|name| !matches!(picture.part(name), Part::Joined { .. })).collect();
    let primaries = picture.primaries().len();
    let wanted = picture.wanted_primaries();
    if !apart.is_empty() || primaries + silent.len() < wanted {
        let mut missing = apart;
        missing.extend(&silent);
        return Finding::is_false(why(picture, &missing), lacking(picture, &missing));
    }
    if !silent.is_empty() {
        let text = format!("not heard: {}", conditions::names(&silent));
        return Finding::unknown(Reason::AgentsUnreachable, text);
    }
    if !picture.one_view() {
        return Finding::is_false(Reason::NotJoined, "members see different views of the cluster");
    }
    if let Some(text) = being_counted(picture) {
        return Finding::is_false(Reason::Joining, text);
    }
    Finding::is_true(Reason::AsDesired, serving(picture))
}

/// Who follows the primary while its copies do not count yet, or while an outage would still ask for those who counted before.
/// One member fewer than it seems could be lost then, so nobody is told that all is done. Software that elects by itself counts
/// by itself.
fn being_counted(picture: &Picture<'_>) -> Option<String> {
    let View { observed, wanted, .. } = picture.view;
    let roster = observed.roster().filter(|_| !wanted.engine.elects)?;
    let awaited = |name: &&str| {
        // Copies of whoever cannot say how far they are never count.
        let report = observed.report_of(name).filter(|report| report.held().is_some());
        report.is_some_and(|report| roster.voters().all(|voter| voter.volume != report.volume))
    };
    let uncounted: Vec<&str> = picture.enabled().into_iter().filter(awaited).collect();
    if !uncounted.is_empty() {
        return Some(format!("copies are not counted yet: {}", conditions::names(&uncounted)));
    }
    if roster.voters_before().is_some() {
        return Some("what was written before the last member joined is being copied".to_owned());
    }
    let knows = |name: &&str| {
        let own = observed.report_of(name).and_then(|report| report.roster.as_ref());
        own.is_some_and(|own| own.is_at_least(roster))
    };
    let untold: Vec<&str> = picture.enabled().into_iter().filter(|name| !knows(name)).collect();
    (!untold.is_empty()).then(|| format!("not told yet whose copies count: {}", conditions::names(&untold)))
}

/// The one word for what is lacking.
pub(super) fn why(picture: &Picture<'_>, missing: &[&str]) -> Reason {
    let any = |test: fn(&Part) -> bool| missing.iter().any(|name| test(&picture.part(name)));
    if picture.primaries().is_empty() {
        return match picture.view.decision.rule {
            Rule::Recover => Reason::Outage,
            _ if any(|part| matches!(part, Part::StaleTerm { role: Role::Primary })) => Reason::StaleTerm,
            _ => Reason::NoPrimary,
        };
    }
    if any(|part| *part == Part::Errant) {
        Reason::MemberErrant
    } else if any(|part| matches!(part, Part::Failed { .. })) {
        Reason::MemberFailed
    } else if picture.primaries().len() < picture.wanted_primaries() {
        Reason::TooFewPrimaries
    } else if any(|part| matches!(part, Part::StaleTerm { .. })) {
        Reason::StaleTerm
    } else if any(|part| *part == Part::Joining) {
        Reason::Joining
    } else {
        Reason::NotJoined
    }
}

/// What is lacking, for a person.
pub(super) fn lacking(picture: &Picture<'_>, missing: &[&str]) -> String {
    let primaries = picture.primaries().len();
    let wanted = picture.wanted_primaries();
    let mut parts = Vec::new();
    if primaries < wanted {
        parts.push(format!("{primaries} of {wanted} primaries serve"));
    }
    if !missing.is_empty() {
        parts.push(listed(picture, missing));
    }
    if let Some(unblock) = recovery::unblock(picture) {
        parts.push(format!("to unblock: {unblock}"));
    }
    parts.join("; ")
}

/// Who serves, for a person.
pub(super) fn serving(picture: &Picture<'_>) -> String {
    let primaries = picture.primaries();
    let verb = if primaries.len() == 1 { "serves" } else { "serve" };
    format!("{} {verb} as primary", conditions::names(&primaries))
}

fn listed(picture: &Picture<'_>, members: &[&str]) -> String {
    conditions::listed(&picture.clauses(members), "; ")
}
