//! Writes other than apply, case by case.

use serde_json::json;

use super::*;

#[test]
fn whoever_changes_a_field_owns_it() {
    let mut cluster = Cluster::new();
    cluster.update("one", |object| object["spec"] = json!({"a": "x", "n": 1}));
    cluster.update("two", |object| object["spec"]["n"] = json!(2));
    assert_eq!(cluster.owned("one", Operation::Update), json!({".": {}, "f:a": {}}));
    assert_eq!(cluster.owned("two", Operation::Update), json!({"f:n": {}}));
    cluster.update("two", |object| drop(object["spec"].as_object_mut().unwrap().remove("a")));
    assert_eq!(cluster.owned("one", Operation::Update), json!({}));
}

#[test]
fn time_moves_only_with_what_is_owned() {
    let mut cluster = Cluster::new();
    cluster.update("one", |object| object["spec"] = json!({"a": "x"}));
    let before = cluster.live.clone();
    cluster.update("one", |_| {});
    assert_eq!(cluster.live, before);
    cluster.update("one", |object| object["spec"]["a"] = json!("y"));
    assert_ne!(
        cluster.live.unwrap()["metadata"]["managedFields"],
        before.unwrap()["metadata"]["managedFields"]
    );
}

#[test]
fn owners_are_reset_by_an_empty_list_and_not_recorded_again() {
    for reset in [json!([]), json!([{}])] {
        let mut cluster = Cluster::new();
        cluster.update("one", |object| object["spec"] = json!({"a": "x"}));
        cluster.update("two", |object| object["metadata"]["managedFields"] = reset.clone());
        assert_eq!(cluster.names(), Vec::<String>::new());
        cluster.update("two", |object| object["spec"]["a"] = json!("y"));
        assert_eq!(cluster.names(), Vec::<String>::new());
    }
}

#[test]
fn owners_that_cannot_be_read_are_those_of_the_live_object() {
    let broken = [
        (json!({"operation": "Guess"}), "operation must be `Apply` or `Update`"),
        (json!({"operation": "Apply"}), "apiVersion must not be empty"),
        (json!({"operation": "Apply", "apiVersion": "v1"}), "missing fieldsType in managed fields entry 0"),
        (
            json!({"operation": "Apply", "apiVersion": "v1", "fieldsType": "x"}),
            "invalid fieldsType \"x\" in managed fields entry 0",
        ),
    ];
    for (entry, reason) in broken {
        let mut cluster = Cluster::new();
        cluster.update("one", |object| object["spec"] = json!({"a": "x"}));
        let brought = json!({"metadata": {"managedFields": [entry]}});
        assert_eq!(validate_managed_fields(&brought), Err(reason.to_owned()));
        cluster.update("two", |object| object["metadata"]["managedFields"] = json!([entry]));
        assert_eq!(cluster.names(), ["one Update"]);
    }
}

#[test]
fn no_more_than_ten_own_by_updates() {
    let mut cluster = Cluster::new();
    for index in 0..14 {
        let name = format!("m{index:02}");
        cluster.update(&name, |object| object["spec"]["map"][&name] = json!("v"));
    }
    let names = cluster.names();
    assert_eq!(names.len(), 10);
    assert_eq!(names[0], "ancient-changes Update");
    assert_eq!(names[1], "m05 Update");
    let oldest = cluster.owned("ancient-changes", Operation::Update);
    let names: Vec<_> = oldest["f:map"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, [".", "f:m00", "f:m01", "f:m02", "f:m03", "f:m04"]);
}

#[test]
fn what_a_write_cannot_change_it_does_not_own() {
    let typings = Typings::from([(VERSION.to_owned(), typing())]);
    let reset = reset_by_main(true);
    let by = Write {
        typings: &typings,
        api_version: VERSION,
        kind: "Thing",
        subresource: "",
        manager: "one",
        reset: &reset,
        empty: &json!({}),
        now: Timestamp::UNIX_EPOCH,
    };
    let by_status = Write { reset: &reset_by_status(), subresource: "status", ..by };
    let object = config(&json!({"a": "x"}));
    assert!(
        managed_entries(&track_update(None, object.clone(), &by)).unwrap()[0]
            .fields
            .has(&FieldSet::of_names(&[&["spec", "a"]]).paths()[0])
    );
    assert!(managed_entries(&track_update(None, object.clone(), &by_status)).unwrap().is_empty());
}

#[test]
fn objects_that_do_not_fit_lose_their_owners() {
    let mut cluster = Cluster::new();
    cluster.update("one", |object| object["spec"] = json!({"a": "x"}));
    cluster.update("one", |object| object["spec"]["unknown"] = json!(1));
    assert_eq!(cluster.names(), Vec::<String>::new());
}

#[test]
fn a_write_that_changes_only_times_changes_nothing() {
    let mut cluster = Cluster::new();
    cluster.update("one", |object| object["spec"] = json!({"a": "x"}));
    let old = cluster.live.unwrap();
    let mut new = old.clone();
    new["metadata"]["managedFields"][0]["time"] = json!("2030-01-01T00:00:00Z");
    let mut other = new.clone();
    keep_times_of_equal(&old, &mut new);
    assert_eq!(new, old);
    other["spec"]["a"] = json!("y");
    let moved = other.clone();
    keep_times_of_equal(&old, &mut other);
    assert_eq!(other, moved);
}

#[test]
fn a_writer_without_a_name_is_known_by_its_user_agent() {
    assert_eq!(manager_name("given", "agent/1"), "given");
    assert_eq!(manager_name("", "kubectl/v1.36.3 (linux)"), "kubectl");
    assert_eq!(manager_name("", &"é".repeat(100)), "é".repeat(64));
}
