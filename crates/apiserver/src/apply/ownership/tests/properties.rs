//! What holds of every sequence of writes.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::apply::fields::Path;

/// Specs without empty lists and maps: those, applied over full ones, leave null, here as on the server, whose
/// schemas then refuse the write.
fn spec() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![Just("x"), Just("y")];
    let field = |strategy: BoxedStrategy<Value>| proptest::option::of(strategy);
    let fields = (
        field(text().prop_map(|text| json!(text)).boxed()),
        field((0..3).prop_map(|number| json!(number)).boxed()),
        field(proptest::sample::subsequence(vec!["p", "q", "r"], 1..=3).prop_map(|set| json!(set)).boxed()),
        field(proptest::collection::btree_map("[kl]", text(), 1..3).prop_map(|map| json!(map)).boxed()),
        field(proptest::collection::btree_map("[rg]", text(), 1..3).prop_map(|map| json!(map)).boxed()),
        field(
            proptest::sample::subsequence(vec!["i", "j"], 1..=2)
                .prop_map(|names| names.into_iter().map(|name| json!({"name": name, "port": 1})).collect())
                .boxed(),
        ),
    );
    let specs = fields.prop_map(|(a, n, set, map, rgb, items)| {
        let named = [("a", a), ("n", n), ("set", set), ("map", map), ("rgb", rgb), ("items", items)];
        let present = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(present.collect::<Map<_, _>>())
    });
    specs.prop_filter("not empty", |spec| spec.as_object().is_some_and(|spec| !spec.is_empty()))
}

fn leaves(cluster: &Cluster, manager: &str) -> Vec<Path> {
    let entries = managed_entries(cluster.live.as_ref().unwrap()).unwrap();
    let entry = entries.into_iter().find(|entry| entry.manager == manager);
    entry.map(|entry| entry.fields.paths()).unwrap_or_default()
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(specs in proptest::collection::vec(("[ab]", spec()), 1..5)) {
        let mut cluster = Cluster::new();
        for (manager, spec) in &specs {
            cluster.apply(manager, spec, true).unwrap();
        }
        let once = cluster.live.clone();
        let (manager, spec) = specs.last().unwrap();
        let again = cluster.apply(manager, spec, false).unwrap();
        prop_assert!(!again.changed);
        prop_assert_eq!(cluster.live, once);
    }

    #[test]
    fn those_who_share_no_field_never_conflict(ours in spec(), later in spec()) {
        let mut cluster = Cluster::new();
        cluster.apply("one", &ours, false).unwrap();
        let theirs = json!({"any": {"x": later}, "whole": ["w"]});
        prop_assert!(cluster.apply("two", &theirs, false).is_ok());
        prop_assert!(cluster.apply("one", &later, false).is_ok());
        prop_assert_eq!(&cluster.spec()["whole"], &json!(["w"]));
    }

    #[test]
    fn a_changed_field_has_one_owner(first in spec(), second in spec()) {
        let mut cluster = Cluster::new();
        cluster.update("one", |object| object["spec"] = first.clone());
        cluster.update("two", |object| object["spec"] = second.clone());
        let (one, two) = (leaves(&cluster, "one"), leaves(&cluster, "two"));
        prop_assert!(one.iter().all(|path| !two.contains(path)));
    }

    #[test]
    fn everything_applied_is_owned_and_there(specs in proptest::collection::vec(("[ab]", spec()), 1..5)) {
        let mut cluster = Cluster::new();
        for (manager, spec) in &specs {
            cluster.apply(manager, spec, true).unwrap();
            let typing = typing();
            let live = crate::apply::typed::collect(typing.view(), cluster.live.as_ref().unwrap());
            for path in leaves(&cluster, manager) {
                prop_assert!(live.has(&path), "{path:?} is owned and not there");
            }
        }
    }

    #[test]
    fn a_field_given_up_goes_if_and_only_if_nobody_else_owns_it(ours in spec(), theirs in spec()) {
        let mut cluster = Cluster::new();
        cluster.apply("one", &ours, false).unwrap();
        cluster.apply("two", &theirs, true).unwrap();
        let two = leaves(&cluster, "two");
        let one = leaves(&cluster, "one");
        cluster.apply("one", &json!({}), false).unwrap();
        let typing = typing();
        let left = crate::apply::typed::collect(typing.view(), cluster.live.as_ref().unwrap());
        for path in one {
            prop_assert_eq!(left.has(&path), two.contains(&path), "{:?}", path);
        }
    }
}
