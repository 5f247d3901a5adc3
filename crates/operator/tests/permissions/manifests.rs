//! The roles as they are installed: what must never be in them.

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use muster_operator::rbac::{for_all_namespaces, for_namespace, for_users, manifests};
use serde::Deserialize;
use serde_json::Value;

/// The documents of a file.
fn documents(text: &str) -> Vec<Value> {
    serde_yaml_ng::Deserializer::from_str(text).map(|one| Value::deserialize(one).unwrap()).collect()
}

/// The rules of all roles of a file, with the name of the role.
fn rules(text: &str) -> Vec<(String, PolicyRule)> {
    let roles =
        documents(text).into_iter().filter(|one| one["kind"] == "ClusterRole" || one["kind"] == "Role");
    roles
        .flat_map(|mut role| {
            role["kind"] = "ClusterRole".into();
            let role: ClusterRole = serde_json::from_value(role).unwrap();
            let name = role.metadata.name.unwrap();
            role.rules.unwrap_or_default().into_iter().map(move |rule| (name.clone(), rule))
        })
        .collect()
}

#[test]
fn no_role_has_a_wildcard_executes_in_pods_or_sees_all_secrets() {
    for (file, text) in manifests() {
        let rules = rules(&text);
        assert!(!rules.is_empty());
        for (_, rule) in rules {
            let (groups, resources) = (rule.api_groups.unwrap(), rule.resources.unwrap());
            let all = groups.iter().chain(&resources).chain(&rule.verbs);
            assert!(all.clone().all(|word| !word.contains('*')), "{file}: {:?}", all.collect::<Vec<_>>());
            assert!(
                resources.iter().all(|it| it != "pods/exec" && it != "pods/attach"),
                "{file}: {resources:?}"
            );
            let strong = ["escalate", "bind", "impersonate"];
            assert!(
                rule.verbs.iter().all(|verb| !strong.contains(&verb.as_str())),
                "{file}: {:?}",
                rule.verbs
            );
            if resources.iter().any(|resource| resource == "secrets") {
                for verb in ["list", "watch", "deletecollection"] {
                    assert!(!rule.verbs.iter().any(|it| it == verb), "{file} lets someone {verb} Secrets");
                }
            }
        }
    }
}

#[test]
fn people_read_engines_and_write_no_status() {
    for (name, rule) in rules(&for_users()) {
        let (resources, verbs) = (rule.resources.unwrap(), rule.verbs);
        assert!(resources.iter().all(|it| !it.contains('/')), "{name}: {resources:?}");
        if resources.iter().any(|it| it == "replicationengines") {
            assert_eq!(verbs, ["get", "list", "watch"], "{name}");
        }
    }
    let aggregated = |to: &str| {
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{to}");
        let has = move |role: &Value| role["metadata"]["labels"][&label] == "true";
        let roles = documents(&for_users()).into_iter().filter(has);
        roles.map(|role| role["metadata"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(aggregated("view"), ["muster-view"]);
    assert_eq!(aggregated("edit"), ["muster-view", "muster-edit"]);
    assert_eq!(aggregated("admin"), ["muster-view", "muster-edit"]);
}

#[test]
fn within_one_namespace_only_engines_and_storage_classes_are_read_beside_it() {
    let beside: Vec<_> = rules(&for_namespace("shop"))
        .into_iter()
        .filter(|(name, _)| name == "muster-operator-beside")
        .collect();
    let words: Vec<_> = beside
        .iter()
        .map(|(_, rule)| (rule.resources.clone().unwrap().join(","), rule.verbs.join(",")))
        .collect();
    assert_eq!(
        words,
        [("replicationengines", "watch"), ("storageclasses", "watch")].map(|(a, b)| (a.into(), b.into()))
    );
    for document in documents(&for_namespace("shop")) {
        let namespace = document["metadata"]["namespace"].as_str().unwrap_or("none");
        let beside = document["kind"].as_str().unwrap().starts_with("ClusterRole");
        assert_eq!(namespace, if beside { "none" } else { "shop" }, "{document}");
    }
}

#[test]
fn every_binding_names_a_role_and_an_account_of_its_file() {
    for text in [for_all_namespaces(), for_namespace("shop")] {
        let all = documents(&text);
        let has = |kind: &Value, name: &Value, namespace: &Value| {
            all.iter().any(|one| {
                one["kind"] == *kind
                    && one["metadata"]["name"] == *name
                    && one["metadata"]["namespace"] == *namespace
            })
        };
        let bindings: Vec<_> = all.iter().filter(|one| !one["roleRef"].is_null()).collect();
        assert_eq!(bindings.len(), 2);
        for binding in bindings {
            let role = &binding["roleRef"];
            assert!(has(&role["kind"], &role["name"], &binding["metadata"]["namespace"]), "{binding}");
            let account = &binding["subjects"][0];
            assert!(has(&account["kind"], &account["name"], &account["namespace"]), "{binding}");
        }
    }
}
