//! `status.recovery`: who is missing, what each member holds, and the command that would unblock it.

use muster_api::cluster::{Recovery, RecoveryReport};
use muster_api::limits;
use muster_api::names::RecoveryState;

use super::text;
use super::view::Picture;
use crate::manager::command::Action;
use crate::manager::decide::Rule;
use crate::manager::fencing::Standing;
use crate::manager::report::Report;
use crate::manager::requests::Directive;

mod digest;
mod unblock;

pub use unblock::unblock;

/// How recovery stands; none while nothing has to be recovered.
pub fn state(picture: &Picture<'_>) -> Option<RecoveryState> {
    let decision = picture.view.decision;
    if decision.no_seed.is_some() {
        return Some(RecoveryState::NoSeed);
    }
    let blocked = decision.blocked.is_some();
    match decision.rule {
        Rule::SplitBrain | Rule::Recover | Rule::FailOver if blocked => Some(RecoveryState::Blocked),
        Rule::FailOver => Some(RecoveryState::FailingOver),
        Rule::Starting if first_seed_starts(picture) => None,
        Rule::Starting if picture.view.observed.running().count() > 1 => Some(RecoveryState::FailingOver),
        Rule::Recover | Rule::Starting => Some(RecoveryState::Recovering),
        Rule::SplitBrain | Rule::Join | Rule::Form | Rule::Park | Rule::Outranked => None,
    }
}

/// Whether what starts is the seed of a new cluster, which never had all its data.
fn first_seed_starts(picture: &Picture<'_>) -> bool {
    let observed = picture.view.observed;
    let Some(roster) = observed.roster() else { return true };
    let [seed] = roster.entries.as_slice() else { return false };
    let held = observed.report_of(&seed.member).and_then(Report::held);
    held.is_none_or(|held| !held.complete)
}

/// The member that is to seed or to be promoted, or that is being tried.
pub fn seed<'a>(picture: &Picture<'a>) -> Option<&'a str> {
    let view = picture.view;
    let ordered = view.decision.orders.iter().find(|order| order.action.begins_term());
    let ordered = ordered.filter(|order| !matches!(order.action, Action::Seed { forming: true }));
    let tried = || view.observed.trial.as_ref().map(|trial| trial.member.as_str());
    let chosen = || match &view.observed.directive {
        Some(Directive::Seed { member, .. }) => Some(member.as_str()),
        _ => None,
    };
    ordered.map(|order| order.member.as_str()).or_else(tried).or_else(chosen)
}

/// The whole of it. `shown` is what this process assembled last: while a person would decide the same, it stands, so
/// that a running member's sequence, which moves all the time, is not a change.
pub fn recovery(picture: &Picture<'_>, shown: Option<&Recovery>) -> Option<Recovery> {
    let state = state(picture)?;
    let blocked = picture.view.decision.blocked.as_ref().filter(|_| state == RecoveryState::Blocked);
    let mut fresh = Recovery {
        state: state.into(),
        expected: text::names(expected(picture)),
        reported: reported(picture),
        missing: text::names(missing(picture)),
        seed: seed(picture).map(text::name),
        blocked_by: blocked.map(|obstacle| obstacle.by.into()),
        unblock: unblock(picture),
        digest: String::new(),
    };
    fresh.digest = digest::digest(&fresh, picture);
    Some(shown.filter(|shown| shown.digest == fresh.digest).cloned().unwrap_or(fresh))
}

/// The members that recovery has to hear from or know to be stopped: the newest roster, or who is configured where
/// nobody names one.
pub(super) fn expected<'a>(picture: &Picture<'a>) -> Vec<&'a str> {
    let Some(roster) = picture.view.observed.roster() else { return picture.staying() };
    let mut names: Vec<&str> = roster.names().collect();
    names.sort_by_key(|name| picture.view.wanted.order(name));
    names
}

/// Those of them that neither report nor are known to be stopped.
pub(super) fn missing<'a>(picture: &Picture<'a>) -> Vec<&'a str> {
    let observed = picture.view.observed;
    let mut names = expected(picture);
    names.retain(|name| match observed.standing(name) {
        Standing::Silent { .. } => true,
        Standing::Unanswered => observed.report_of(name).is_none(),
        Standing::Reporting | Standing::Fenced(_) | Standing::Stale | Standing::Undetermined => false,
    });
    names
}

fn reported(picture: &Picture<'_>) -> Vec<RecoveryReport> {
    let everyone = picture.everyone();
    let reports = everyone.iter().filter_map(|name| Some((*name, picture.view.observed.report_of(name)?)));
    let reports = reports.filter(|(name, _)| !name.is_empty()).take(crate::scaling::MEMBER_LIMIT);
    reports.map(|(name, report)| what_it_holds(name, report)).collect()
}

/// What one member holds. Of data that cannot be read nothing is said, not even that it is empty.
fn what_it_holds(name: &str, report: &Report) -> RecoveryReport {
    let member = text::name(name);
    let Some(held) = report.held() else {
        return RecoveryReport { member, ..RecoveryReport::default() };
    };
    if held.empty {
        return RecoveryReport { member, empty: Some(true), ..RecoveryReport::default() };
    }
    RecoveryReport {
        member,
        history: text::cut_some(&held.history, limits::POSITION_MAX),
        term: held.place().term.and_then(text::term),
        sequence: text::sequence(held.sequence),
        position: text::cut_some(&held.position, limits::POSITION_MAX),
        empty: Some(false),
    }
}
