//! Tests of the removal gate.

use muster_api::names::Role;

use super::super::report::Data;
use super::super::roster::Copies;
use super::super::testing::{
    ask_again, at, empty, fence, now_says, observed, roster, running, stopped, terms, wanted,
};
use super::*;

const ABC: &[&str] = &["a", "b", "c"];

fn primary() -> Report {
    running(1, Role::Primary, 5)
}

fn secondary(sequence: u64) -> Report {
    running(1, Role::Secondary, sequence)
}

fn engine(copies: Copies) -> Engine {
    wanted(ABC, copies).engine
}

fn step_in(knows: &Observed, names: &Roster, copies: Copies, member: &str) -> Step {
    let primary = knows.report_of("a").unwrap();
    next_step(knows, names, &engine(copies), member, ("a", primary))
}

/// c leaves {a, b, c}, in which a serves.
fn step(c: Report) -> Step {
    let knows = observed(&roster(ABC), vec![("a", primary()), ("b", secondary(5)), ("c", c)]);
    step_in(&knows, &roster(ABC), Copies::Majority, "c")
}

fn evacuated(report: Report) -> Report {
    report.with(|report| report.evacuated = true)
}

#[test]
fn the_steps_are_taken_one_after_the_other() {
    assert_eq!(step(secondary(5)), Step::Leave);
    assert_eq!(step(evacuated(secondary(5))), Step::Stop);
    assert_eq!(step(evacuated(stopped(1, 5))), Step::MarkLeft);
    assert_eq!(step(evacuated(stopped(1, 5)).with_held(|held| held.left = true)), Step::ShrinkRoster);
}

#[test]
fn no_step_is_taken_before_all_that_come_first() {
    // Every combination of what may have happened: the step is always the first that has not.
    for done in 0..32_u8 {
        let [left_done, stop_done, copied, marked, dropped] = [1, 2, 4, 8, 16].map(|bit: u8| done & bit != 0);
        let c = if stop_done { stopped(1, 5) } else { secondary(5) }
            .with(|report| report.evacuated = left_done)
            .with_held(|held| held.left = marked);
        let b = secondary(if copied { 5 } else { 4 });
        let mut names = roster(ABC);
        if dropped {
            names = names.without("c").issue(names.version);
        }
        let knows = observed(&names, vec![("a", primary()), ("b", b), ("c", c)]);
        let expected = match (dropped, left_done, stop_done, copied, marked) {
            (true, ..) => Step::AwaitRoster,
            (_, false, ..) => Step::Leave,
            (_, _, false, ..) => Step::Stop,
            (_, _, _, false, _) => Step::AwaitCopies,
            (.., false) => Step::MarkLeft,
            _ => Step::ShrinkRoster,
        };
        assert_eq!(step_in(&knows, &names, Copies::Majority, "c"), expected, "{done:05b}");
    }
}

#[test]
fn the_pod_goes_when_the_roster_without_it_is_settled_and_nothing_runs() {
    let released = |c: Report| {
        let names = roster(&["a", "b"]);
        let knows = observed(&names, vec![("a", primary()), ("b", secondary(5)), ("c", c)]);
        step_in(&knows, &names, Copies::Majority, "c")
    };
    assert_eq!(released(stopped(1, 5)), Step::Release);
    assert_eq!(released(empty(1)), Step::Release, "one that never took part");
    assert_eq!(released(secondary(5)), Step::Stop);
    let unknown = stopped(1, 5).with(|report| report.application = Application::Unknown);
    assert_eq!(released(unknown), Step::Stop);
}

#[test]
fn who_is_not_heard_does_not_leave() {
    let mut knows =
        observed(&roster(ABC), vec![("a", primary()), ("b", secondary(5)), ("c", evacuated(stopped(1, 5)))]);
    fence(&mut knows, &["c"]);
    assert_eq!(step_in(&knows, &roster(ABC), Copies::Majority, "c"), Step::Unheard);
    assert_eq!(step_in(&knows, &roster(&["a", "b"]), Copies::Majority, "c"), Step::Unheard);
}

#[test]
fn an_agent_that_does_not_know_what_runs_has_confirmed_no_stop() {
    let unknown = evacuated(stopped(1, 5)).with(|report| report.application = Application::Unknown);
    assert_eq!(step(unknown), Step::Stop);
}

#[test]
fn an_empty_volume_needs_no_mark() {
    assert_eq!(step(evacuated(empty(1))), Step::ShrinkRoster);
}

#[test]
fn the_primary_is_switched_over_first_and_stays_if_nobody_could_take_over() {
    let step = |b: Report| {
        let knows = observed(&roster(&["a", "b"]), vec![("a", evacuated(primary())), ("b", b)]);
        step_in(&knows, &roster(&["a", "b"]), Copies::Majority, "a")
    };
    assert_eq!(step(secondary(5)), Step::SwitchOver);
    assert_eq!(step(secondary(5).with_running(|running| running.synced = false)), Step::LastHolder);
    assert_eq!(step(stopped(1, 5)), Step::LastHolder);
    assert_eq!(step(secondary(5).with(|report| report.volume = "another disk".into())), Step::LastHolder);
    let mut newcomer = roster(&["a", "b"]);
    newcomer.entries[1].voter = false;
    let knows = observed(&newcomer, vec![("a", primary()), ("b", secondary(5))]);
    assert_eq!(step_in(&knows, &newcomer, Copies::Majority, "a"), Step::LastHolder, "b does not vote");
    let alone = observed(&roster(&["a"]), vec![("a", primary())]);
    assert_eq!(step_in(&alone, &roster(&["a"]), Copies::Majority, "a"), Step::LastHolder);
}

#[test]
fn software_that_elects_by_itself_needs_no_switchover() {
    let knows = observed(&roster(&["a", "b"]), vec![("a", primary()), ("b", secondary(5))]);
    let engine = Engine { elects: true, ..engine(Copies::Majority) };
    let report = knows.report_of("a").unwrap();
    assert_eq!(next_step(&knows, &roster(&["a", "b"]), &engine, "a", ("a", report)), Step::Leave);
}

/// Whether enough of the remaining hold what the primary holds, when the last of `others` leaves.
fn kept(copies: Copies, others: &[(&str, Report)]) -> bool {
    let mut reports = vec![("a", primary())];
    reports.extend(others.iter().cloned());
    let names: Vec<&str> = reports.iter().map(|(name, _)| *name).collect();
    let leaving = reports.len() - 1;
    reports[leaving].1 = evacuated(stopped(1, 5));
    let knows = observed(&roster(&names), reports.clone());
    step_in(&knows, &roster(&names), copies, reports[leaving].0) == Step::MarkLeft
}

#[test]
fn w_and_at_least_a_majority_of_the_remaining_must_hold_all() {
    let behind = || secondary(4);
    let there = || secondary(5);
    // Two remain: both.
    assert!(kept(Copies::Majority, &[("b", there()), ("c", there())]));
    assert!(!kept(Copies::Majority, &[("b", behind()), ("c", there())]));
    assert!(!kept(Copies::Fixed(1), &[("b", behind()), ("c", there())]), "one copy is less than a majority");
    // Three remain: two, or three where three copies are promised.
    let three = |b, c| [("b", b), ("c", c), ("d", there())];
    assert!(kept(Copies::Majority, &three(there(), behind())));
    assert!(kept(Copies::Fixed(1), &three(behind(), there())));
    assert!(!kept(Copies::Fixed(1), &three(behind(), behind())));
    assert!(!kept(Copies::Fixed(3), &three(there(), behind())));
    assert!(kept(Copies::Fixed(3), &three(there(), there())));
    // Only the primary remains: it holds what it holds.
    assert!(kept(Copies::Majority, &[("b", there())]));
}

#[test]
fn only_whole_data_of_voters_that_agrees_is_a_copy() {
    let copies = |b: Report| kept(Copies::Majority, &[("b", b), ("c", secondary(5))]);
    assert!(copies(secondary(5)) && copies(stopped(1, 5)), "it need not run");
    assert!(!copies(secondary(5).with_held(|held| held.complete = false)));
    assert!(!copies(secondary(5).with_held(|held| held.left = true)));
    assert!(!copies(secondary(5).with(|report| report.data = Data::Unreadable)));
    assert!(!copies(secondary(5).with(|report| report.volume = "another disk".into())));
    assert!(!copies(secondary(6)), "it holds something that the primary does not");
    assert!(!copies(secondary(5).with_held(|held| held.terms = terms(&[(1, 1), (2, 5)]))));
    // A member that does not vote is no copy, and none that is asked for.
    let mut newcomer = roster(ABC);
    newcomer.entries[1].voter = false;
    let knows = observed(&newcomer, vec![("a", primary()), ("b", empty(1)), ("c", evacuated(stopped(1, 5)))]);
    assert_eq!(step_in(&knows, &newcomer, Copies::Majority, "c"), Step::MarkLeft);
}

#[test]
fn what_the_primary_held_is_read_after_the_stop() {
    let reports = vec![("a", primary()), ("b", secondary(5)), ("c", evacuated(secondary(5)))];
    let mut knows = observed(&roster(ABC), reports);
    let step = |knows: &Observed| step_in(knows, &roster(ABC), Copies::Majority, "c");
    now_says(&mut knows, "c", |report| report.with(|report| report.application = Application::Stopped));
    assert_eq!(step(&knows), Step::AwaitCopies, "the last reading is from before the stop");
    now_says(&mut knows, "a", |report| report.with_held(|held| held.sequence = 6));
    assert_eq!(step(&knows), Step::AwaitCopies, "b has not got 6");
    now_says(&mut knows, "b", |report| report.with_held(|held| held.sequence = 6));
    assert_eq!(step(&knows), Step::MarkLeft);
    now_says(&mut knows, "a", |report| report.with_held(|held| held.sequence = 9));
    assert_eq!(step(&knows), Step::MarkLeft, "what came later was never the leaving member's");
    fence(&mut knows, &["x"]);
    ask_again(&mut knows, at(1));
    assert_eq!(step(&knows), Step::AwaitCopies, "after any change it is read again");
}

#[test]
fn where_nobody_counts_or_the_primary_cannot_say_what_it_holds_nothing_is_kept() {
    let knows = observed(&roster(&["a"]), vec![("a", primary())]);
    let report = knows.report_of("a").unwrap();
    assert!(!hold_enough(&knows, &[], Copies::Majority, 0, report));
    let names = roster(&["a"]);
    let voters: Vec<&Entry> = names.voters().collect();
    assert!(hold_enough(&knows, &voters, Copies::Majority, 5, report));
    let unreadable = primary().with(|report| report.data = Data::Unreadable);
    assert!(!hold_enough(&knows, &voters, Copies::Majority, 0, &unreadable));
}
