//! Tests of election: a person chose the seed.

use super::super::super::report::{Data, Held};
use super::super::super::terms::Place;
use super::super::super::testing::{empty, fence, observed, roster, stopped, term};
use super::{ABC, Directive, Observed, Outcome, Winner, hold, level, majority, names, three, winner};

fn choose(knows: &mut Observed, member: &str, accept_data_loss: bool) {
    knows.directive = Some(Directive::Seed { member: member.into(), accept_data_loss });
}

#[test]
fn a_lower_place_may_be_chosen_and_who_holds_more_is_named() {
    let mut knows = three(stopped(1, 5), stopped(1, 3), stopped(1, 2));
    choose(&mut knows, "c", false);
    assert_eq!(winner(&hold(&knows, &majority())), ("c", vec!["a", "b"]));
    choose(&mut knows, "a", false);
    assert_eq!(winner(&hold(&knows, &majority())), ("a", vec![]));
}

#[test]
fn the_chosen_seed_needs_no_complete_read_set_and_settles_which_history_goes_on() {
    let mut alone = level();
    fence(&mut alone, &["a", "b"]);
    choose(&mut alone, "c", false);
    assert_eq!(winner(&hold(&alone, &majority())), ("c", vec!["a", "b"]));
    let foreign = stopped(1, 1).with_held(|held| held.history = "other".into());
    let mut knows = three(stopped(1, 5), stopped(1, 5), foreign);
    choose(&mut knows, "b", false);
    assert_eq!(winner(&hold(&knows, &majority())), ("b", vec![]), "two of three agree");
    choose(&mut knows, "c", false);
    assert_eq!(winner(&hold(&knows, &majority())), ("c", vec!["a", "b"]));
}

#[test]
fn what_holds_nothing_that_counts_is_not_chosen() {
    let changes: [fn(&mut Held); 3] =
        [|held| held.empty = true, |held| held.complete = false, |held| held.left = true];
    let mut unfit: Vec<_> = changes.into_iter().map(|change| stopped(1, 9).with_held(change)).collect();
    unfit.push(stopped(1, 9).with(|report| report.data = Data::Unreadable));
    unfit.push(stopped(1, 9).with(|report| report.volume = "another disk".into()));
    for report in unfit {
        let mut knows = three(stopped(1, 5), stopped(1, 5), report.clone());
        choose(&mut knows, "c", false);
        assert_eq!(hold(&knows, &majority()), Outcome::Unfit("c".into()), "{report:?}");
        choose(&mut knows, "c", true);
        assert_eq!(winner(&hold(&knows, &majority())), ("c", vec!["a", "b"]), "the loss is accepted");
    }
}

#[test]
fn who_is_not_heard_is_chosen_in_no_case() {
    for accept_data_loss in [false, true] {
        let mut knows = level();
        fence(&mut knows, &["c"]);
        choose(&mut knows, "c", accept_data_loss);
        assert_eq!(hold(&knows, &majority()), Outcome::Unfit("c".into()));
        choose(&mut knows, "stranger", accept_data_loss);
        assert_eq!(hold(&knows, &majority()), Outcome::Unfit("stranger".into()));
    }
}

#[test]
fn what_is_accepted_as_lost_is_all_that_others_may_hold() {
    let mut knows = observed(
        &roster(ABC),
        vec![("a", stopped(1, 5)), ("b", stopped(1, 5)), ("c", stopped(1, 5)), ("d", empty(1))],
    );
    choose(&mut knows, "d", true);
    let from_nothing = Winner { member: "d".into(), place: Place::default(), without: names(ABC) };
    assert_eq!(hold(&knows, &majority()), Outcome::Elected(from_nothing));
    choose(&mut knows, "b", true);
    let place = Place { term: Some(term(1)), sequence: 5 };
    let from_data = Winner { member: "b".into(), place, without: names(&["a", "c"]) };
    assert_eq!(hold(&knows, &majority()), Outcome::Elected(from_data));
}
