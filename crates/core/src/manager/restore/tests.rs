//! Tests of `restoreReplicas`.

use muster_api::names::Role;

use super::super::observed::Observed;
use super::super::report::{Activity, Report};
use super::super::roster::{Copies, Roster};
use super::super::testing::{observed, roster, running, stopped, wanted};
use super::*;

#[test]
fn only_a_value_that_muster_did_not_write_is_a_persons() {
    assert_eq!(Source::of(Some(3), Some(&[2, 3])), Source::Muster(3));
    assert_eq!(Source::of(Some(2), Some(&[2, 3])), Source::Muster(2));
    assert_eq!(Source::of(Some(4), Some(&[2, 3])), Source::Person(4));
    assert_eq!(Source::of(Some(1), Some(&[])), Source::Person(1));
    assert_eq!(Source::of(Some(1), None), Source::NotKnownYet, "no agent has said what Muster wrote");
    assert_eq!(Source::Person(4).persons(), Some(4));
    assert_eq!([Source::Muster(3).persons(), Source::Nobody.persons()], [None, None]);
}

#[test]
fn zero_absent_and_nonsense_are_nobodys_value() {
    for stored in [None, Some(0), Some(-1), Some(i64::MIN)] {
        assert_eq!(Source::of(stored, Some(&[0, 3])), Source::Nobody, "{stored:?}");
    }
}

fn secondary() -> Report {
    running(1, Role::Secondary, 3)
}

fn trio(third: Report) -> Observed {
    let reports = vec![("a", running(1, Role::Primary, 3)), ("b", secondary()), ("c", third)];
    observed(&roster(&["a", "b", "c"]), reports)
}

fn recorded(knows: &Observed, change: impl FnOnce(&mut Wanted, &mut Roster)) -> Option<usize> {
    let mut wishes = wanted(&["a", "b", "c"], Copies::Majority);
    let mut names = roster(&["a", "b", "c"]);
    change(&mut wishes, &mut names);
    to_record(knows, &wishes, &names)
}

#[test]
fn the_count_is_recorded_when_exactly_the_wanted_members_are_joined() {
    assert_eq!(recorded(&trio(secondary()), |_, _| {}), Some(3));
    let behind = secondary().with_running(|running| running.synced = false);
    assert_eq!(recorded(&trio(behind), |_, _| {}), None, "one has not caught up");
    assert_eq!(recorded(&trio(stopped(1, 3)), |_, _| {}), None, "one does not run");
    let mut unheard = trio(secondary());
    unheard.lose_stream("c");
    assert_eq!(recorded(&unheard, |_, _| {}), None, "one is not heard");
    let whole = trio(secondary());
    let fewer_wanted = |wishes: &mut Wanted, _: &mut Roster| _ = wishes.members.remove("c");
    assert_eq!(recorded(&whole, fewer_wanted), None, "the roster has more than are wanted");
    let fewer_known = |_: &mut Wanted, names: &mut Roster| _ = names.entries.pop();
    assert_eq!(recorded(&whole, fewer_known), None, "one is not in the roster");
    let stranger = |_: &mut Wanted, names: &mut Roster| names.entries[2].member = "d".into();
    assert_eq!(recorded(&whole, stranger), None, "the roster has another instead");
}

#[test]
fn the_count_is_not_recorded_while_someone_leaves_or_the_roster_is_in_between() {
    let whole = trio(secondary());
    let leaving = |wishes: &mut Wanted, _: &mut Roster| wishes.members.get_mut("c").unwrap().leaving = true;
    assert_eq!(recorded(&whole, leaving), None);
    let between = |_: &mut Wanted, names: &mut Roster| names.before = Some(names.entries.clone());
    assert_eq!(recorded(&whole, between), None);
}

#[test]
fn the_count_is_not_recorded_while_nobody_serves_or_all_is_parked() {
    let whole = trio(secondary());
    assert_eq!(recorded(&whole, |wishes, _| wishes.parked = true), None);
    let reports = vec![("a", secondary()), ("b", secondary()), ("c", secondary())];
    assert_eq!(recorded(&observed(&roster(&["a", "b", "c"]), reports), |_, _| {}), None);
    let starting = running(1, Role::Primary, 3).with_running(|running| running.activity = Activity::Starting);
    let reports = vec![("a", starting), ("b", secondary()), ("c", secondary())];
    assert_eq!(recorded(&observed(&roster(&["a", "b", "c"]), reports), |_, _| {}), None);
}

#[test]
fn one_is_recorded_and_zero_never() {
    let knows = observed(&roster(&["a"]), vec![("a", running(1, Role::Primary, 3))]);
    assert_eq!(to_record(&knows, &wanted(&["a"], Copies::Majority), &roster(&["a"])), Some(1));
    let nobody = wanted(&[], Copies::Majority);
    assert_eq!(to_record(&knows, &nobody, &roster(&[])), None);
    assert_eq!(to_record(&knows, &nobody, &roster(&["a"])), None);
}
