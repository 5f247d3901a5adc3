//! What is said of metadata that is wrong.

use serde_json::{Value, json};

use super::*;

const PODS: Rules =
    Rules { name: NameRule::Subdomain, namespaced: true, standard_finalizers: true, checks: (2, 2) };

fn said(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn created(metadata: &Value, rules: Rules) -> Vec<String> {
    said(&check_create(&json!({"metadata": metadata}), rules))
}

#[test]
fn a_good_object_passes() {
    let metadata = json!({
        "name": "a", "namespace": "n", "labels": {"example.com/a": "b"}, "annotations": {"Example.com/A": "anything at all"},
        "finalizers": ["example.com/f", "orphan"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}],
    });
    assert_eq!(created(&metadata, PODS), [""; 0]);
}

#[test]
fn names_and_namespaces_are_required_or_forbidden() {
    assert_eq!(
        created(&json!({}), PODS),
        [
            "metadata.name: Required value: name or generateName is required",
            "metadata.namespace: Required value"
        ]
    );
    let nodes = Rules { namespaced: false, ..PODS };
    assert_eq!(
        created(&json!({"name": "a", "namespace": "n"}), nodes),
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
    let found = created(&json!({"name": "A", "generateName": "BB-", "namespace": "n"}), PODS);
    assert!(
        found[0]
            .starts_with(r#"metadata.generateName: Invalid value: "BB-": a lowercase RFC 1123 subdomain"#)
    );
    assert!(found[1].starts_with(r#"metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain"#));
}

#[test]
fn owners_name_an_object_and_only_one_controls() {
    let owners = json!([
        {"apiVersion": "apps/", "kind": "", "name": "", "uid": ""},
        {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": true},
        {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "2", "controller": true},
    ]);
    let found = created(&json!({"name": "a", "namespace": "n", "ownerReferences": owners}), PODS);
    assert_eq!(
        found[0],
        r#"metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty"#
    );
    assert_eq!(found[3], r#"metadata.ownerReferences.uid: Invalid value: "": must not be empty"#);
    assert!(found[4].ends_with(r#"Found "true" in references for A/a and B/b"#), "{}", found[4]);
}

#[test]
fn finalizers_have_a_domain_or_are_standard() {
    let metadata =
        json!({"name": "a", "namespace": "n", "finalizers": ["mine", "orphan", "foregroundDeletion"]});
    let both = r#"metadata.finalizers: Invalid value: ["mine","orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#;
    assert_eq!(created(&metadata, Rules::of_custom_resource(true)), [both]);
    let own = r#"metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified"#;
    assert_eq!(created(&metadata, PODS), [both, own]);
}

#[test]
fn annotations_are_small_together() {
    let annotations = json!({"a": "x".repeat(200 * 1024), "b": "x".repeat(60 * 1024)});
    assert_eq!(
        created(&json!({"name": "a", "namespace": "n", "annotations": annotations}), PODS),
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
}

#[test]
fn an_update_keeps_what_is_the_servers() {
    let object = |metadata: Value| json!({"metadata": metadata});
    let old = object(json!({"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1"}));
    assert!(check_update(&old, &old, PODS).is_empty());
    let other = object(
        json!({"name": "a", "namespace": "n", "uid": "v", "resourceVersion": "1", "labels": {"a": "-"}}),
    );
    let found = said(&check_update(&other, &old, PODS));
    assert!(found.contains(&r#"metadata.uid: Invalid value: "v": field is immutable"#.to_owned()));
    let of_labels = found.iter().filter(|error| error.starts_with("metadata.labels")).count();
    assert_eq!(of_labels, 4, "as often as the server says it");
    let ending =
        object(json!({"name": "a", "namespace": "n", "resourceVersion": "1", "deletionTimestamp": "t"}));
    let mut more = ending.clone();
    more["metadata"]["finalizers"] = json!(["e.org/b", "e.org/a"]);
    let found = said(&check_update(&more, &ending, PODS));
    assert_eq!(
        found[0],
        r#"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"e.org/a", "e.org/b"}"#
    );
}
