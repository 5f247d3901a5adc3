//! Tests of election: whose data is read, and how many must be.

use muster_api::names::{BlockedBy, Role};

use super::super::super::report::{Data, Held, Report};
use super::super::super::roster::{Copies, Roster};
use super::super::super::testing::{empty, fence, observed, roster, running, stopped, terms, wanted};
use super::super::super::wanted::{Mark, Marks};
use super::{ABC, Observed, Outcome, blocked_by, hold, majority, winner};

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

/// An election among `voters` of whom only the first `read` have data; the others are fenced.
fn with_read(copies: Copies, voters: usize, read: usize) -> Outcome {
    let all = &FIVE[..voters];
    let mut knows = observed(&roster(all), all.iter().map(|&name| (name, stopped(1, 5))).collect());
    fence(&mut knows, &all[read..]);
    hold(&knows, &wanted(all, copies))
}

#[test]
fn as_many_are_read_as_surely_contain_every_acknowledged_write() {
    let needed = [
        (Copies::Majority, 1, 1),
        (Copies::Majority, 2, 2),
        (Copies::Majority, 3, 2),
        (Copies::Majority, 4, 3),
        (Copies::Majority, 5, 3),
        (Copies::Fixed(1), 3, 3),
        (Copies::Fixed(2), 3, 2),
        (Copies::Fixed(3), 3, 1),
        (Copies::Fixed(2), 4, 3),
        (Copies::Fixed(2), 1, 1),
        (Copies::Fixed(9), 3, 1),
    ];
    for (copies, voters, read) in needed {
        assert_eq!(winner(&with_read(copies, voters, read)), ("a", vec![]), "{copies:?} {voters}");
        let missing = blocked_by(BlockedBy::DataMissing, &FIVE[read - 1..voters]);
        let one_less = with_read(copies, voters, read - 1);
        assert_eq!(one_less, missing, "{copies:?} {voters} less one");
    }
}

/// Two voters, of whom both must be read; the second reports this.
fn second_says(report: Report) -> Outcome {
    let knows = observed(&roster(&["a", "b"]), vec![("a", stopped(1, 5)), ("b", report)]);
    hold(&knows, &wanted(&["a", "b"], Copies::Majority))
}

#[test]
fn only_whole_data_that_is_there_and_agrees_is_read() {
    assert_eq!(winner(&second_says(stopped(1, 5))), ("a", vec![]));
    let missing = blocked_by(BlockedBy::DataMissing, &["b"]);
    let changes: [fn(&mut Held); 4] = [
        |held| held.empty = true,
        |held| held.complete = false,
        |held| held.left = true,
        |held| held.terms = terms(&[(2, 1)]),
    ];
    for change in &changes[..3] {
        assert_eq!(second_says(stopped(1, 9).with_held(change)), missing, "it does not win either");
    }
    let errant = second_says(stopped(1, 3).with_held(changes[3]));
    assert_eq!(errant, blocked_by(BlockedBy::DataMissing, &["a"]), "the newer term, and nobody agrees");
    assert_eq!(second_says(stopped(1, 9).with(|report| report.data = Data::Unreadable)), missing);
    assert_eq!(second_says(empty(1)), missing);
    let exchanged = stopped(1, 9).with(|report| report.volume = "another disk".into());
    assert_eq!(second_says(exchanged), missing);
}

/// One that was started beside a primary that had all it had, and whose copy of everything was cut off.
fn cut_off() -> Report {
    stopped(1, 0).with_held(|held| held.empty = true).with(|report| report.covered = true)
}

#[test]
fn a_voter_whose_copy_was_cut_off_need_not_be_read_where_all_others_are() {
    let among = |copies, others: &[Report], last: Report| {
        let reports = FIVE.iter().copied().zip(others.iter().cloned().chain([last]));
        let names = &FIVE[..=others.len()];
        hold(&observed(&roster(names), reports.collect()), &wanted(names, copies))
    };
    let (whole, lost) = (stopped(1, 5), stopped(1, 9).with(|report| report.data = Data::Unreadable));
    for copies in [Copies::Fixed(1), Copies::Fixed(2), Copies::Majority] {
        let winner_is_a = |outcome: &Outcome| winner(outcome) == ("a", vec![]);
        assert!(winner_is_a(&among(copies, &[whole.clone(), whole.clone()], cut_off())), "{copies:?}");
        let one_less = among(copies, &[whole.clone(), lost.clone()], cut_off());
        assert_eq!(one_less, blocked_by(BlockedBy::DataMissing, &["b"]), "{copies:?}");
    }
    // Half a copy says so itself.
    let half = cut_off().with_held(|held| (held.empty, held.complete) = (false, false));
    assert_eq!(winner(&among(Copies::Fixed(1), &[whole.clone(), whole.clone()], half)), ("a", vec![]));
}

#[test]
fn whose_data_may_be_there_is_missed_whatever_it_was_started_beside() {
    let changes: [fn(&mut Report); 4] = [
        |report| report.covered = false,
        |report| report.data = Data::Unreadable,
        |report| report.application = running(1, Role::Secondary, 0).application,
        |report| report.volume = "another disk".into(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let outcome = second_says(cut_off().with(change));
        assert_eq!(outcome, blocked_by(BlockedBy::DataMissing, &["b"]), "change {number}");
    }
    let left = second_says(cut_off().with_held(|held| held.left = true));
    assert_eq!(left, blocked_by(BlockedBy::DataMissing, &["b"]));
    let knows = observed(&roster(&["a", "b"]), vec![("a", cut_off()), ("b", cut_off())]);
    let nobody = hold(&knows, &wanted(&["a", "b"], Copies::Fixed(1)));
    assert_eq!(nobody, blocked_by(BlockedBy::DataMissing, &["a", "b"]), "someone has to have it");
}

#[test]
fn data_counts_by_its_volume_whoever_reports_it() {
    let moved = stopped(1, 9).with(|report| report.volume = "b".into());
    let mut knows = observed(&roster(&["a", "b"]), vec![("a", stopped(1, 5)), ("x", moved)]);
    fence(&mut knows, &["b"]);
    assert_eq!(winner(&hold(&knows, &wanted(&["a", "b"], Copies::Majority))), ("x", vec![]));
}

#[test]
fn who_does_not_vote_is_neither_counted_nor_elected() {
    let mut grown = roster(ABC);
    grown.entries[1].voter = false;
    grown.entries[2].voter = false;
    let reports = vec![("a", stopped(1, 5)), ("b", stopped(1, 9)), ("c", empty(1))];
    assert_eq!(winner(&hold(&observed(&grown, reports), &majority())), ("a", vec![]));
}

fn grown() -> Roster {
    let mut grown = roster(&["a", "b", "c", "d"]);
    grown.before = Some(roster(ABC).entries);
    grown
}

/// All four hold the same, but these are fenced.
fn without(names: &Roster, gone: &[&str]) -> Observed {
    let reports = ["a", "b", "c", "d"].map(|name| (name, stopped(1, 5)));
    let mut knows = observed(names, reports.into());
    fence(&mut knows, gone);
    knows
}

#[test]
fn until_a_roster_is_settled_both_must_be_read() {
    let wishes = wanted(&["a", "b", "c", "d"], Copies::Majority);
    assert_eq!(winner(&hold(&without(&grown(), &["c"]), &wishes)), ("a", vec![]));
    let fewer_now = hold(&without(&grown(), &["c", "d"]), &wishes);
    assert_eq!(fewer_now, blocked_by(BlockedBy::DataMissing, &["c", "d"]), "2 of 3, but only 2 of 4");
    let mut shrunk = roster(&["a", "d"]);
    shrunk.before = Some(roster(ABC).entries);
    let fewer_before = hold(&without(&shrunk, &["b", "c"]), &wishes);
    assert!(
        matches!(&fewer_before, Outcome::Blocked(obstacle) if obstacle.by == BlockedBy::DataMissing),
        "2 of 2, but only 1 of 3 before: {fewer_before:?}"
    );
    assert_eq!(winner(&hold(&without(&shrunk, &["c"]), &wishes)), ("a", vec![]));
}

/// The disk of c was lost while the others served, and its new one was filled and votes.
fn exchanged() -> Roster {
    let mut exchanged = roster(ABC);
    exchanged.before = Some(roster(ABC).entries);
    exchanged.entries[2].volume = "another disk".into();
    exchanged
}

#[test]
fn a_disk_that_was_exchanged_for_a_filled_one_is_not_waited_for() {
    let reports = || {
        let new = stopped(1, 5).with(|report| report.volume = "another disk".into());
        vec![("a", stopped(1, 5)), ("b", stopped(1, 5)), ("c", new)]
    };
    for copies in [Copies::Majority, Copies::Fixed(1), Copies::Fixed(2)] {
        let knows = observed(&exchanged(), reports());
        assert_eq!(winner(&hold(&knows, &wanted(ABC, copies))), ("a", vec![]), "{copies:?}");
    }
    let without = |gone, roster: &Roster, copies| {
        let mut lost = observed(roster, reports());
        fence(&mut lost, &[gone]);
        hold(&lost, &wanted(ABC, copies))
    };
    let one = Copies::Fixed(1);
    assert_eq!(
        without("c", &exchanged(), one),
        blocked_by(BlockedBy::DataMissing, &["c"]),
        "read as any other"
    );
    let missing = blocked_by(BlockedBy::DataMissing, &["b", "c"]);
    assert_eq!(without("b", &exchanged(), Copies::Fixed(2)), missing, "a copy of b's may be on the old disk");
    let mut unfilled = exchanged();
    unfilled.entries[2].voter = false;
    let knows = observed(&unfilled, reports());
    let missing = blocked_by(BlockedBy::DataMissing, &["c"]);
    assert_eq!(hold(&knows, &wanted(ABC, one)), missing, "it may lack what the old one had");
}

#[test]
fn a_seed_that_formed_the_cluster_and_died_is_all_there_is() {
    let alone = roster(&["a"]);
    let unserved = |roster: &Roster| {
        let reports = vec![("a", stopped(1, 0).with_held(|held| held.complete = false)), ("b", empty(1))];
        observed(roster, reports)
    };
    let mut wishes = wanted(&["a", "b"], Copies::Majority);
    let missing = blocked_by(BlockedBy::DataMissing, &["a"]);
    assert_eq!(hold(&unserved(&alone), &wishes), missing, "nothing says that it began here");
    wishes.formed =
        Marks { found: [Mark { member: "a".into(), volume: "a".into() }].into(), some_unmarked: false };
    assert_eq!(winner(&hold(&unserved(&alone), &wishes)), ("a", vec![]));
    let two = hold(&unserved(&roster(&["a", "b"])), &wishes);
    assert_eq!(two, blocked_by(BlockedBy::DataMissing, &["a", "b"]), "b may have been started");
}

#[test]
fn where_nothing_can_be_read_nothing_is_elected_even_if_loss_is_allowed() {
    let mut wishes = majority();
    wishes.allow_loss = true;
    let nothing = observed(&roster(ABC), ABC.iter().map(|&name| (name, empty(1))).collect());
    assert_eq!(hold(&nothing, &wishes), blocked_by(BlockedBy::DataMissing, ABC));
}

#[test]
fn a_loss_that_is_allowed_is_named() {
    let mut knows = observed(&roster(ABC), ABC.iter().map(|&name| (name, stopped(1, 5))).collect());
    fence(&mut knows, &["b", "c"]);
    let mut wishes = majority();
    wishes.allow_loss = true;
    assert_eq!(winner(&hold(&knows, &wishes)), ("a", vec!["b", "c"]));
    let mut one_gone = observed(&roster(ABC), ABC.iter().map(|&name| (name, stopped(1, 5))).collect());
    fence(&mut one_gone, &["c"]);
    assert_eq!(winner(&hold(&one_gone, &wishes)), ("a", vec![]), "nothing is lost: nobody is warned");
}

#[test]
fn a_count_of_a_person_gives_up_data_down_to_it() {
    let restored = |count| {
        let reports = FIVE.iter().map(|&name| (name, stopped(1, 5))).collect();
        let mut knows = observed(&roster(&FIVE), reports);
        fence(&mut knows, &["c", "d", "e"]);
        let mut wishes = wanted(&FIVE, Copies::Majority);
        wishes.restore = Some(count);
        hold(&knows, &wishes)
    };
    assert_eq!(winner(&restored(1)), ("a", vec!["c", "d", "e"]));
    assert_eq!(winner(&restored(2)), ("a", vec!["c", "d", "e"]));
    assert_eq!(restored(3), blocked_by(BlockedBy::DataMissing, &["c", "d", "e"]));
    assert_eq!(restored(5), blocked_by(BlockedBy::DataMissing, &["c", "d", "e"]));
    assert_eq!(restored(6), blocked_by(BlockedBy::RestoreReplicas, &[]));
}

#[test]
fn a_higher_count_of_a_person_blocks_until_so_many_are_configured() {
    let reports = || ABC.iter().map(|&name| (name, stopped(1, 5))).collect();
    let mut wishes = majority();
    wishes.restore = Some(3);
    assert_eq!(winner(&hold(&observed(&roster(ABC), reports()), &wishes)), ("a", vec![]));
    wishes.members.get_mut("c").unwrap().leaving = true;
    let blocked = hold(&observed(&roster(ABC), reports()), &wishes);
    assert_eq!(blocked, blocked_by(BlockedBy::RestoreReplicas, &[]), "who leaves is not configured");
}
