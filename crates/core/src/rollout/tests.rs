//! Tests of rollouts.

use proptest::prelude::*;

use super::*;

/// A Member in a few letters: `c`urrent, `r`eady, `u`nheard, `p`rimary, `f`ixed, `z` at rest.
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

#[test]
fn who_is_not_ready_has_nothing_to_lose() {
    assert_eq!(next(&members(&["", "", ""])), update(&["a", "b", "c"]));
    assert_eq!(next(&members(&["rp", "", "rc"])), update(&["b"]));
    assert_eq!(next(&members(&["z", "z", "z"])), update(&["a", "b", "c"]), "parked");
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
    ("[a-z]", flags).prop_map(|(name, (current, ready, primary, fixed, at_rest))| Rolled {
        name,
        current,
        ready,
        primary,
        fixed,
        at_rest,
    })
}

proptest! {
    #[test]
    fn at_most_one_member_that_is_ready_is_disturbed_and_only_when_all_are_ready(
        members in prop::collection::vec(any_member(), 0..6)
    ) {
        let find = |name: &String| members.iter().filter(|member| member.name == *name).collect::<Vec<_>>();
        if let Next::Update(names) = next(&members) {
            let disturbed = names.iter().filter(|name| find(name).iter().all(|m| m.ready == Truth::True && !m.at_rest)).count();
            prop_assert!(disturbed <= 1);
            if disturbed == 1 {
                prop_assert!(members.iter().all(|m| m.ready == Truth::True || m.fixed || m.at_rest));
            }
            prop_assert!(!names.is_empty());
        }
    }

    #[test]
    fn it_ends_when_nobody_but_the_fixed_is_outdated(members in prop::collection::vec(any_member(), 0..6)) {
        let left = members.iter().any(|member| !member.current && !member.fixed);
        prop_assert_eq!(next(&members) == Next::Done, !left);
    }
}
