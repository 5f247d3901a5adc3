//! Tests of applications that wait for data which nobody sends.

use super::super::super::report::{Activity, Application, Data, Report};
use super::super::super::testing::{at, fence, now_says, stopped};
use super::super::{Decision, Rule, decide};
use super::{Observed, idle, majority, orders, primary, trio};

/// One that is to take writes, and fetches what it lacks.
fn fetches() -> Report {
    primary(0).with_running(|running| running.activity = Activity::Joining)
}

fn at_time(knows: &Observed, seconds: i64) -> Decision {
    let decision = decide(knows, &majority(), at(seconds));
    assert_eq!(decision.rule, Rule::Starting);
    decision
}

#[test]
fn whoever_fetches_from_nobody_is_stopped_when_nothing_came_for_a_while() {
    let mut knows = trio(stopped(0, 5), fetches(), fetches());
    let waits = at_time(&knows, 29);
    assert_eq!((orders(&waits), waits.wake), (vec![], Some(at(30))));
    assert_eq!(orders(&at_time(&knows, 30)), ["stop b", "stop c"]);
    // One that can say by itself that it is fenced sends nothing either.
    fence(&mut knows, &["a"]);
    assert_eq!(orders(&at_time(&knows, 30)), ["stop b", "stop c"]);
    // Then the one with data seeds.
    let mut knows = trio(stopped(0, 5), stopped(0, 4), fetches());
    now_says(&mut knows, "c", |report| Report { application: Application::Stopped, ..report });
    assert_eq!(decide(&knows, &majority(), at(31)).rule, Rule::Recover);
}

#[test]
fn who_may_have_a_source_is_waited_for() {
    for source in [Activity::Starting, Activity::Donor, Activity::Serving] {
        let other = primary(5).with_running(|running| (running.activity, running.synced) = (source, false));
        let other = other.with(|report| report.data = Data::Unreadable);
        let decision = at_time(&trio(other, fetches(), stopped(0, 0)), 60);
        assert!(idle(&decision), "{source:?}: {:?}", orders(&decision));
    }
    let mut knows = trio(fetches(), fetches(), stopped(0, 5));
    knows.lose_stream("a");
    assert!(idle(&at_time(&knows, 60)), "one that is not heard may run");
}
