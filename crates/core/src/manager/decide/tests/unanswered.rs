//! Tests of commands that are not answered, and of processes that make no progress.

use super::super::super::command::Action;
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Application, Instance};
use super::super::super::stamp::Stamp;
use super::super::super::testing::{EPOCH, ask_again, at, now_says, observed, roster, stopped};
use super::super::super::wanted::Wanted;
use super::super::{Decision, Rule, decide};
use super::{ABC, idle, majority, orders, primary, secondary, trio};

fn whole() -> Observed {
    trio(primary(5), secondary(5), secondary(5))
}

fn send(knows: &mut Observed, member: &str, n: u64, action: &Action, seconds: i64) {
    knows.note_sent(member, Stamp::new(EPOCH, n), Instance(1), action, at(seconds));
}

fn at_time(knows: &Observed, seconds: i64) -> Decision {
    decide(knows, &majority(), at(seconds))
}

#[test]
fn a_start_that_is_not_answered_for_thirty_seconds_is_voided_by_a_stop() {
    let mut knows = whole();
    send(&mut knows, "b", 4, &Action::Promote, 100);
    let waits = at_time(&knows, 129);
    assert_eq!((waits.wake, orders(&waits)), (Some(at(130)), vec![]));
    let voids = at_time(&knows, 130);
    assert_eq!(orders(&voids), ["stop b"]);
    assert_eq!(voids.orders[0].instance, Instance(1));
    send(&mut knows, "b", 5, &Action::Stop, 130);
    let waits = at_time(&knows, 159);
    assert_eq!((waits.wake, orders(&waits)), (Some(at(160)), vec![]), "the stop may take as long");
    assert_eq!(orders(&at_time(&knows, 160)), ["stop b"]);
}

#[test]
fn a_start_that_was_answered_and_not_shown_is_voided_all_the_same() {
    let mut knows = whole();
    send(&mut knows, "b", 4, &Action::Promote, 100);
    let answer = super::super::super::command::Answer { stamp: Stamp::new(EPOCH, 4), succeeded: true };
    knows.note_answer("b", answer, at(101));
    assert_eq!(at_time(&knows, 129).wake, Some(at(130)));
    assert_eq!(orders(&at_time(&knows, 130)), ["stop b"]);
}

#[test]
fn a_member_that_is_not_heard_cannot_be_told_to_stop() {
    let mut knows = whole();
    send(&mut knows, "b", 4, &Action::Promote, 100);
    knows.lose_stream("b");
    let decision = at_time(&knows, 130);
    assert_eq!((orders(&decision), decision.wake), (vec![], None));
}

#[test]
fn another_command_that_is_not_answered_is_decided_again_after_as_long() {
    let mut knows = trio(primary(5), secondary(5), secondary(5).with(|r| r.evacuated = true));
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().leaving = true;
    assert_eq!(orders(&decide(&knows, &wishes, at(100))), ["stop c"]);
    send(&mut knows, "c", 4, &Action::Stop, 100);
    let waits = decide(&knows, &wishes, at(129));
    assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(130))));
    let again = decide(&knows, &wishes, at(130));
    assert_eq!((orders(&again), again.wake), (vec!["stop c".to_owned()], None));
}

#[test]
fn a_command_that_was_obeyed_is_not_given_again_before_a_report_shows_what_it_led_to() {
    let mut knows = trio(primary(5), secondary(5), secondary(5).with(|r| r.evacuated = true));
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().leaving = true;
    send(&mut knows, "c", 4, &Action::Stop, 100);
    let answer = super::super::super::command::Answer { stamp: Stamp::new(EPOCH, 4), succeeded: true };
    knows.note_answer("c", answer, at(101));
    assert_eq!(orders(&decide(&knows, &wishes, at(101))), Vec::<String>::new());
    now_says(&mut knows, "c", |report| report.obeyed(4, true));
    assert_eq!(orders(&decide(&knows, &wishes, at(102))), ["stop c"], "it was obeyed, and runs again");
}

#[test]
fn the_earliest_reason_to_wake_is_kept() {
    let mut knows = whole();
    send(&mut knows, "b", 4, &Action::TakeRoster, 104);
    send(&mut knows, "c", 5, &Action::TakeRoster, 100);
    assert_eq!(at_time(&knows, 110).wake, Some(at(130)));
    send(&mut knows, "a", 6, &Action::TakeRoster, 90);
    assert_eq!(at_time(&knows, 110).wake, Some(at(120)));
}

#[test]
fn nobody_who_owes_an_answer_or_cannot_tell_what_runs_is_told_anything() {
    let mut knows = trio(primary(5), stopped(0, 5), secondary(5));
    assert_eq!(orders(&at_time(&knows, 100)), ["join b as Secondary"]);
    send(&mut knows, "b", 4, &Action::TakeRoster, 100);
    assert!(idle(&at_time(&knows, 100)));
    let unknown = stopped(0, 5).with(|report| report.application = Application::Unknown);
    assert!(idle(&at_time(&trio(primary(5), unknown, secondary(5)), 100)));
}

const STALLED: i64 = 30 * 60;

/// b runs and does this.
fn busy(activity: Activity) -> Observed {
    trio(primary(5), secondary(3).with_running(|r| (r.activity, r.synced) = (activity, false)), secondary(5))
}

#[test]
fn a_process_is_stopped_as_failed_only_after_no_progress_for_the_stall_timeout() {
    for activity in [Activity::Starting, Activity::Joining, Activity::Failed] {
        let knows = busy(activity);
        let waits = at_time(&knows, STALLED - 1);
        assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(STALLED))), "{activity:?}");
        assert_eq!(orders(&at_time(&knows, STALLED)), ["stop b"], "{activity:?}");
    }
    for activity in [Activity::Donor, Activity::Serving, Activity::Isolated] {
        let decision = at_time(&busy(activity), STALLED * 10);
        assert_eq!((orders(&decision), decision.wake), (vec![], None), "{activity:?}");
    }
}

#[test]
fn the_stall_timeout_is_the_engines_and_progress_starts_it_anew() {
    let mut knows = busy(Activity::Joining);
    let mut wishes = majority();
    wishes.engine.stall_timeout = jiff::SignedDuration::from_secs(50);
    assert_eq!(orders(&decide(&knows, &wishes, at(50))), ["stop b"]);
    let report = knows.members["b"].report.clone().unwrap();
    let moved = report.with_running(|running| running.progress = 1).with(|report| report.serial = 99);
    knows.take_report("b", moved, at(40));
    let decision = decide(&knows, &wishes, at(89));
    assert_eq!((orders(&decision), decision.wake), (vec![], Some(at(90))));
    assert_eq!(orders(&decide(&knows, &wishes, at(90))), ["stop b"]);
}

#[test]
fn a_primary_that_starts_is_waited_for_whatever_the_others_hold() {
    let starting = |activity| primary(5).with_running(|running| running.activity = activity);
    for activity in [Activity::Starting, Activity::Joining, Activity::Failed] {
        let knows = trio(starting(activity), secondary(9), secondary(9));
        let decision = at_time(&knows, 1);
        assert_eq!(decision.rule, Rule::Starting, "{activity:?}");
        assert!(idle(&decision));
        assert_eq!(orders(&at_time(&knows, STALLED)), ["stop a"], "until it stalls");
    }
}

#[test]
fn one_order_at_a_time_reaches_a_member_that_stalls() {
    let mut knows = busy(Activity::Joining);
    now_says(&mut knows, "b", |report| report.with_running(|running| running.term = None));
    ask_again(&mut knows, at(0));
    assert_eq!(orders(&at_time(&knows, STALLED)), ["stop b"], "it follows nobody, and stalls");
}

#[test]
fn an_agent_of_a_later_leader_ends_it_all() {
    let later = stopped(0, 5).with(|report| report.epoch = EPOCH + 1);
    let mut knows = observed(&roster(ABC), vec![("a", primary(5)), ("b", later), ("c", stopped(0, 5))]);
    send(&mut knows, "c", 4, &Action::Promote, 0);
    for wishes in [majority(), Wanted { parked: true, ..majority() }] {
        let decision = decide(&knows, &wishes, at(STALLED));
        assert_eq!((decision.rule, decision.wake), (Rule::Outranked, None));
        assert!(idle(&decision));
    }
}
