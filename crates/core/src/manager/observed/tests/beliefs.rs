//! Tests of what is believed: rosters, proofs and requests, and how far each reaches.

use super::super::super::command::Action;
use super::super::super::fencing::{FenceKind, Proof, Standing};
use super::super::super::report::{Data, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::roster::{Copies, Roster};
use super::super::super::stamp::Stamp;
use super::super::super::testing::{EPOCH, at, observed, roster, stopped, wanted};
use super::super::super::wanted::Mark;
use super::super::MAX_EPOCH_LEAD;

#[test]
fn a_roster_of_elsewhere_is_not_believed() {
    let foreign = Roster { lineage: "elsewhere".into(), version: Stamp::new(EPOCH + 9, 9), ..roster(&["x"]) };
    let names = roster(&["a", "b"]);
    let stranger = stopped(1, 1).with(|report| report.roster = Some(foreign.clone()));
    let mut knows = observed(&names, vec![("a", stopped(1, 1)), ("b", stranger)]);
    assert_eq!(knows.roster(), None, "which one is ours cannot be told");
    let mut wishes = wanted(&["a", "b"], Copies::Majority);
    wishes.formed.found.insert(Mark { member: "a".into(), volume: "origin".into() });
    knows.look_around(&wishes, at(0));
    assert_eq!(knows.roster(), Some(&names), "the mark on the claims tells");
    // A broken agent's roster is no roster.
    let broken = stopped(1, 1).with(|report| {
        report.epoch = EPOCH + MAX_EPOCH_LEAD + 1;
        report.roster = Some(Roster { version: Stamp::new(EPOCH + 99, 1), ..names.clone() });
    });
    let knows = observed(&names, vec![("a", stopped(1, 1)), ("b", broken)]);
    assert_eq!(knows.roster(), Some(&names));
}

#[test]
fn a_proof_of_another_run_is_no_proof() {
    let proof = |instance: u64| Proof {
        member: "a".into(),
        kind: FenceKind::Terminated,
        instance: Some(Instance(instance)),
        evidence: format!("container {instance}"),
    };
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    knows.take_proofs([proof(7)]);
    assert_eq!(knows.standing("a"), Standing::Reporting);
    knows.take_proofs([proof(1)]);
    assert_eq!(knows.standing("a"), Standing::Fenced(FenceKind::Terminated));
    let round = knows.round;
    knows.take_proofs([proof(1)]);
    assert_eq!(knows.round, round, "the same end of the same container");
    knows.take_proofs([Proof { evidence: "another end".into(), ..proof(1) }]);
    assert_eq!(knows.round, round + 1);
}

#[test]
fn a_request_reaches_no_further_than_what_the_person_saw() {
    let seed = || Directive::Seed { member: "a".into(), accept_data_loss: false };
    let mut knows = observed(&roster(&["a", "b"]), vec![("a", stopped(1, 3))]);
    knows.direct(seed(), at(600));
    assert_eq!(knows.void_mandate(at(599)), None);
    assert!(knows.void_mandate(at(600)).is_some(), "its time is over");
    knows.take_report("b", stopped(0, 9), at(1));
    assert!(knows.void_mandate(at(1)).is_some_and(|why| why.contains("b has reported since")));
    knows.direct(Directive::Rejoin { member: "a".into() }, at(600));
    knows.take_report("c", stopped(0, 9), at(1));
    assert_eq!(knows.void_mandate(at(1)), None, "it chooses nothing");
}

#[test]
fn data_that_can_be_read_only_later_ends_a_choice_of_a_seed() {
    let unreadable = |serial| Report { serial, data: Data::Unreadable, ..stopped(0, 0) };
    let choose = |member: &str| {
        let mut knows = observed(&roster(&["a", "b", "c"]), vec![("b", unreadable(1)), ("c", stopped(0, 3))]);
        knows.direct(Directive::Seed { member: member.into(), accept_data_loss: true }, at(600));
        knows.take_report("b", unreadable(2), at(1));
        assert_eq!(knows.void_mandate(at(1)), None, "what the person saw");
        knows
    };
    let mut knows = choose("c");
    knows.take_report("c", Report { serial: 2, ..unreadable(2) }, at(2));
    knows.take_report("c", Report { serial: 3, ..stopped(0, 3) }, at(3));
    assert_eq!(knows.void_mandate(at(3)), None, "it was read before");
    knows.take_report("b", Report { serial: 3, ..stopped(0, 9) }, at(4));
    assert!(knows.void_mandate(at(4)).is_some_and(|why| why.contains("what b holds could be read since")));
    let mut chosen = choose("b");
    chosen.take_report("b", Report { serial: 3, ..stopped(0, 9) }, at(4));
    assert_eq!(chosen.void_mandate(at(4)), None, "it was chosen whatever it holds");
    chosen.take_report("a", unreadable(1), at(5));
    assert!(chosen.void_mandate(at(5)).is_some(), "a newcomer need not be read: it was not seen at all");
}

#[test]
fn a_refused_command_makes_its_member_rest() {
    let mut knows = observed(&roster(&["a"]), vec![("a", stopped(1, 3))]);
    for n in 4..6 {
        knows.note_sent("a", Stamp::new(EPOCH, n), Instance(1), &Action::TakeRoster, at(100));
        knows.note_refusal("a", Stamp::new(EPOCH, n), at(100));
    }
    assert_eq!(knows.members["a"].rests_until(), at(110));
    knows.note_refusal("a", Stamp::new(EPOCH, 5), at(200));
    assert_eq!(knows.members["a"].rests_until(), at(110), "said twice");
}
