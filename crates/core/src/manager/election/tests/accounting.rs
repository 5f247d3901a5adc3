//! Tests of election: everyone must be accounted for, whatever anyone allows.

use muster_api::names::{BlockedBy, Role};

use super::super::super::command::Action;
use super::super::super::fencing::FenceKind;
use super::super::super::report::{Application, Instance};
use super::super::super::roster::Copies;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{
    EPOCH, ask_again, at, fence, now_says, observed, roster, running, stopped, wanted,
};
use super::{ABC, Directive, Observed, Outcome, blocked_by, hold, level, majority, names, winner};

fn send_start(knows: &mut Observed, member: &str) {
    knows.note_sent(member, Stamp::new(EPOCH, 9), Instance(1), &Action::Lead, at(0));
}

#[test]
fn a_member_that_may_run_blocks_and_is_named() {
    let knows = observed(&roster(ABC), vec![("a", stopped(1, 5)), ("c", stopped(1, 5))]);
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::MemberMissing, &["b"]));
    let mut lost = observed(
        &roster(ABC),
        vec![
            ("a", stopped(1, 5)),
            ("b", running(1, Role::Secondary, 5)),
            ("c", running(1, Role::Secondary, 5)),
        ],
    );
    lost.lose_stream("b");
    lost.lose_stream("c");
    assert_eq!(hold(&lost, &majority()), blocked_by(BlockedBy::MemberMissing, &["b", "c"]));
    fence(&mut lost, &["b"]);
    assert_eq!(hold(&lost, &majority()), blocked_by(BlockedBy::MemberMissing, &["c"]));
}

#[test]
fn a_fenced_member_is_accounted_for() {
    let mut knows = level();
    fence(&mut knows, &["c"]);
    assert_eq!(winner(&hold(&knows, &majority())), ("a", vec![]));
}

#[test]
fn a_fence_from_before_a_change_blocks_until_it_is_given_again() {
    let mut knows = level();
    knows.take_fences([("c", FenceKind::Person)]);
    ask_again(&mut knows, at(0));
    assert_eq!(winner(&hold(&knows, &majority())).0, "a");
    now_says(&mut knows, "b", |report| report.with(|report| report.instance = Instance(2)));
    ask_again(&mut knows, at(1));
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::MemberMissing, &["c"]));
    knows.take_fences([("c", FenceKind::Person)]);
    ask_again(&mut knows, at(1));
    assert_eq!(winner(&hold(&knows, &majority())).0, "a");
}

#[test]
fn reports_from_before_a_change_are_waited_for() {
    let mut knows = level();
    knows.take_fences([("c", FenceKind::Terminated)]);
    assert_eq!(hold(&knows, &majority()), Outcome::Waiting(names(&["a", "b"])));
}

#[test]
fn an_agent_that_does_not_know_what_runs_is_waited_for() {
    let unknown = stopped(1, 5).with(|report| report.application = Application::Unknown);
    let knows = observed(&roster(ABC), vec![("a", stopped(1, 5)), ("b", unknown), ("c", stopped(1, 5))]);
    assert_eq!(hold(&knows, &majority()), Outcome::Waiting(names(&["b"])));
}

#[test]
fn a_start_that_may_have_arrived_is_waited_for_and_blocks_once_the_stream_is_lost() {
    let mut knows = level();
    send_start(&mut knows, "b");
    assert_eq!(hold(&knows, &majority()), Outcome::Waiting(names(&["b"])));
    knows.lose_stream("b");
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::SeedUnconfirmed, &["b"]));
    fence(&mut knows, &["b"]);
    assert_eq!(winner(&hold(&knows, &majority())).0, "a");
}

#[test]
fn the_worst_is_said_first() {
    let mut knows = observed(&roster(ABC), vec![("a", stopped(1, 5)), ("b", stopped(1, 5))]);
    send_start(&mut knows, "a");
    send_start(&mut knows, "b");
    knows.lose_stream("b");
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::MemberMissing, &["c"]));
    fence(&mut knows, &["c"]);
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::SeedUnconfirmed, &["b"]));
    fence(&mut knows, &["b"]);
    fence(&mut knows, &["c"]);
    assert_eq!(hold(&knows, &majority()), Outcome::Waiting(names(&["a"])));
}

#[test]
fn members_of_the_roster_before_must_answer_too_until_it_is_settled() {
    let mut shrunk = roster(&["a", "b"]);
    shrunk.before = Some(roster(ABC).entries);
    let knows = observed(&shrunk, vec![("a", stopped(1, 5)), ("b", stopped(1, 5))]);
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::MemberMissing, &["c"]));
    shrunk.before = None;
    let settled = observed(&shrunk, vec![("a", stopped(1, 5)), ("b", stopped(1, 5))]);
    assert_eq!(winner(&hold(&settled, &majority())), ("a", vec![]));
}

#[test]
fn who_does_not_vote_must_be_accounted_for_as_well() {
    let mut with_newcomer = roster(ABC);
    with_newcomer.entries[2].voter = false;
    let knows = observed(&with_newcomer, vec![("a", stopped(1, 5)), ("b", stopped(1, 5))]);
    assert_eq!(hold(&knows, &majority()), blocked_by(BlockedBy::MemberMissing, &["c"]));
}

#[test]
fn nothing_that_allows_loss_replaces_accounting() {
    let mut knows = observed(&roster(ABC), vec![("a", stopped(1, 5)), ("c", stopped(1, 5))]);
    let missing = blocked_by(BlockedBy::MemberMissing, &["b"]);
    let mut wishes = wanted(ABC, Copies::Majority);
    wishes.allow_loss = true;
    wishes.restore = Some(1);
    assert_eq!(hold(&knows, &wishes), missing);
    for accept_data_loss in [false, true] {
        knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss });
        assert_eq!(hold(&knows, &wishes), missing);
    }
}
