//! Tests of the schema half that need no API server.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::json;

use super::*;

fn cluster() -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1",
        "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": "shop"},
        "spec": {
            "engine": {"name": "galera"},
            "pools": [
                {"name": "a", "threshold": {"nodes": 2}, "storage": {"capacity": "10Gi"}},
                {"name": "b", "threshold": {"minNodes": 1}, "storage": {"capacity": "5Gi", "storageClassName": "fast"}},
            ],
        },
    })
}

fn said(object: &Value, old: Option<&Value>) -> Vec<String> {
    refusals("ReplicatedCluster", object, old).iter().map(ToString::to_string).collect()
}

/// What is said after one value was put somewhere.
fn with(pointer: &str, value: Value) -> Vec<String> {
    let mut object = cluster();
    *object.pointer_mut(pointer).unwrap() = value;
    said(&object, None)
}

/// What is said about one change.
fn changing(pointer: &str, value: Value) -> Vec<String> {
    let mut object = cluster();
    *object.pointer_mut(pointer).unwrap() = value;
    said(&object, Some(&cluster()))
}

fn rules_of(schema: &JSONSchemaProps, found: &mut Vec<String>) {
    found.extend(schema.x_kubernetes_validations.iter().flatten().map(|rule| rule.rule.clone()));
    schema.properties.iter().flatten().for_each(|(_, inner)| rules_of(inner, found));
    if let Some(JSONSchemaPropsOrArray::Schema(inner)) = &schema.items {
        rules_of(inner, found);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(inner)) = &schema.additional_properties {
        rules_of(inner, found);
    }
}

#[test]
fn every_rule_of_every_crd_has_its_counterpart() {
    let mut found = Vec::new();
    SCHEMAS.values().for_each(|schema| rules_of(schema, &mut found));
    assert!(found.len() > 20, "{found:?}");
    for rule in found {
        assert!(rules::is_known(&rule), "{rule}");
    }
    assert!(!rules::holds("1 == 1", &Value::Null, None), "a rule that is not known refuses");
}

#[test]
fn a_valid_cluster_passes_and_an_unknown_kind_does_not() {
    assert_eq!(said(&cluster(), None), Vec::<String>::new());
    assert_eq!(said(&cluster(), Some(&cluster())), Vec::<String>::new());
    assert_eq!(
        refusals("Cluster", &cluster(), None)[0].to_string(),
        "kind: \"Cluster\" is not a kind of this API"
    );
}

#[test]
fn all_violations_are_listed_with_their_paths() {
    let mut object = cluster();
    object["spec"]["pools"][0]["threshold"] = json!({"nodes": 1, "minNodes": 3, "maxNodes": 2});
    object["spec"]["pools"][1]["name"] = json!("B!");
    object["spec"]["primaries"] = json!(0);
    object["metadata"]["name"] = json!("x".repeat(31));
    let said = said(&object, None);
    let paths: Vec<&str> = said.iter().filter_map(|line| line.split(": ").next()).collect();
    let expected = [
        "spec.pools[0].threshold",
        "spec.pools[0].threshold",
        "spec.pools[1].name",
        "spec.primaries",
        "metadata.name",
    ];
    assert_eq!(paths, expected, "{said:#?}");
    assert!(said[0].ends_with("nodes excludes minNodes, maxNodes, freeStorageMin and freeStorageMax"));
    assert!(said[1].ends_with("minNodes must be less than maxNodes"));
}

#[test]
fn the_name_is_checked() {
    let long = with("/metadata/name", json!("x".repeat(31)));
    assert_eq!(long.len(), 1);
    assert!(long[0].starts_with("metadata.name: the name of a ReplicatedCluster has at most 30"), "{long:?}");
    assert_eq!(with("/metadata/name", json!("x".repeat(30))), Vec::<String>::new());
    let mut nameless = cluster();
    nameless["metadata"] = json!({});
    assert!(said(&nameless, None).contains(&"metadata.name: is required".to_owned()));
}

#[test]
fn form_comes_with_its_bound() {
    let rows = [
        ("/spec/pools", json!([]), "spec.pools: must have at least 1 items"),
        ("/spec/pools", json!({}), "spec.pools: must be an array"),
        ("/spec/engine", json!("galera"), "spec.engine: must be an object"),
        ("/spec/pools/0/threshold/nodes", json!(513), "spec.pools[0].threshold.nodes: must be at most 512"),
        ("/spec/pools/0/threshold/nodes", json!(-1), "spec.pools[0].threshold.nodes: must be at least 0"),
        ("/spec/pools/0/threshold/nodes", json!("2"), "spec.pools[0].threshold.nodes: must be an integer"),
        (
            "/spec/pools/0/storage/capacity",
            json!(true),
            "spec.pools[0].storage.capacity: must be an integer or a string",
        ),
        (
            "/spec/pools/0/storage/capacity",
            json!("0"),
            "spec.pools[0].storage.capacity: must be greater than zero",
        ),
        ("/spec/pools/0/storage/capacity", Value::Null, "spec.pools[0].storage.capacity: is required"),
        ("/spec/pools/1/name", json!("a"), "spec.pools[1]: is given twice"),
    ];
    for (pointer, value, expected) in rows {
        assert_eq!(with(pointer, value), [expected]);
    }
    let mut choice = cluster();
    choice["spec"]["service"] = json!({"type": "Best"});
    assert_eq!(said(&choice, None), ["spec.service.type: must be one of ClusterIP, NodePort, LoadBalancer"]);
    let mut map = cluster();
    map["spec"]["engine"]["parameters"] = json!({"fine": "x", "also.fine": 5});
    assert_eq!(said(&map, None), ["spec.engine.parameters[also.fine]: must be a string"]);
}

#[test]
fn null_is_not_given_and_what_is_unknown_is_dropped() {
    let mut object = cluster();
    object["spec"]["primaries"] = Value::Null;
    object["spec"]["unheard"] = json!({"of": [1]});
    object["status"] = json!("nonsense");
    assert_eq!(said(&object, None), Vec::<String>::new());
    let nothing = with("/spec/pools/0/threshold", json!({"nodes": null}));
    assert_eq!(nothing.len(), 1, "null does not get past 'at least one': {nothing:?}");
    assert_eq!(with("/spec/pools/0", Value::Null), ["spec.pools[0]: must be an object"]);
}

#[test]
fn changes_are_compared_with_what_they_replace() {
    assert_eq!(
        changing("/spec/engine/name", json!("etcd")),
        ["spec.engine.name: the engine of a cluster cannot be changed"]
    );
    assert_eq!(
        changing("/spec/pools/0/storage/capacity", json!("9Gi")),
        ["spec.pools[0].storage.capacity: capacity can only grow"]
    );
    for same_or_more in [json!("10Gi"), json!("10737418240"), json!(10_737_418_240_i64), json!("11Gi")] {
        assert_eq!(changing("/spec/pools/0/storage/capacity", same_or_more), Vec::<String>::new());
    }
    for storage in [json!({"capacity": "5Gi"}), json!({"capacity": "5Gi", "storageClassName": "slow"})] {
        let said = changing("/spec/pools/1/storage", storage);
        assert_eq!(said, ["spec.pools[1].storage: storageClassName cannot be changed: add another pool"]);
    }
    let mut added = cluster();
    added["spec"]["pools"][0]["storage"]["storageClassName"] = json!("fast");
    assert_eq!(said(&added, Some(&cluster())).len(), 1);
}

#[test]
fn pools_answer_to_each_other_by_name() {
    let mut swapped = cluster();
    swapped["spec"]["pools"].as_array_mut().unwrap().swap(0, 1);
    assert_eq!(said(&swapped, Some(&cluster())), Vec::<String>::new());
    let renamed = changing(
        "/spec/pools/0",
        json!({"name": "c", "threshold": {"nodes": 2}, "storage": {"capacity": "1Gi"}}),
    );
    assert_eq!(renamed, Vec::<String>::new(), "another pool, not a smaller one");
}
