//! Tests of the corners of the rules: engines that elect, several primaries, disabled and leaving members.
use super::super::super::command::Action;
use super::super::super::election::{Outcome, elect};
use super::super::super::observed::Observed;
use super::super::super::report::{Activity, Data, Instance, Report};
use super::super::super::requests::Directive;
use super::super::super::stamp::Stamp;
use super::super::super::testing::*;
use super::super::super::wanted::Wanted;
use super::super::{Effect, Rule, decide};
use super::{ABC, Copies, after, blocked, idle, majority, orders, primary, request_ended, secondary, trio};
use muster_api::names::{BlockedBy, Role};

fn electing() -> Wanted {
    let mut wishes = majority();
    wishes.engine.elects = true;
    wishes
}

#[test]
fn elects_a_leaving_member_that_stopped_is_not_started_again() {
    let mut wishes = electing();
    wishes.members.get_mut("c").unwrap().leaving = true;
    let mut knows = trio(primary(5), secondary(5), secondary(5).with(|r| r.evacuated = true));
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), ["stop c"]);
    now_says(&mut knows, "c", |r| {
        r.with(|r| r.application = super::super::super::report::Application::Stopped)
    });
    let d = decide(&knows, &wishes, at(1));
    assert_eq!((orders(&d), d.ask), (vec![], true));
}

#[test]
fn elects_recover_seed_ends_when_the_seed_serves() {
    let mut knows = trio(stopped(0, 5), primary(5), stopped(0, 5));
    knows.directive = Some(Directive::Seed { member: "b".into(), accept_data_loss: false });
    let d = decide(&knows, &electing(), at(1));
    assert_eq!(request_ended(&d), Some(Ok(())), "{:?}", orders(&d));
    assert!(!orders(&d).contains(&"stop b".to_owned()));
}

#[test]
fn elects_a_switchover_never_demotes() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline: at(120) });
    assert_eq!(orders(&decide(&knows, &electing(), at(1))), Vec::<String>::new());
}

#[test]
fn elects_new_members_start_as_secondary() {
    let mut wishes = electing();
    wishes.primaries = 3;
    let d = decide(&trio(primary(5), primary(5), empty(0)), &wishes, at(1));
    assert_eq!(orders(&d), ["copy c as Secondary"]);
}

#[test]
fn elects_rule_1_still_says_split_brain() {
    let mut knows = trio(primary(5), primary(5), secondary(5));
    knows.look_around(&electing(), at(0));
    assert_eq!(decide(&knows, &electing(), at(60)).rule, Rule::SplitBrain);
}

#[test]
fn multi_primary_without_views_is_no_split() {
    let mut wishes = majority();
    wishes.primaries = 2;
    let mut knows = trio(primary(5), primary(5), secondary(5));
    knows.look_around(&wishes, at(0));
    assert_eq!(decide(&knows, &wishes, at(60)).rule, Rule::Join);
}

#[test]
fn a_second_primary_whose_data_cannot_be_read_is_a_split() {
    let mut knows = trio(primary(5), primary(5).with(|r| r.data = Data::Unreadable), secondary(5));
    knows.look_around(&majority(), at(0));
    assert_eq!(decide(&knows, &majority(), at(60)).rule, Rule::SplitBrain);
}

#[test]
fn a_disabled_member_is_not_demoted() {
    let v = |n| primary(5).with_running(|r| r.view = Some("v".into())).obeyed(n, true);
    let mut wishes = majority();
    wishes.primaries = 2;
    wishes.members.get_mut("c").unwrap().disabled = true;
    let mut knows = trio(v(1), v(2), v(3));
    knows.look_around(&wishes, at(0));
    assert_eq!(orders(&decide(&knows, &wishes, at(60))), ["demote b"]);
}

#[test]
fn loss_of_the_roster_before_names_its_voters() {
    let mut shrunk = roster(&["a"]);
    shrunk.before = Some(roster(ABC).entries);
    let mut knows = observed(&shrunk, ABC.iter().map(|&n| (n, stopped(0, 5))).collect());
    fence(&mut knows, &["b", "c"]);
    let d = decide(&knows, &majority(), at(1));
    assert_eq!(d.blocked, blocked(BlockedBy::DataMissing, &["b", "c"]));
}

#[test]
fn loss_of_the_roster_before_is_warned_of() {
    // all old voters know the new roster (so that nothing else warns)
    let mut shrunk = roster(&["a"]);
    shrunk.before = Some(roster(ABC).entries);
    let mut knows = observed(&shrunk, ABC.iter().map(|&n| (n, stopped(0, 5))).collect());
    fence(&mut knows, &["b", "c"]);
    let d = decide(&knows, &Wanted { allow_loss: true, ..majority() }, at(1));
    assert!(d.effects.iter().any(|e| matches!(e, Effect::WarnOfLoss(w) if w.without == ["b", "c"])), "{d:?}");
}
#[test]
fn election_names_them() {
    let mut shrunk = roster(&["a"]);
    shrunk.before = Some(roster(ABC).entries);
    let mut knows = observed(&shrunk, ABC.iter().map(|&n| (n, stopped(0, 5))).collect());
    fence(&mut knows, &["b", "c"]);
    let o = elect(&knows, &Wanted { allow_loss: true, ..majority() }, &shrunk, at(1), true);
    assert!(matches!(&o, Outcome::Elected(w) if w.without == ["b", "c"]), "{o:?}");
}

#[test]
fn a_switchover_needs_a_complete_read_set_even_if_loss_is_allowed() {
    let mut wishes = wanted(ABC, Copies::Fixed(1));
    wishes.allow_loss = true;
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    fence(&mut knows, &["c"]);
    knows.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline: at(120) });
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), Vec::<String>::new());
}

#[test]
fn a_target_that_follows_an_older_term_has_not_caught_up() {
    let mut knows =
        trio(running_in(2, 4, Role::Primary, 5), secondary(5), running_in(2, 4, Role::Secondary, 5));
    knows.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline: at(120) });
    assert_eq!(orders(&decide(&knows, &majority(), at(1))), ["stop b"]);
}

#[test]
fn a_disabled_member_is_not_seeded_even_by_request() {
    let mut wishes = majority();
    wishes.members.get_mut("a").unwrap().disabled = true;
    let mut knows = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    knows.directive = Some(Directive::Seed { member: "a".into(), accept_data_loss: false });
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), Vec::<String>::new());
}

#[test]
fn one_stop_per_member() {
    let mut wishes = wanted(&["a", "b", "c", "x"], Copies::Majority);
    wishes.members.get_mut("x").unwrap().leaving = true;
    let reports = vec![("a", primary(5)), ("b", secondary(5)), ("c", secondary(5)), ("x", secondary(5))];
    assert_eq!(orders(&decide(&observed(&roster(ABC), reports), &wishes, at(1))), ["stop x"]);
}

#[test]
fn a_disabled_member_does_not_join_as_another_primary() {
    let v = || primary(5).with_running(|r| r.view = Some("v".into()));
    let mut wishes = majority();
    wishes.primaries = 2;
    wishes.members.get_mut("b").unwrap().disabled = true;
    let d = decide(&trio(v(), stopped(0, 5), stopped(0, 4)), &wishes, at(1));
    assert_ne!(orders(&d), ["join b as Primary"]);
}

#[test]
fn promotes_false_reaches_a_primary_when_equal() {
    // stop + start of the elected: the one that was stopped is then led, not the next equal stopped as well
    let mut wishes = majority();
    wishes.engine.promotes = false;
    let knows = trio(stopped(0, 4), secondary(5), secondary(5));
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), ["stop b"]);
    let knows = trio(stopped(0, 4), stopped(0, 5), secondary(5));
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), ["lead b"]);
}

#[test]
fn a_leaving_member_may_be_switchover_target() {
    let mut wishes = majority();
    wishes.members.get_mut("b").unwrap().leaving = true;
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline: at(120) });
    assert_eq!(orders(&decide(&knows, &wishes, at(1))), Vec::<String>::new());
}
#[test]
fn two_fences_one_renewed_one_new() {
    let mut knows = trio(stopped(0, 5), stopped(0, 5), stopped(0, 5));
    fence(&mut knows, &["b"]);
    fence(&mut knows, &["b", "c"]);
    assert!(knows.standing("b").accounted());
}
#[test]
fn a_switchover_in_multi_primary_does_not_end_with_too_few() {
    let _ = (
        Action::Stop,
        Instance(1),
        Stamp::new(1, 1),
        after as fn(_, _, _) -> _,
        Activity::Donor,
        idle as fn(_) -> _,
    );
    let _: Option<Observed> = None;
    // multi-primary: from a to b while b is primary as well: b is no secondary, waits until the deadline
    let v = || primary(5).with_running(|r| r.view = Some("v".into()));
    let mut wishes = majority();
    wishes.primaries = 3;
    let mut knows = trio(v(), v(), v());
    knows.directive = Some(Directive::Switchover { to: None, from: "b".into(), deadline: at(120) });
    let d = decide(&knows, &wishes, at(1));
    println!("{:?} {:?}", orders(&d), request_ended(&d));
    assert_ne!(request_ended(&d), Some(Ok(())), "nothing was switched");
}
#[test]
fn forgetting_a_configured_member_outside_of_the_roster_ends() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.directive = Some(Directive::Forget { members: vec!["d".into()] });
    let wishes = wanted(&["a", "b", "c", "d"], Copies::Majority);
    assert!(request_ended(&decide(&knows, &wishes, at(1))).is_some());
}
#[test]
fn elects_a_running_secondary_started_without_a_term_is_left_alone() {
    let d = decide(
        &trio(primary(5), secondary(5).with_running(|r| r.term = None), secondary(5)),
        &electing(),
        at(1),
    );
    assert_eq!(orders(&d), Vec::<String>::new());
}
#[test]
fn one_of_several_primaries_leaves_without_a_switchover() {
    let v = || primary(5).with_running(|r| r.view = Some("v".into()));
    let mut wishes = majority();
    wishes.primaries = 3;
    wishes.members.get_mut("c").unwrap().leaving = true;
    let d = decide(&trio(v(), v(), v()), &wishes, at(1));
    assert_eq!(orders(&d), ["leave c"]);
}
#[test]
fn a_rejoin_of_a_healthy_member_is_not_reported_as_done() {
    let mut knows = trio(primary(5), secondary(5), secondary(5));
    knows.directive = Some(Directive::Rejoin { member: "c".into() });
    assert_ne!(request_ended(&decide(&knows, &majority(), at(1))), Some(Ok(())));
}
#[test]
fn a_rejoin_does_not_settle_a_roster_whose_copies_are_not_there() {
    let mut before = roster(&["a", "b", "c", "d"]);
    before.entries[3].voter = false;
    let newer = after(roster(&["a", "b", "c", "d"]), 2, &before);
    let knowing = |r: Report| r.with(|r| r.roster = Some(newer.clone()));
    let mut knows = observed(
        &newer,
        vec![
            ("a", knowing(primary(9)).with_running(|r| r.roster = Some(newer.version))),
            ("b", knowing(secondary(3))),
            ("c", knowing(stopped(0, 9))),
            ("d", knowing(secondary(3))),
        ],
    );
    knows.directive = Some(Directive::Rejoin { member: "c".into() });
    let d = decide(&knows, &wanted(&["a", "b", "c", "d"], Copies::Majority), at(1));
    assert!(d.roster.as_ref().is_none_or(|c| c.before.is_some()), "{:?}", d.roster);
}
