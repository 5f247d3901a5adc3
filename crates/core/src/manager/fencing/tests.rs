//! Tests of accounting.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::stamp::Stamp;
use super::super::testing::{EPOCH, ask_again, at, observed, roster, running, stopped};
use super::*;

const SILENT: Standing = Standing::Silent { expired: false };

/// Two running members, heard in this round.
fn two() -> Observed {
    let reports = vec![("a", running(1, Role::Primary, 3)), ("b", running(1, Role::Secondary, 3))];
    observed(&roster(&["a", "b"]), reports)
}

fn send_start(knows: &mut Observed, member: &str) {
    knows.note_sent(member, Stamp::new(EPOCH, 9), Instance(1), &Action::Promote, at(0));
}

#[test]
fn a_member_is_accounted_for_by_a_report_or_a_fence_and_by_nothing_else() {
    let kinds = [FenceKind::StopConfirmed, FenceKind::Terminated, FenceKind::OutOfService, FenceKind::Person];
    assert!(kinds.into_iter().all(|kind| Standing::Fenced(kind).accounted()));
    assert!(Standing::Reporting.accounted());
    let others = [
        Standing::Stale,
        Standing::Unanswered,
        Standing::Undetermined,
        SILENT,
        Standing::Silent { expired: true },
    ];
    assert!(others.into_iter().all(|standing| !standing.accounted()));
}

#[test]
fn who_was_never_heard_or_is_not_heard_any_more_is_silent() {
    let mut knows = two();
    assert_eq!(knows.standing("a"), Standing::Reporting);
    assert_eq!(knows.standing("nobody"), SILENT);
    knows.lose_stream("b");
    assert_eq!(knows.standing("b"), SILENT);
    assert_eq!(knows.standing("a"), Standing::Reporting, "a lost stream changes nobody's accounting");
}

#[test]
fn a_report_under_another_epoch_accounts_for_nobody() {
    for epoch in [EPOCH - 1, EPOCH + 1] {
        let foreign = stopped(1, 3).with(|report| report.epoch = epoch);
        let knows = observed(&roster(&["a"]), vec![("a", foreign)]);
        assert_eq!(knows.standing("a"), SILENT, "{epoch}");
    }
}

#[test]
fn a_report_from_before_a_change_in_anyones_accounting_has_to_be_repeated() {
    let mut knows = two();
    knows.take_fences([("b", FenceKind::Terminated)]);
    assert_eq!(knows.standing("a"), Standing::Stale);
    ask_again(&mut knows, at(1));
    assert_eq!(knows.standing("a"), Standing::Reporting);
    assert_eq!(knows.standing("b"), Standing::Fenced(FenceKind::Terminated));
}

#[test]
fn an_agent_that_cannot_tell_what_runs_accounts_for_nothing_in_any_round() {
    let unknown = || stopped(1, 3).with(|report| report.application = Application::Unknown);
    let mut knows = observed(&roster(&["a", "b"]), vec![("a", unknown()), ("b", stopped(1, 3))]);
    assert_eq!(knows.standing("a"), Standing::Undetermined);
    knows.take_fences([("b", FenceKind::Person)]);
    assert_eq!(knows.standing("a"), Standing::Undetermined);
}

#[test]
fn an_unanswered_start_outweighs_every_report_but_not_a_fence() {
    let mut knows = two();
    send_start(&mut knows, "b");
    assert_eq!(knows.standing("b"), Standing::Unanswered);
    ask_again(&mut knows, at(1));
    assert_eq!(knows.standing("b"), Standing::Unanswered, "heard, but not of the start");
    knows.lose_stream("b");
    assert_eq!(knows.standing("b"), Standing::Unanswered, "a lost stream settles nothing");
    knows.take_fences([("b", FenceKind::Terminated)]);
    assert_eq!(knows.standing("b"), Standing::Fenced(FenceKind::Terminated));
}

#[test]
fn what_was_not_a_start_may_stay_unanswered() {
    for action in [Action::Stop, Action::Demote, Action::Leave, Action::MarkLeft, Action::TakeRoster] {
        let mut knows = two();
        knows.note_sent("b", Stamp::new(EPOCH, 9), Instance(1), &action, at(0));
        assert_eq!(knows.standing("b"), Standing::Reporting, "{action:?}");
    }
}

#[test]
fn a_fence_counts_in_its_round_and_expires_with_the_next_change() {
    let mut knows = two();
    knows.take_fences([("a", FenceKind::Person)]);
    assert_eq!(knows.standing("a"), Standing::Fenced(FenceKind::Person));
    knows.take_fences([("b", FenceKind::OutOfService)]);
    assert_eq!(knows.standing("a"), Standing::Silent { expired: true });
    assert_eq!(knows.standing("b"), Standing::Fenced(FenceKind::OutOfService));
}
