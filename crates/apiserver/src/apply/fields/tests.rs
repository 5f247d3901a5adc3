//! Sets of fields obey the laws of sets, and survive being written and read.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::apply::literal::Literal;

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[abc<]{1,2}".prop_map(PathElement::Field),
        ("[ab&]", 0..12i64).prop_map(|(name, port)| PathElement::keyed(vec![
            ("name".into(), json!(name)),
            ("port".into(), json!(port))
        ])),
        prop_oneof![Just(json!("x\u{1}")), Just(json!(2)), Just(json!(1.5)), Just(json!(true))]
            .prop_map(|value| PathElement::Value(Literal(value))),
        (0..3i64).prop_map(PathElement::Index),
    ]
}

/// Sets of a few short paths, so that they often overlap.
pub(crate) fn sets() -> impl Strategy<Value = FieldSet> {
    proptest::collection::vec(proptest::collection::vec(element(), 1..4), 0..8).prop_map(|paths| {
        let mut set = FieldSet::new();
        for path in paths {
            set.insert(&path);
        }
        set
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(set in sets()) {
        prop_assert_eq!(FieldSet::from_json(&set.to_json()), Ok(set));
    }

    #[test]
    fn a_set_is_what_it_shares_and_what_it_does_not(a in sets(), b in sets()) {
        let (both, rest) = (a.intersection(&b), a.difference(&b));
        prop_assert_eq!(both.union(&rest), a.clone());
        prop_assert!(both.intersection(&rest).is_empty());
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(both, b.intersection(&a));
    }

    #[test]
    fn membership_is_what_the_paths_say(a in sets(), b in sets()) {
        for path in a.union(&b).paths() {
            prop_assert_eq!(a.intersection(&b).has(&path), a.has(&path) && b.has(&path));
            prop_assert_eq!(a.difference(&b).has(&path), a.has(&path) && !b.has(&path));
            let below = (1..=path.len()).any(|end| b.has(&path[..end]));
            prop_assert_eq!(a.without_trees(&b).has(&path), a.has(&path) && !below);
        }
    }
}

#[test]
fn the_form_is_the_servers() {
    let mut set =
        FieldSet::of_names(&[&["spec", "replicas"], &["metadata", "labels"], &["metadata", "labels", "a"]]);
    set.insert(&[PathElement::field("spec"), PathElement::keyed(vec![("name".into(), json!("x"))])]);
    assert_eq!(
        set.to_json(),
        json!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {"f:replicas": {}, "k:{\"name\":\"x\"}": {}},
        })
    );
}

#[test]
fn odd_forms_are_read_as_the_server_reads_them() {
    let read = |json| FieldSet::from_json(&json);
    assert_eq!(read(json!({"f:a": {".": {}}})), read(json!({"f:a": {}})));
    assert_eq!(read(json!({"f:a": null, "x:later": 1})), read(json!({"f:a": {}})));
    assert_eq!(read(json!(null)), Ok(FieldSet::new()));
    assert!(read(json!({"f:a": 1})).is_err());
    assert!(read(json!({"a": {}})).is_err());
    let deep = (0..1000).fold(json!({}), |inner, _| json!({"f:a": inner}));
    assert!(read(deep).is_err());
}

#[test]
fn paths_that_end_come_before_those_that_go_on() {
    let set = FieldSet::of_names(&[&["a", "b"], &["z"]]);
    let texts: Vec<_> = set.paths().iter().map(|path| path_text(path)).collect();
    assert_eq!(texts, [".z", ".a.b"]);
}
