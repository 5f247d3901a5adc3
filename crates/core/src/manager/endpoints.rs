//! Whom clients are sent to: the Pods that carry `muster.dev/role`, and with it the Services.

use std::collections::BTreeMap;

use muster_api::names::Role;

use super::command::Action;
use super::decide::{Decision, Rule, are_apart, undisputed};
use super::observed::{Observed, Sent, serves_as_primary};
use super::report::{Activity, Report};
use super::stamp::Term;

/// The role by which each member is reachable now. A member that is not named is not sent any clients.
///
/// A primary is withdrawn before it is told to stop or to step down, so this is to be carried out before the orders
/// of the same decision; it is there only while it serves in the newest term that anyone knows. A term that an application took by
/// itself is over when it stops: it does not keep clients from the primary that a person chose instead. While primaries are on
/// different sides, clients stay with the side that was commanded, and where that does not tell one from the other they are
/// sent to nobody: whatever they write on one side, a person who chooses the other gives up.
pub fn endpoints(observed: &Observed, decision: &Decision) -> BTreeMap<String, Role> {
    let Some(newest) = served_term(observed, decision) else { return BTreeMap::new() };
    let role = |name: &str, report: &Report| {
        if withdrawn(observed, decision, name) || current_term(report) != Some(newest) {
            return None;
        }
        let running = report.running()?;
        match running.role {
            Role::Primary => serves_as_primary(report).then_some(Role::Primary),
            Role::Secondary => {
                let able = matches!(running.activity, Activity::Serving | Activity::Donor);
                (able && running.synced).then_some(Role::Secondary)
            }
        }
    };
    observed.reporting().filter_map(|(name, report)| Some((name.to_owned(), role(name, report)?))).collect()
}

/// The term in which clients are served; none while there is none.
fn served_term(observed: &Observed, decision: &Decision) -> Option<Term> {
    if decision.rule == Rule::SplitBrain && are_apart(observed) {
        return undisputed(observed, decision.blocked.is_some());
    }
    let goes_on = |report: &Report| {
        current_term(report).filter(|term| term.is_commanded() || report.running().is_some())
    };
    observed.reporting().filter_map(|(_, report)| goes_on(report)).max()
}

fn current_term(report: &Report) -> Option<Term> {
    report.held()?.terms.current()
}

/// Whether it was told, or is being told, to stop or to step down.
fn withdrawn(observed: &Observed, decision: &Decision, name: &str) -> bool {
    let ordered = decision.orders.iter().filter(|order| order.member == name);
    let told = observed.members.get(name).and_then(|seen| seen.pending).is_some_and(Sent::stops);
    told || ordered.into_iter().any(|order| matches!(order.action, Action::Stop | Action::Demote))
}

#[cfg(test)]
mod tests {
    use super::super::command::Action;
    use super::super::decide::decide;
    use super::super::report::{Held, Instance, Running};
    use super::super::roster::Copies;
    use super::super::stamp::Stamp;
    use super::super::testing::{EPOCH, at, observed, roster, running, stopped, terms, wanted};
    use super::*;

    fn reached(observed: &Observed) -> Vec<(String, Role)> {
        let wishes = wanted(&["a", "b"], Copies::Majority);
        endpoints(observed, &decide(observed, &wishes, at(0))).into_iter().collect()
    }

    fn pair(a: Report, b: Report) -> Observed {
        observed(&roster(&["a", "b"]), vec![("a", a), ("b", b)])
    }

    #[test]
    fn a_serving_primary_and_its_synced_secondaries_are_reached() {
        let knows = pair(running(1, Role::Primary, 3), running(1, Role::Secondary, 3));
        assert_eq!(reached(&knows), [("a".into(), Role::Primary), ("b".into(), Role::Secondary)]);
        let lagging = running(1, Role::Secondary, 3).with_running(|running| running.synced = false);
        assert_eq!(reached(&pair(running(1, Role::Primary, 3), lagging)), [("a".into(), Role::Primary)]);
        let joining = |running: &mut Running| running.activity = Activity::Joining;
        let knows = pair(running(1, Role::Primary, 3), running(1, Role::Secondary, 3).with_running(joining));
        assert_eq!(reached(&knows), [("a".into(), Role::Primary)]);
        assert_eq!(
            reached(&pair(running(1, Role::Primary, 3), stopped(1, 3))),
            [("a".into(), Role::Primary)]
        );
    }

    #[test]
    fn a_primary_that_only_starts_is_not_reached() {
        let starting = |running: &mut Running| running.activity = Activity::Starting;
        let knows = pair(running(1, Role::Primary, 3).with_running(starting), stopped(1, 3));
        assert_eq!(reached(&knows), []);
    }

    #[test]
    fn a_primary_of_an_older_term_is_not_reached() {
        let newer = running(1, Role::Primary, 3).with_held(|held| held.terms = terms(&[(1, 1), (2, 2)]));
        let knows = pair(running(1, Role::Primary, 3), newer);
        assert_eq!(reached(&knows), [("b".into(), Role::Primary)]);
    }

    #[test]
    fn a_term_that_was_taken_by_hand_is_over_when_its_application_stops() {
        let by_hand = |held: &mut Held| held.terms.begin(Term::self_made(Stamp::new(EPOCH, 9), 2), 3);
        let chosen = || running(1, Role::Primary, 3);
        let knows = pair(stopped(1, 3), chosen().with_held(by_hand));
        assert_eq!(reached(&knows), [("b".into(), Role::Primary)], "while it runs, and alone, it is served");
        let knows = pair(chosen(), stopped(1, 3).with_held(by_hand));
        assert_eq!(reached(&knows), [("a".into(), Role::Primary)]);
        let newer = stopped(1, 3).with_held(|held| held.terms = terms(&[(1, 1), (2, 2)]));
        assert_eq!(reached(&pair(chosen(), newer)), [], "a commanded one is not");
    }

    /// Whom clients are sent to when a split is first seen, and when it is certain.
    fn reached_in_split(mut knows: Observed) -> [Vec<String>; 2] {
        let wishes = wanted(&["a", "b"], Copies::Majority);
        knows.look_around(&wishes, at(0));
        [at(0), at(60)].map(|now| {
            let decision = decide(&knows, &wishes, now);
            assert_eq!(decision.rule, Rule::SplitBrain);
            endpoints(&knows, &decision).into_keys().collect()
        })
    }

    fn self_made(n: u64) -> impl Fn(&mut Held) {
        move |held| held.terms.begin(Term::self_made(Stamp::new(EPOCH, n), 2), 3)
    }

    #[test]
    fn clients_stay_with_the_primary_that_was_commanded_whatever_others_make_of_themselves() {
        let commanded = || running(1, Role::Primary, 3);
        let knows = pair(commanded(), commanded().with_held(self_made(9)));
        assert_eq!(reached_in_split(knows), [["a"], ["a"]]);
        let foreign = commanded().with_held(|held| {
            held.history = "other".into();
            self_made(9)(held);
        });
        assert_eq!(reached_in_split(pair(commanded(), foreign)), [["a"], ["a"]]);
        let newer = commanded().with_held(|held| held.terms = terms(&[(1, 1), (2, 2)]));
        assert_eq!(reached_in_split(pair(commanded(), newer)), [["b"], ["b"]], "the newest one");
    }

    #[test]
    fn where_nothing_tells_one_side_from_the_other_clients_are_sent_to_nobody() {
        let none: [&[&str]; 2] = [&[], &[]];
        let primary = || running(1, Role::Primary, 3);
        let both = pair(primary().with_held(self_made(8)), primary().with_held(self_made(9)));
        assert_eq!(reached_in_split(both), none, "two that nobody commanded");
        // Its term was not the last that was commanded: what came after it is in the other's past.
        let heir = primary().with_held(|held| {
            held.terms = terms(&[(1, 1), (2, 2)]);
            self_made(9)(held);
        });
        assert_eq!(reached_in_split(pair(primary(), heir)), none);
        let [first, certain] = reached_in_split(pair(primary(), primary()));
        assert_eq!(first, ["a", "b"], "a change of hands looks like this for a moment");
        assert_eq!(certain, none[1], "two sides of one term");
    }

    #[test]
    fn too_many_primaries_of_one_view_are_on_one_side() {
        let viewed = || running(1, Role::Primary, 3).with_running(|it| it.view = Some("v".into()));
        assert_eq!(reached_in_split(pair(viewed(), viewed()))[0], ["a", "b"]);
        let apart = viewed().with_running(|it| it.view = Some("w".into()));
        assert_eq!(reached_in_split(pair(viewed(), apart))[1], Vec::<String>::new());
    }

    #[test]
    fn whoever_is_told_to_stop_is_withdrawn_first() {
        let mut knows = pair(running(1, Role::Primary, 3), running(1, Role::Secondary, 3));
        knows.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::Demote, at(0));
        assert_eq!(reached(&knows), [("b".into(), Role::Secondary)]);
        let mut parked = wanted(&["a", "b"], Copies::Majority);
        parked.parked = true;
        let knows = pair(running(1, Role::Primary, 3), running(1, Role::Secondary, 3));
        let decision = decide(&knows, &parked, at(0));
        assert_eq!(endpoints(&knows, &decision).into_keys().collect::<Vec<_>>(), ["a"]);
        let mut taking = pair(running(1, Role::Primary, 3), running(1, Role::Secondary, 3));
        taking.note_sent("a", Stamp::new(EPOCH, 4), Instance(1), &Action::TakeRoster, at(0));
        assert_eq!(reached(&taking).len(), 2);
    }
}
