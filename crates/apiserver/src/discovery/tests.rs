//! Discovery of a definition and a review: what is told, without a real server.

use serde_json::{Value, json};

use super::*;
use crate::registry::Definition;

fn all() -> Vec<Served> {
    let version = |name: &str| json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {"type": "object"}}});
    let crd = json!({
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1"), version("v2")],
        },
    });
    let made = Definition::read(&crd).unwrap().resources();
    let review = Served::review("authentication.k8s.io", "TokenReview", false);
    made.iter().map(Served::from).chain([review]).collect()
}

#[test]
fn groups_are_told_with_the_version_to_prefer() {
    let groups = groups(&all());
    assert_eq!(groups["groups"][0]["name"], "authentication.k8s.io");
    assert_eq!(groups["groups"][1]["preferredVersion"]["groupVersion"], "example.org/v2");
    assert_eq!(group(&all(), "example.org").unwrap()["kind"], "APIGroup");
    assert_eq!(group(&all(), "other.org"), None);
    assert_eq!(resources(&all(), "example.org", "v3"), None);
}

#[test]
fn all_versions_have_the_hash_of_the_stored_one() {
    let hash = |version: &str| {
        resources(&all(), "example.org", version).unwrap()["resources"][0]["storageVersionHash"].clone()
    };
    assert_eq!(hash("v1"), hash::storage_version("example.org", "v1", "Widget"));
    assert_eq!(hash("v1"), hash("v2"));
}

#[test]
fn one_document_tells_all_and_its_tag_moves_with_it() {
    let told = aggregated(&all(), false);
    let document: Value = serde_json::from_str(&told.body).unwrap();
    let widget = &document["items"][1]["versions"][0]["resources"][0];
    assert_eq!(widget["responseKind"], json!({"group": "example.org", "version": "v2", "kind": "Widget"}));
    assert_eq!(told, aggregated(&all(), false));
    assert_ne!(told.tag, aggregated(&all()[1..], false).tag);
}

#[test]
fn the_root_lists_the_paths() {
    let paths = paths(&all(), &["/version"]);
    let wanted = ["/api", "/apis", "/apis/", "/apis/authentication.k8s.io", "/apis/authentication.k8s.io/v1"];
    assert_eq!(paths["paths"].as_array().unwrap()[..5], wanted);
    assert_eq!(paths["paths"].as_array().unwrap().last().unwrap(), "/version");
}
