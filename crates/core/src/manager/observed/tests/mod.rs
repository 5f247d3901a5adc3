//! Tests of what is known.

mod beliefs;

use muster_api::names::Role;

use super::super::command::{Action, Answer};
use super::super::fencing::{FenceKind, Standing};
use super::super::report::{Activity, Application, Instance, Report};
use super::super::stamp::Stamp;
use super::super::testing::{EPOCH, at, observed, roster, running, stopped, wanted};
use super::*;
use crate::manager::roster::Copies;

const PERSON: FenceKind = FenceKind::Person;

fn next(report: &Report) -> Report {
    report.clone().with(|report| report.serial += 1)
}

/// How far the round moves when `second` follows `first`.
fn moved(first: &Report, second: Report) -> u64 {
    let mut observed = Observed::new(EPOCH);
    observed.take_report("a", first.clone(), at(0));
    let before = observed.round;
    observed.take_report("a", second.with(|report| report.serial = first.serial + 1), at(1));
    observed.round - before
}

#[test]
fn a_late_report_of_the_same_run_is_dropped() {
    let mut observed = Observed::new(EPOCH);
    let newer = stopped(1, 7).with(|report| report.serial = 5);
    observed.take_report("a", newer.clone(), at(0));
    for serial in [4, 5] {
        observed.take_report("a", stopped(1, 3).with(|report| report.serial = serial), at(1));
        assert_eq!(observed.members["a"].report.as_ref(), Some(&newer));
    }
    observed.take_report("a", stopped(1, 3).with(|report| report.instance = Instance(2)), at(1));
    assert_eq!(
        observed.members["a"].report.as_ref().and_then(|r| r.held()).map(|held| held.sequence),
        Some(3)
    );
}

#[test]
fn the_round_moves_with_accounting_and_with_nothing_else() {
    let primary = running(1, Role::Primary, 3);
    let secondary = running(1, Role::Secondary, 3);
    assert_eq!(moved(&secondary, running(1, Role::Secondary, 9)), 0, "a sequence");
    assert_eq!(moved(&secondary, running(1, Role::Primary, 3)), 0, "a role gained");
    assert_eq!(moved(&stopped(1, 3), stopped(1, 3)), 0, "nothing");
    assert_eq!(moved(&stopped(1, 3), secondary.clone()), 0, "a start");
    assert_eq!(moved(&primary, secondary.clone()), 1, "a role left");
    assert_eq!(moved(&primary, stopped(1, 3)), 1, "a stop");
    assert_eq!(moved(&secondary, stopped(1, 3)), 1, "a stop");
    assert_eq!(
        moved(&secondary, secondary.clone().with(|report| report.instance = Instance(9))),
        1,
        "a new run"
    );
    let foreign = secondary.clone().with(|report| report.epoch = EPOCH - 1);
    assert_eq!(moved(&foreign, secondary.clone()), 1, "the first report under this epoch");
    let unknown = secondary.clone().with(|report| report.application = Application::Unknown);
    assert_eq!(moved(&unknown, secondary), 1, "what it does became known");
}

#[test]
fn the_first_report_moves_the_round_and_has_to_be_asked_again() {
    let mut observed = Observed::new(EPOCH);
    observed.take_report("a", stopped(1, 3), at(0));
    assert_eq!(observed.round, 2);
    assert_eq!(observed.standing("a"), Standing::Stale);
    observed.take_report("a", next(&stopped(2, 3)), at(0));
    assert_eq!(observed.standing("a"), Standing::Reporting);
    // A line of the stream answers nobody, and takes nothing back.
    observed.take_report("a", stopped(0, 3).with(|report| report.serial = 3), at(0));
    assert_eq!(observed.standing("a"), Standing::Reporting);
}

#[test]
fn a_lost_stream_proves_nothing_unless_the_stop_was_just_confirmed() {
    let names = roster(&["a", "b", "c"]);
    let mut knows = observed(
        &names,
        vec![("a", running(1, Role::Secondary, 3)), ("b", stopped(1, 3)), ("c", stopped(1, 3))],
    );
    knows.note_sent("c", Stamp::new(EPOCH, 2), Instance(1), &Action::Lead, at(0));
    for name in ["a", "b", "c"] {
        knows.lose_stream(name);
    }
    assert_eq!(knows.standing("a"), Standing::Silent { expired: false });
    assert_eq!(knows.standing("b"), Standing::Fenced(FenceKind::StopConfirmed));
    assert_eq!(knows.standing("c"), Standing::Unanswered);
    // What was confirmed in an earlier round is no proof in this one.
    let mut later = observed(&names, vec![("b", stopped(1, 3))]);
    later.take_report("a", stopped(1, 3), at(0));
    later.lose_stream("b");
    assert_eq!(later.standing("b"), Standing::Silent { expired: false });
}

#[test]
fn a_stream_that_was_lost_before_confirms_nothing() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.members.get_mut("a").unwrap().connected = false;
    knows.lose_stream("a");
    assert_eq!(knows.standing("a"), Standing::Silent { expired: false });
    let mut foreign =
        observed(&roster(&["a"]), vec![("a", stopped(1, 3).with(|report| report.epoch = EPOCH - 1))]);
    foreign.lose_stream("a");
    assert_eq!(foreign.standing("a"), Standing::Silent { expired: false });
}

#[test]
fn fences_given_together_are_one_change_and_a_later_change_voids_them() {
    let mut knows = observed(&roster(&["a", "b", "c"]), vec![("c", running(1, Role::Secondary, 3))]);
    let before = knows.round;
    knows.take_fences([("a", PERSON), ("b", PERSON)]);
    assert_eq!(knows.round, before + 1);
    assert_eq!([knows.standing("a"), knows.standing("b")], [Standing::Fenced(PERSON); 2]);
    assert_eq!(knows.standing("c"), Standing::Stale);
    knows.take_fences([("b", PERSON)]);
    assert_eq!(knows.standing("a"), Standing::Silent { expired: true });
    assert_eq!(knows.standing("b"), Standing::Fenced(PERSON));
}

#[test]
fn a_proof_that_is_seen_again_is_renewed_without_a_change() {
    let mut knows = observed(&roster(&["a", "b"]), vec![("a", stopped(1, 3)), ("b", stopped(1, 3))]);
    knows.take_fences([("a", FenceKind::Terminated)]);
    knows.take_fences([("b", PERSON)]);
    assert_eq!(knows.standing("a"), Standing::Silent { expired: true });
    let round = knows.round;
    knows.take_fences([("a", FenceKind::Terminated)]);
    assert_eq!(knows.round, round);
    assert_eq!(knows.standing("a"), Standing::Fenced(FenceKind::Terminated));
    // Another kind of proof is a change.
    knows.take_fences([("a", FenceKind::OutOfService)]);
    assert_eq!(knows.round, round + 1);
}

#[test]
fn a_fence_is_void_when_it_is_lifted_or_the_member_is_heard() {
    let mut knows = observed(&roster(&["a"]), vec![]);
    knows.take_fences([("a", PERSON)]);
    let round = knows.round;
    knows.take_report("a", stopped(round, 3), at(0));
    assert_eq!(knows.round, round + 1);
    assert_eq!(knows.standing("a"), Standing::Stale);
    knows.take_fences([("a", FenceKind::Terminated)]);
    let round = knows.round;
    knows.lift_fence("a");
    assert_eq!(knows.round, round + 1);
    knows.lift_fence("a");
    assert_eq!(knows.round, round + 1, "there was none to lift");
}

#[test]
fn an_answer_is_not_enough_a_report_settles_a_command() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    let stamp = Stamp::new(EPOCH, 4);
    knows.note_sent("a", stamp, Instance(1), &Action::Lead, at(0));
    knows.note_answer("a", Answer { stamp: Stamp::new(EPOCH, 3), succeeded: true }, at(0));
    assert!(knows.members["a"].pending.is_some(), "an earlier command's answer");
    knows.note_answer("a", Answer { stamp, succeeded: true }, at(0));
    assert!(knows.members["a"].pending.is_some(), "the last report is of a time before it");
    assert_eq!(knows.standing("a"), Standing::Unanswered);
    let shows_it = running(knows.round, Role::Primary, 3).obeyed(4, true).with(|report| report.serial = 9);
    knows.take_report("a", shows_it, at(1));
    assert_eq!(knows.standing("a"), Standing::Reporting);
    assert!(knows.members["a"].pending.is_none());
}

#[test]
fn a_command_that_failed_is_one_failure_however_often_it_is_told() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::TakeRoster, at(0));
    knows.note_answer("a", Answer { stamp: Stamp::new(EPOCH, 4), succeeded: false }, at(0));
    knows.take_report("a", stopped(0, 3).obeyed(4, false).with(|report| report.serial = 9), at(1));
    assert_eq!((knows.members["a"].refusals.count, knows.members["a"].pending), (1, None));
}

#[test]
fn a_report_of_before_the_start_settles_nothing() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Lead, at(0));
    knows.take_report("a", stopped(knows.round, 3).obeyed(3, true).with(|report| report.serial = 9), at(1));
    assert_eq!(knows.standing("a"), Standing::Unanswered);
    assert!(knows.members["a"].pending.is_some());
}

#[test]
fn a_later_stop_settles_a_start_and_so_does_a_new_run_or_a_refusal() {
    let unanswered = || {
        let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
        knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Lead, at(0));
        knows
    };
    let mut stopped_later = unanswered();
    stopped_later.take_report("a", stopped(0, 3).obeyed(5, true).with(|report| report.serial = 9), at(1));
    assert!(stopped_later.members["a"].unanswered_start.is_none());
    let mut new_run = unanswered();
    new_run.take_report("a", stopped(0, 3).with(|report| report.instance = Instance(2)), at(1));
    assert!(new_run.members["a"].unanswered_start.is_none());
    let mut refused = unanswered();
    refused.note_refusal("a", Stamp::new(EPOCH, 3), at(0));
    assert_eq!(refused.standing("a"), Standing::Unanswered, "another command's refusal");
    refused.note_refusal("a", Stamp::new(EPOCH, 4), at(0));
    assert_eq!(refused.standing("a"), Standing::Reporting);
    assert_eq!(refused.trial, None);
}

#[test]
fn what_was_sent_stays_sent_through_a_pause() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.issued = Some(roster(&["a"]));
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Lead, at(0));
    let round = knows.round;
    let resumed = knows.resumed();
    assert!(resumed.members["a"].report.is_none() && !resumed.members["a"].connected);
    assert!(resumed.members["a"].unanswered_start.is_some() && resumed.members["a"].pending.is_some());
    assert_eq!((resumed.round, resumed.epoch), (round + 1, EPOCH));
    assert!(resumed.issued.is_some());
}

#[test]
fn a_trial_fails_by_a_stop_or_a_refusal_and_succeeds_by_serving() {
    let tried = |action: &Action| {
        let mut knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Secondary, 3))]);
        knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), action, at(0));
        knows
    };
    let outcome = |report: Report| {
        let mut knows = tried(&Action::Promote);
        knows.take_report("a", report.with(|report| report.serial = 9), at(7));
        (knows.trial.is_some(), knows.failed_seeds.members.contains("a"))
    };
    assert_eq!(outcome(stopped(0, 3).obeyed(4, true)), (false, true), "stopped after it obeyed");
    assert_eq!(outcome(stopped(0, 3).obeyed(3, true)), (true, false), "stopped before it heard of it");
    assert_eq!(
        outcome(running(0, Role::Secondary, 3).obeyed(4, false)),
        (false, true),
        "the engine could not"
    );
    assert_eq!(
        outcome(running(0, Role::Secondary, 3).obeyed(5, false)),
        (true, false),
        "something else failed"
    );
    assert_eq!(outcome(running(0, Role::Primary, 3).obeyed(4, true)), (false, false), "it serves");
    let starting = |running: &mut Running| running.activity = Activity::Starting;
    assert_eq!(outcome(running(0, Role::Primary, 3).obeyed(4, true).with_running(starting)), (true, false));
    let other_run = stopped(0, 3).with(|report| report.instance = Instance(2));
    assert_eq!(outcome(other_run), (false, true), "its agent started anew and nothing runs");
    assert_eq!(tried(&Action::Stop).trial, None);
    let mut bystander = tried(&Action::Promote);
    bystander.take_report("b", stopped(0, 3).obeyed(4, true), at(7));
    assert!(bystander.trial.is_some() && bystander.failed_seeds.members.is_empty());
}

#[test]
fn serving_wipes_the_slate_and_time_allows_another_round() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.failed_seeds =
        FailedSeeds { members: ["a".to_owned(), "b".to_owned()].into(), attempts: 2, last: Some(at(100)) };
    assert_eq!(knows.failed_seeds.retry_at(), at(120));
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Lead, at(119));
    assert_eq!(knows.failed_seeds.members.len(), 2);
    knows.note_sent("a", Stamp::new(EPOCH, 5), Instance(1), &Action::Lead, at(120));
    assert!(knows.failed_seeds.members.is_empty(), "everyone may be tried again");
    assert_eq!(knows.failed_seeds.attempts, 2, "and the next pause is longer");
    knows.take_report(
        "a",
        running(0, Role::Primary, 3).obeyed(5, true).with(|report| report.serial = 9),
        at(121),
    );
    assert_eq!(knows.failed_seeds.attempts, 0);
    assert_eq!(FailedSeeds::default().retry_at(), jiff::Timestamp::MIN);
}

#[test]
fn pauses_double_up_to_a_bound() {
    let seconds: Vec<i64> = (0..9).map(|failures| retry_pause(failures).as_secs()).collect();
    assert_eq!(seconds, [10, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert_eq!(retry_pause(u32::MAX), MAX_RETRY_PAUSE);
}

#[test]
fn a_member_that_falls_again_and_again_rests_before_it_is_started() {
    let names = roster(&["a"]);
    let joining = || running(0, Role::Secondary, 3).with_running(|running| running.synced = false);
    let mut knows = observed(&names, vec![("a", joining())]);
    let mut serial = 10;
    let mut say = |knows: &mut Observed, report: Report, seconds| {
        serial += 1;
        knows.take_report("a", report.with(|report| report.serial = serial), at(seconds));
    };
    say(&mut knows, stopped(0, 3), 100);
    assert_eq!(knows.members["a"].rests_until(), jiff::Timestamp::MIN, "once is an accident");
    say(&mut knows, joining(), 101);
    say(&mut knows, stopped(0, 3), 102);
    assert_eq!(knows.members["a"].rests_until(), at(112));
    say(&mut knows, joining(), 112);
    say(&mut knows, joining().with(|report| report.instance = Instance(2)), 113);
    assert_eq!(knows.members["a"].rests_until(), at(133), "its agent fell with it");
    say(&mut knows, running(0, Role::Secondary, 3), 140);
    assert_eq!(knows.members["a"].rests_until(), jiff::Timestamp::MIN);
    // Told to stop is not a fall.
    say(&mut knows, joining(), 141);
    knows.note_sent("a", Stamp::new(EPOCH, 9), Instance(1), &Action::Stop, at(141));
    say(&mut knows, stopped(0, 3).obeyed(9, true), 142);
    assert_eq!(knows.members["a"].falls.count, 0);
    // Its agent may say first that it does not know yet what is left: that is the fall, and what follows is not another.
    say(&mut knows, joining(), 150);
    say(&mut knows, stopped(0, 3).with(|report| report.application = Application::Unknown), 151);
    say(&mut knows, stopped(0, 3), 152);
    assert_eq!(knows.members["a"].falls.count, 1);
}

#[test]
fn a_failed_leave_is_kept_until_it_succeeds() {
    let mut knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Secondary, 3))]);
    knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Leave, at(0));
    knows.note_answer("a", Answer { stamp: Stamp::new(EPOCH, 4), succeeded: false }, at(8));
    assert_eq!(knows.members["a"].leave_failed, Some(at(8)));
    knows.note_sent("a", Stamp::new(EPOCH, 5), Instance(1), &Action::Leave, at(9));
    let done = running(0, Role::Secondary, 3).obeyed(5, true).with(|report| report.serial = 9);
    knows.take_report("a", done, at(10));
    assert_eq!(knows.members["a"].leave_failed, None);
    knows.note_sent("a", Stamp::new(EPOCH, 6), Instance(1), &Action::Stop, at(11));
    knows.note_answer("a", Answer { stamp: Stamp::new(EPOCH, 6), succeeded: false }, at(12));
    assert_eq!(knows.members["a"].leave_failed, None, "it was no leave");
}

#[test]
fn the_floor_is_what_the_primary_first_held_in_this_round() {
    let mut knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Primary, 3))]);
    let round = knows.round;
    assert_eq!(knows.floor, Some(Floor { round, sequence: 3 }));
    knows.take_report("a", running(round, Role::Primary, 8).with(|report| report.serial = 9), at(1));
    assert_eq!(knows.floor, Some(Floor { round, sequence: 3 }));
    knows.take_report("b", stopped(0, 1), at(1));
    knows.take_report("a", running(round, Role::Primary, 9).with(|report| report.serial = 10), at(1));
    assert_eq!(knows.floor, Some(Floor { round, sequence: 3 }), "read before the change");
    knows.take_report("a", running(round + 1, Role::Primary, 9).with(|report| report.serial = 11), at(1));
    assert_eq!(knows.floor, Some(Floor { round: round + 1, sequence: 9 }));
}

#[test]
fn the_roster_floor_is_what_the_primary_first_held_under_a_roster() {
    let mut knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Primary, 3))]);
    let floor = knows.roster_floor.unwrap();
    assert_eq!((floor.version, floor.sequence), (Stamp::new(EPOCH, 1), 3));
    let counts_by = |n| move |running: &mut Running| running.roster = Some(Stamp::new(EPOCH, n));
    let mut say = |report: Report, serial| {
        knows.take_report("a", report.with(|report| report.serial = serial), at(1));
        knows.roster_floor.map(|floor| (floor.version.n, floor.sequence))
    };
    assert_eq!(say(running(0, Role::Primary, 5), 9), Some((1, 3)));
    assert_eq!(say(running(0, Role::Primary, 6).with_running(counts_by(2)), 10), Some((2, 6)));
    assert_eq!(say(running(0, Role::Primary, 7).with_running(counts_by(2)), 11), Some((2, 6)));
    assert_eq!(say(running(0, Role::Secondary, 8).with_running(counts_by(3)), 12), Some((2, 6)));
}

#[test]
fn a_later_leader_is_believed_and_a_broken_agent_is_not() {
    let ahead = |by: u64| {
        let mut knows = Observed::new(EPOCH);
        knows.take_report("a", stopped(0, 1).with(|report| report.epoch = EPOCH + by), at(0));
        knows.outranked()
    };
    assert_eq!(
        [ahead(0), ahead(1), ahead(MAX_EPOCH_LEAD), ahead(MAX_EPOCH_LEAD + 1)],
        [false, true, true, false]
    );
}

#[test]
fn only_live_reports_of_this_epoch_are_reporting() {
    let foreign = stopped(1, 1).with(|report| report.epoch = EPOCH - 1);
    let mut knows = observed(
        &roster(&["a"]),
        vec![("a", running(1, Role::Secondary, 1)), ("b", foreign), ("c", running(1, Role::Secondary, 1))],
    );
    knows.lose_stream("c");
    assert_eq!(knows.reporting().map(|(name, _)| name).collect::<Vec<_>>(), ["a"]);
    assert_eq!(knows.running().map(|(name, _, _)| name).collect::<Vec<_>>(), ["a"]);
    assert!(
        knows.report_of("b").is_none() && knows.report_of("c").is_none() && knows.report_of("d").is_none()
    );
}

#[test]
fn the_newest_roster_anyone_names_counts_even_from_the_silent() {
    let mut newer = roster(&["a", "b"]);
    newer.version = Stamp::new(EPOCH, 7);
    let mut knows = observed(
        &roster(&["a"]),
        vec![("a", stopped(1, 1)), ("b", stopped(1, 1).with(|report| report.roster = Some(newer.clone())))],
    );
    knows.lose_stream("b");
    assert_eq!(knows.roster(), Some(&newer));
    let mut issued = newer.clone();
    issued.version = Stamp::new(EPOCH, 8);
    knows.issued = Some(issued.clone());
    assert_eq!(knows.roster(), Some(&issued));
}

#[test]
fn a_roster_that_begins_anew_is_ours_whatever_was_before_it() {
    // What this cluster was about was on a disk that is gone, and a person had it formed anew.
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 1))]);
    knows.lineage = Some("exchanged".into());
    assert_eq!(knows.roster(), None);
    let mut anew = roster(&["a"]);
    anew.version = Stamp::new(EPOCH, 7);
    knows.issue(anew.clone());
    assert_eq!(knows.roster(), Some(&anew));
}

#[test]
fn serving_is_being_primary_and_able() {
    let as_primary = |activity| {
        serves_as_primary(&running(1, Role::Primary, 1).with_running(|running| running.activity = activity))
    };
    assert!(as_primary(Activity::Serving) && as_primary(Activity::Donor));
    for activity in [Activity::Starting, Activity::Joining, Activity::Isolated, Activity::Failed] {
        assert!(!as_primary(activity));
    }
    assert!(!serves_as_primary(&running(1, Role::Secondary, 1)) && !serves_as_primary(&stopped(1, 1)));
}

#[test]
fn idleness_is_counted_from_the_last_progress() {
    let mut knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Secondary, 3))]);
    let say = |knows: &mut Observed, sequence, progress, serial, seconds| {
        let report =
            running(0, Role::Secondary, sequence).with_running(|running| running.progress = progress);
        knows.take_report("a", report.with(|report| report.serial = serial), at(seconds));
        knows.idle_for("a", at(100)).as_secs()
    };
    assert_eq!(say(&mut knows, 3, 0, 9, 10), 100);
    assert_eq!(say(&mut knows, 3, 1, 10, 20), 80);
    assert_eq!(say(&mut knows, 4, 1, 11, 30), 70);
    assert_eq!(knows.idle_for("nobody", at(100)).as_secs(), 0);
}

#[test]
fn a_split_is_counted_from_when_it_was_first_seen() {
    let names = roster(&["a", "b"]);
    let wishes = wanted(&["a", "b"], Copies::Majority);
    let mut knows =
        observed(&names, vec![("a", running(1, Role::Primary, 3)), ("b", running(1, Role::Primary, 3))]);
    knows.look_around(&wishes, at(5));
    knows.look_around(&wishes, at(9));
    assert_eq!(knows.split_since, Some(at(5)));
    knows.lose_stream("b");
    knows.look_around(&wishes, at(10));
    assert_eq!(knows.split_since, None);
}

#[test]
fn the_recorded_count_is_the_one_told_last() {
    let told = |n: u64, recorded: Vec<usize>| {
        stopped(1, 1).with(|report| {
            report.recorded = recorded;
            report.recorded_at = Some(Stamp::new(EPOCH, n));
        })
    };
    let names = roster(&["a", "b", "c"]);
    // b obeyed something later, and was told of an earlier count.
    let knows = observed(
        &names,
        vec![("a", told(3, vec![2, 3])), ("b", told(2, vec![2]).obeyed(9, true)), ("c", stopped(1, 1))],
    );
    assert_eq!(knows.recorded(), Some(&[2, 3][..]));
    assert_eq!(observed(&names, vec![("c", stopped(1, 1))]).recorded(), None, "it remembers nothing");
    assert_eq!(observed(&names, vec![]).recorded(), None, "nobody can tell");
}
