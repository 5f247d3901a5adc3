//! Server-side apply, case by case.

use serde_json::json;

use super::*;

#[test]
fn what_is_no_longer_applied_goes_unless_somebody_else_owns_it() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x", "n": 1, "set": ["p", "q"]}), false).unwrap();
    cluster.apply("two", &json!({"a": "x", "set": ["q"]}), false).unwrap();
    cluster.apply("one", &json!({"set": ["p"]}), false).unwrap();
    assert_eq!(cluster.spec(), json!({"a": "x", "set": ["p", "q"]}));
    assert_eq!(cluster.owned("one", Operation::Apply), json!({"f:set": {"v:\"p\"": {}}}));
    assert_eq!(cluster.owned("two", Operation::Apply), json!({"f:a": {}, "f:set": {"v:\"q\"": {}}}));
}

#[test]
fn a_conflict_names_owner_and_field_and_force_takes_it() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x", "n": 1}), false).unwrap();
    let refused = cluster.apply("two", &json!({"a": "y"}), false).unwrap_err();
    assert_eq!(refused.to_string(), "Apply failed with 1 conflict: conflict with \"one\": .spec.a");
    let ApplyError::Conflicts(conflicts) = refused else { panic!("{refused}") };
    let cause = Cause { message: "conflict with \"one\"".into(), field: ".spec.a".into() };
    assert_eq!(conflicts.causes(), [cause]);
    cluster.apply("two", &json!({"a": "y"}), true).unwrap();
    assert_eq!(cluster.owned("one", Operation::Apply), json!({"f:n": {}}));
    assert_eq!(cluster.owned("two", Operation::Apply), json!({"f:a": {}}));
}

#[test]
fn several_conflicts_are_grouped_by_owner() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x", "n": 1}), false).unwrap();
    cluster.update("two", |object| object["spec"]["map"] = json!({"k": "v"}));
    let refused = cluster.apply("three", &json!({"a": "y", "n": 2, "map": {"k": "w"}}), false).unwrap_err();
    let expected = "Apply failed with 3 conflicts: conflicts with \"one\":\n- .spec.a\n- .spec.n\n\
                    conflicts with \"two\" using example.dev/v1:\n- .spec.map.k";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn applying_what_is_there_shares_it_without_a_time() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x"}), false).unwrap();
    let applied = cluster.apply("two", &json!({"a": "x"}), false).unwrap();
    assert!(!applied.changed);
    let entries = managed_entries(&applied.object).unwrap();
    let time = |manager: &str| entries.iter().find(|entry| entry.manager == manager).unwrap().time;
    assert_eq!((time("one").is_some(), time("two").is_some()), (true, false));
    assert_eq!(cluster.names(), ["two Apply", "one Apply"], "those without a time come first");
}

#[test]
fn what_was_there_before_the_first_apply_has_an_owner_of_its_own() {
    let mut cluster = Cluster::untracked(&json!({"a": "x", "n": 1}));
    let refused = cluster.apply("one", &json!({"a": "y"}), false).unwrap_err().to_string();
    let owner = "\"before-first-apply\" using example.dev/v1";
    assert_eq!(refused, format!("Apply failed with 1 conflict: conflict with {owner}: .spec.a"));
    cluster.apply("one", &json!({"a": "x"}), false).unwrap();
    assert_eq!(cluster.names(), ["one Apply", "before-first-apply Update"]);
}

#[test]
fn nobody_owns_identity() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x"}), false).unwrap();
    let entry = &managed_entries(cluster.live.as_ref().unwrap()).unwrap()[0];
    assert_eq!(entry.fields.to_json(), json!({"f:spec": {"f:a": {}}}));
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let cluster = Cluster::new();
    let refused = |change: fn(&mut Value)| {
        let mut object = config(&json!({"a": "x"}));
        change(&mut object);
        apply(None, &object, false, &cluster.write("one")).unwrap_err()
    };
    let other = refused(|object| object["kind"] = json!("Other"));
    assert_eq!(other, ApplyError::BadRequest("invalid object type: example.dev/v1, Kind=Other".into()));
    let owners = refused(|object| object["metadata"]["managedFields"] = json!([]));
    assert_eq!(owners, ApplyError::BadRequest("metadata.managedFields must be nil".into()));
    let twice = refused(|object| object["spec"]["set"] = json!(["a", "a"]));
    let message = "failed to create typed patch object (/x; example.dev/v1, Kind=Thing): .spec.set: duplicate \
                   entries for key [=\"a\"]";
    assert_eq!(twice, ApplyError::Internal(message.into()));
}

#[test]
fn kubectl_takes_over_what_it_applied_from_the_client() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut cluster = Cluster::new();
    let last = config(&json!({"a": "x"})).to_string();
    cluster.update("kubectl-client-side-apply", |object| {
        object["spec"] = json!({"a": "x", "n": 1});
        object["metadata"]["annotations"] = json!({annotation: last});
    });
    let others = cluster.apply("other", &json!({"a": "y"}), false);
    assert!(matches!(others, Err(ApplyError::Conflicts(_))), "only kubectl's annotation counts");
    let beyond = cluster.apply("kubectl", &json!({"a": "y", "n": 2}), false).unwrap_err().to_string();
    assert!(beyond.ends_with("using example.dev/v1: .spec.n"), "{beyond}");
    let applied = cluster.apply("kubectl", &json!({"a": "y"}), false).unwrap();
    let kept = applied.object["metadata"]["annotations"][annotation].as_str().unwrap().to_owned();
    assert_eq!(kept, config(&json!({"a": "y"})).to_string() + "\n");
}

#[test]
fn ownership_in_a_version_that_is_gone_is_forgotten() {
    let mut cluster = Cluster::new();
    cluster.apply("one", &json!({"a": "x"}), false).unwrap();
    let entries = &mut cluster.live.as_mut().unwrap()["metadata"]["managedFields"];
    entries[0]["apiVersion"] = json!("example.dev/v0");
    cluster.apply("two", &json!({"a": "y"}), false).unwrap();
    assert_eq!(cluster.names(), ["two Apply"]);
}
