//! Tests of rollouts.

use proptest::prelude::*;

use super::*;

/// A Member in a few letters: `c`urrent, `r`eady, `u`nheard, does `n`ot run, `p`rimary, `f`ixed, `z` at rest.
fn member(name: &str, marks: &str) -> Rolled {
    let has = |mark| marks.contains(mark);
    Rolled {
        name: name.into(),
        current: has('c'),
        ready: match (has('r'), has('u')) {
            (true, _) => Truth::True,
            (false, true) => Truth::Unknown,
            (false, false) => Truth::False,
        },
        runs: !has('n'),
        primary: has('p'),
        fixed: has('f'),
        at_rest: has('z'),
    }
}

fn members(marks: &[&str]) -> Vec<Rolled> {
    ["a", "b", "c"].iter().zip(marks).map(|(name, marks)| member(name, marks)).collect()
}

fn update(names: &[&str]) -> Next {
    Next::Update(names.iter().map(|&name| name.into()).collect())
}

#[test]
fn secondaries_first_the_highest_ordinal_first_primaries_last() {
    assert_eq!(next(&members(&["rp", "r", "r"])), update(&["c"]));
    assert_eq!(next(&members(&["rp", "r", "rc"])), update(&["b"]));
    assert_eq!(next(&members(&["rp", "rc", "rc"])), update(&["a"]));
    assert_eq!(next(&members(&["r", "rc", "rp"])), update(&["a"]), "wherever the primary is");
    assert_eq!(next(&members(&["rpc", "rc", "rc"])), Next::Done);
}

#[test]
fn the_next_waits_until_all_the_others_are_ready() {
    let waits = Next::Wait { unready: vec!["c".into()], next: "b".into() };
    assert_eq!(next(&members(&["rp", "r", "c"])), waits);
}

fn wait(unready: &[&str], next: &str) -> Next {
    Next::Wait { unready: unready.iter().map(|&name| name.into()).collect(), next: next.into() }
}

#[test]
fn who_does_not_run_has_nothing_to_lose() {
    assert_eq!(next(&members(&["n", "n", "n"])), update(&["a", "b", "c"]));
    assert_eq!(next(&members(&["rp", "n", "rc"])), update(&["b"]));
    assert_eq!(next(&members(&["p", "n", "un"])), update(&["b", "c"]), "heard or not");
    assert_eq!(next(&members(&["z", "z", "z"])), update(&["a", "b", "c"]), "parked");
}

#[test]
fn while_no_primary_serves_nobody_who_runs_is_changed() {
    assert_eq!(next(&members(&["", "", ""])), wait(&["a", "b", "c"], "c"));
    assert_eq!(next(&members(&["n", "", ""])), update(&["a"]), "what is new may be what brings it back");
    assert_eq!(next(&members(&["nc", "", ""])), wait(&["a", "b", "c"], "c"));
    assert_eq!(next(&members(&["", "c", "c"])), wait(&["a", "b", "c"], "a"));
    assert_eq!(next(&[member("a", "")]), update(&["a"]), "alone it could not hand over to anybody");
}

/// Claims grow on all at once: until they have grown nobody is Ready, and the primary serves all the while.
#[test]
fn members_that_serve_without_being_ready_go_one_at_a_time_the_primary_last() {
    assert_eq!(next(&members(&["p", "", ""])), update(&["c"]));
    assert_eq!(next(&members(&["p", "", "c"])), wait(&["a", "b", "c"], "b"), "c has not returned");
    assert_eq!(next(&members(&["p", "", "uc"])), wait(&["a", "b", "c"], "b"));
    assert_eq!(next(&members(&["p", "", "rc"])), update(&["b"]), "a cannot be waited for: its turn is last");
    assert_eq!(next(&members(&["p", "c", "rc"])), wait(&["a", "b"], "a"));
    assert_eq!(next(&members(&["p", "rc", "rc"])), update(&["a"]));
    assert_eq!(next(&members(&["rp", "", "r"])), update(&["b"]), "who is Ready comes after who is not");
}

#[test]
fn of_whom_nothing_is_known_waits_unless_it_is_alone_in_that() {
    let all = ["a", "b", "c"].map(String::from).to_vec();
    assert_eq!(next(&members(&["u", "u", "u"])), Next::Wait { unready: all, next: "c".into() });
    assert_eq!(
        next(&members(&["rp", "u", "r"])),
        update(&["b"]),
        "it may need what is new to be heard again"
    );
    let two = ["b", "c"].map(String::from).to_vec();
    assert_eq!(next(&members(&["rp", "u", "cu"])), Next::Wait { unready: two, next: "b".into() });
    assert_eq!(next(&members(&["uz", "uz", "uz"])), update(&["a", "b", "c"]), "parked");
}

#[test]
fn a_disabled_member_is_not_changed_and_holds_nobody_up() {
    assert_eq!(next(&members(&["rp", "r", "f"])), update(&["b"]));
    assert_eq!(next(&members(&["rpc", "rc", "f"])), Next::Done);
}

fn any_member() -> impl Strategy<Value = Rolled> {
    let ready = prop::sample::select(vec![Truth::True, Truth::False, Truth::Unknown]);
    let flags = (any::<bool>(), ready, any::<bool>(), any::<bool>(), any::<bool>());
    ("[a-z]", flags, any::<bool>()).prop_map(|(name, (current, ready, primary, fixed, at_rest), runs)| {
        Rolled { name, current, ready, runs, primary, fixed, at_rest }
    })
}

proptest! {
    #[test]
    fn at_most_one_member_that_runs_is_disturbed_and_only_when_all_that_were_changed_are_ready(
        marks in prop::collection::vec(any_member(), 0..6)
    ) {
        let members: Vec<Rolled> = marks
            .into_iter()
            .enumerate()
            .map(|(at, member)| Rolled { name: format!("{at}"), ..member })
            .collect();
        if let Next::Update(names) = next(&members) {
            prop_assert!(!names.is_empty());
            let chosen: Vec<&Rolled> = members.iter().filter(|member| names.contains(&member.name)).collect();
            let runs = |member: &&&Rolled| !member.at_rest && (member.runs || member.ready == Truth::True);
            let disturbed: Vec<_> = chosen.iter().filter(runs).collect();
            prop_assert!(disturbed.len() <= 1);
            if let Some(disturbed) = disturbed.first() {
                let others = || members.iter().filter(|other| other.name != disturbed.name && !other.fixed);
                prop_assert!(others().all(|m| !m.current || m.ready == Truth::True || m.at_rest));
                prop_assert!(!disturbed.primary || others().all(|m| m.primary || m.current), "primaries last");
            }
        }
    }

    #[test]
    fn it_ends_when_nobody_but_the_fixed_is_outdated(members in prop::collection::vec(any_member(), 0..6)) {
        let left = members.iter().any(|member| !member.current && !member.fixed);
        prop_assert_eq!(next(&members) == Next::Done, !left);
    }
}
