//! Tests of the rules, one file per rule.

mod corners;
mod fail_over;
mod form;
mod join;
mod leave;
mod orphans;
mod park;
mod recover;
mod replace;
mod reserve;
mod self_electing;
mod split_brain;
mod unanswered;
mod upkeep;

use muster_api::names::{BlockedBy, Role};

use super::super::command::Action;
use super::super::election::Obstacle;
use super::super::observed::Observed;
use super::super::report::Report;
use super::super::roster::{Copies, Roster};
use super::super::stamp::Stamp;
use super::super::testing::{EPOCH, observed, roster, running, wanted};
use super::super::wanted::Wanted;
use super::{Decision, Effect};

const ABC: &[&str] = &["a", "b", "c"];

/// One primary among a, b and c, a majority of copies.
fn majority() -> Wanted {
    wanted(ABC, Copies::Majority)
}

/// A serving primary that was told the count of three.
fn primary(sequence: u64) -> Report {
    running(0, Role::Primary, sequence).with(|report| report.recorded = vec![3])
}

/// A synced secondary that was told the count of three.
fn secondary(sequence: u64) -> Report {
    running(0, Role::Secondary, sequence).with(|report| report.recorded = vec![3])
}

/// What is known when these three report, all of them voters.
fn trio(a: Report, b: Report, c: Report) -> Observed {
    observed(&roster(ABC), vec![("a", a), ("b", b), ("c", c)])
}

/// The orders in words: whom is told what, in the order in which they are sent.
fn orders(decision: &Decision) -> Vec<String> {
    let words = |action: &Action, member: &str| match action {
        Action::Join(join) => {
            format!("{} {member} as {:?}", if join.copy { "copy" } else { "join" }, join.role)
        }
        Action::Seed { forming: true } => format!("form {member}"),
        Action::Remember(count) => format!("remember {member} {count}"),
        other => format!("{} {member}", other.word()),
    };
    decision.orders.iter().map(|order| words(&order.action, &order.member)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as a decision has it")]
fn blocked(by: BlockedBy, members: &[&str]) -> Option<Obstacle> {
    Some(Obstacle { by, members: members.iter().map(|&member| member.to_owned()).collect() })
}

/// Whether the decision does, makes and says nothing but wait.
fn idle(decision: &Decision) -> bool {
    decision.orders.is_empty()
        && decision.roster.is_none()
        && decision.effects.is_empty()
        && decision.blocked.is_none()
}

/// What is said about the request, if it ended.
fn request_ended(decision: &Decision) -> Option<Result<(), &str>> {
    decision.effects.iter().find_map(|effect| match effect {
        Effect::RequestEnded(result) => Some(result.as_ref().copied().map_err(String::as_str)),
        _ => None,
    })
}

/// The names in the roster that the decision makes, those that do not vote in brackets.
fn new_roster(decision: &Decision) -> Option<Vec<String>> {
    let change = decision.roster.as_ref()?;
    let name = |entry: &super::Entry| {
        if entry.voter { entry.member.clone() } else { format!("({})", entry.member) }
    };
    Some(change.entries.iter().map(name).collect())
}

/// The roster numbered `n`, after one of these members.
fn after(mut newer: Roster, n: u64, before: &Roster) -> Roster {
    newer.version = Stamp::new(EPOCH, n);
    newer.before = Some(before.entries.clone());
    newer
}
