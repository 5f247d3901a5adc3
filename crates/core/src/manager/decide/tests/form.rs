//! Tests of rule 5.

use muster_api::names::BlockedBy;

use super::super::super::fencing::FenceKind;
use super::super::super::observed::{FailedSeeds, Observed};
use super::super::super::report::{Data, Report};
use super::super::super::requests::Directive;
use super::super::super::roster::Roster;
use super::super::super::stamp::Stamp;
use super::super::super::testing::{EPOCH, at, empty, fence, observed, roster, stopped};
use super::super::super::wanted::{Mark, Marks, Wanted};
use super::super::{Decision, Effect, Rule, decide};
use super::{ABC, blocked, idle, majority, new_roster, orders, request_ended};

/// What is known when these report, none of whom names a roster.
fn strangers(reports: Vec<(&str, Report)>) -> Observed {
    let mut knows = observed(&roster(&[]), reports);
    for seen in knows.members.values_mut() {
        seen.report.as_mut().unwrap().roster = None;
    }
    knows
}

fn all_empty() -> Observed {
    strangers(ABC.iter().map(|&name| (name, empty(0))).collect())
}

fn mark(member: &str) -> Mark {
    Mark { member: member.into(), volume: member.into() }
}

/// Marks that name these seeds, on every claim or on some only.
fn marked(members: &[&str], some_unmarked: bool) -> Wanted {
    let found = members.iter().map(|member| mark(member)).collect();
    Wanted { formed: Marks { found, some_unmarked }, ..majority() }
}

fn form(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!(decision.rule, Rule::Form);
    decision
}

/// Not formed: this is a recovery, in which nothing is ordered.
fn not_formed(knows: &Observed, wishes: &Wanted) -> Decision {
    let decision = decide(knows, wishes, at(1));
    assert_eq!((decision.rule, decision.orders.len(), &decision.roster), (Rule::Recover, 0, &None));
    decision
}

#[test]
fn the_seed_is_chosen_by_a_mark_on_every_claim_and_only_then_started() {
    let chooses = form(&all_empty(), &majority());
    assert_eq!((orders(&chooses), chooses.effects), (vec![], vec![Effect::MarkFormed(mark("a"))]));
    let half = form(&all_empty(), &marked(&["a"], true));
    assert_eq!((orders(&half), half.effects), (vec![], vec![Effect::MarkFormed(mark("a"))]));
    let starts = form(&all_empty(), &marked(&["a"], false));
    assert_eq!((orders(&starts), new_roster(&starts)), (vec!["form a".into()], Some(vec!["a".into()])));
    let change = starts.roster.unwrap();
    assert_eq!((change.entries[0].id, change.entries[0].volume.as_str()), (1, "a"));
    assert_eq!((change.next_id, change.before, starts.effects), (2, None, vec![]));
}

#[test]
fn the_mark_is_kept_to_even_if_another_comes_first_now() {
    assert_eq!(orders(&form(&all_empty(), &marked(&["b"], false))), ["form b"]);
    let half = form(&all_empty(), &marked(&["b"], true));
    assert_eq!(half.effects, [Effect::MarkFormed(mark("b"))]);
}

#[test]
fn the_lowest_ordinal_then_pool_seeds() {
    let chosen = |places: [(u32, &str); 3]| {
        let mut wishes = majority();
        for (name, (ordinal, pool)) in ABC.iter().zip(places) {
            let member = wishes.members.get_mut(*name).unwrap();
            (member.ordinal, member.pool) = (Some(ordinal), pool.into());
        }
        form(&all_empty(), &wishes).effects
    };
    assert_eq!(chosen([(1, "p"), (0, "q"), (0, "r")]), [Effect::MarkFormed(mark("b"))]);
    assert_eq!(chosen([(1, "p"), (0, "q"), (0, "p")]), [Effect::MarkFormed(mark("c"))]);
}

#[test]
fn every_configured_member_must_report_or_never_have_had_a_volume() {
    let two = || strangers(vec![("a", empty(0)), ("b", empty(0))]);
    let waits = form(&two(), &majority());
    assert_eq!(waits.waiting, ["c"]);
    assert!(idle(&waits));
    let mut wishes = majority();
    wishes.members.get_mut("c").unwrap().never_bound = true;
    assert_eq!(form(&two(), &wishes).effects, [Effect::MarkFormed(mark("a"))]);
    let mut leaving = majority();
    leaving.members.get_mut("c").unwrap().leaving = true;
    assert_eq!(form(&two(), &leaving).effects, [Effect::MarkFormed(mark("a"))], "it is not configured");
    // One that never bound cannot seed, and nobody can while none reports.
    let mut unbound = majority();
    for member in unbound.members.values_mut() {
        member.never_bound = true;
    }
    let none = form(&strangers(vec![]), &unbound);
    assert_eq!(none.waiting, ABC);
    assert!(idle(&none));
}

#[test]
fn any_data_anywhere_is_no_forming() {
    let data = [stopped(0, 5), stopped(0, 0), stopped(0, 5).with(|report| report.data = Data::Unreadable)];
    for report in data {
        let reports = vec![("a", empty(0)), ("b", empty(0)), ("c", empty(0)), ("x", report)];
        for wishes in [majority(), marked(&["a"], false)] {
            assert!(not_formed(&strangers(reports.clone()), &wishes).effects.is_empty());
        }
    }
}

#[test]
fn a_disabled_member_does_not_seed() {
    let mut wishes = majority();
    wishes.members.get_mut("a").unwrap().disabled = true;
    assert_eq!(form(&all_empty(), &wishes).effects, [Effect::MarkFormed(mark("b"))]);
    let mut chosen = marked(&["a"], false);
    chosen.members.get_mut("a").unwrap().disabled = true;
    let waits = form(&all_empty(), &chosen);
    assert_eq!(waits.blocked, blocked(BlockedBy::MemberDisabled, &["a"]));
    assert!(waits.orders.is_empty() && waits.roster.is_none());
    for member in wishes.members.values_mut() {
        member.disabled = true;
    }
    let all = form(&all_empty(), &wishes);
    assert_eq!((all.blocked, all.waiting.len()), (blocked(BlockedBy::MemberDisabled, ABC), 3));
    assert!(all.effects.is_empty());
}

#[test]
fn a_forming_seed_that_failed_waits_before_it_is_tried_again() {
    let mut knows = all_empty();
    let failed =
        |member: &str| FailedSeeds { members: [member.to_owned()].into(), attempts: 1, last: Some(at(100)) };
    knows.failed_seeds = failed("a");
    let wishes = marked(&["a"], false);
    let rests = decide(&knows, &wishes, at(109));
    assert_eq!((rests.no_seed, rests.wake), (Some(at(110)), Some(at(110))));
    assert!(idle(&rests));
    assert_eq!(orders(&decide(&knows, &wishes, at(110))), ["form a"]);
    knows.failed_seeds = failed("b");
    assert_eq!(orders(&decide(&knows, &wishes, at(109))), ["form a"], "another's failure");
}

#[test]
fn a_forming_that_was_cut_off_goes_on_with_the_same_roster() {
    let forming = Roster::forming(Stamp::new(EPOCH, 1), "a", "a");
    let cut_off = |a: Report| {
        let mut knows = strangers(vec![("a", a), ("b", empty(0)), ("c", empty(0))]);
        knows.members.get_mut("a").unwrap().report.as_mut().unwrap().roster = Some(forming.clone());
        knows
    };
    let goes_on = form(&cut_off(empty(0)), &marked(&["a"], false));
    assert_eq!((orders(&goes_on), goes_on.roster), (vec!["form a".to_owned()], None));
    // It may have served: it was complete, it lies on another volume, or the mark names another.
    let served = cut_off(empty(0).with_held(|held| held.complete = true));
    let all = blocked(BlockedBy::AllEmpty, ABC);
    let accounted = |mut knows: Observed| {
        fence(&mut knows, &[]);
        knows
    };
    for knows in [served, cut_off(empty(0).with(|report| report.volume = "another disk".into()))] {
        assert_eq!(not_formed(&accounted(knows), &marked(&["a"], false)).blocked, all);
    }
    assert_eq!(not_formed(&cut_off(empty(0)), &marked(&["b"], false)).blocked, all);
    assert_eq!(not_formed(&cut_off(empty(0)), &majority()).blocked, all);
}

#[test]
fn all_empty_but_formed_is_blocked() {
    let all = blocked(BlockedBy::AllEmpty, ABC);
    let gone = not_formed(&all_empty(), &marked(&["x"], false));
    assert_eq!((gone.blocked, gone.ask), (all.clone(), false), "the seed that was marked is gone");
    assert_eq!(not_formed(&all_empty(), &marked(&["a", "b"], false)).blocked, all, "formed twice");
    let exchanged = Wanted {
        formed: Marks {
            found: [Mark { member: "a".into(), volume: "old".into() }].into(),
            some_unmarked: false,
        },
        ..majority()
    };
    assert_eq!(not_formed(&all_empty(), &exchanged).blocked, all, "the seed has another disk now");
    let named = observed(&roster(ABC), ABC.iter().map(|&name| (name, empty(0))).collect());
    assert_eq!(not_formed(&named, &majority()).blocked, all, "a report names a roster");
}

#[test]
fn a_marked_cluster_waits_for_all_and_says_who_is_missing() {
    let two = strangers(vec![("a", empty(0)), ("b", empty(0))]);
    let missing = blocked(BlockedBy::MemberMissing, &["c"]);
    let waits = form(&two, &marked(&["a"], false));
    assert_eq!(
        (waits.waiting.as_slice(), &waits.blocked),
        (&["c".to_owned()][..], &None),
        "its seed is untouched"
    );
    assert_eq!(not_formed(&two, &marked(&["x"], false)).blocked, missing);
    let known = observed(&roster(ABC), vec![("a", empty(0)), ("b", empty(0))]);
    assert_eq!(not_formed(&known, &majority()).blocked, missing, "by the roster");
    let mut stale = all_empty();
    stale.round += 1;
    let asks = not_formed(&stale, &marked(&["x"], false));
    assert_eq!((asks.waiting.as_slice(), asks.ask), (&["a", "b", "c"].map(str::to_owned)[..], true));
    assert!(idle(&asks));
}

#[test]
fn only_a_person_who_accepts_the_loss_forms_anew() {
    let ask = |member: &str, accept_data_loss| {
        let mut knows = observed(&roster(ABC), ABC.iter().map(|&name| (name, empty(0))).collect());
        knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss });
        decide(&knows, &majority(), at(1))
    };
    let anew = ask("b", true);
    assert_eq!((anew.rule, orders(&anew)), (Rule::Recover, vec!["form b".to_owned()]));
    let change = anew.roster.unwrap();
    assert_eq!((change.entries.len(), change.entries[0].id, change.next_id), (1, 2, 4), "it keeps its id");
    assert_eq!(anew.blocked, None);
    let refused = ask("b", false);
    let why = "b holds no data that counts: it would take --accept-data-loss to start from it";
    assert_eq!(request_ended(&refused), Some(Err(why)), "nobody waits for what will not be done");
    for decision in [refused, ask("stranger", true)] {
        assert_eq!(decision.blocked, blocked(BlockedBy::AllEmpty, ABC));
        assert!(decision.orders.is_empty() && decision.roster.is_none());
    }
}

#[test]
fn nothing_is_formed_anew_beside_a_member_that_may_run() {
    let mut knows = observed(&roster(ABC), vec![("a", empty(0)), ("b", empty(0))]);
    knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss: true });
    let missing = not_formed(&knows, &majority());
    assert_eq!(missing.blocked, blocked(BlockedBy::MemberMissing, &["c"]));
    knows.take_fences([("c", FenceKind::Person)]);
    assert_eq!(not_formed(&knows, &majority()).waiting, ["a", "b"]);
    super::super::super::testing::ask_again(&mut knows, at(0));
    assert_eq!(orders(&decide(&knows, &majority(), at(1))), ["form a"]);
}
