//! Roles and bindings.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::Bench;

const VERSION: &str = "rbac.authorization.k8s.io/v1";

fn rules() -> Vec<Value> {
    let rule = |rule: Value| json!({"rules": [rule]});
    vec![
        json!({}),
        rule(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]})),
        rule(json!({"verbs": ["get"]})),
        rule(json!({"apiGroups": [""], "resources": ["pods"]})),
        rule(json!({"verbs": ["get"], "nonResourceURLs": ["/a"]})),
        rule(json!({"nonResourceURLs": ["/a"], "resources": ["pods"]})),
        json!({"rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {}]}),
    ]
}

#[test]
fn real_roles_are_the_same() {
    let mut bench =
        Bench::new(VERSION, "Role", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles");
    bench.creations(&json!({}), &rules());
    let stored = bench.create(&json!({"metadata": {"name": "role"}}));
    bench.updates(&stored, Part::Whole, &rules());
    bench.assert_same(14);
}

#[test]
fn real_cluster_roles_are_the_same() {
    let mut bench = Bench::new(VERSION, "ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles");
    let aggregation = |selectors: Value| json!({"aggregationRule": {"clusterRoleSelectors": selectors}});
    bench.creations(&json!({}), &rules());
    let changes = [
        json!({"aggregationRule": {}}),
        aggregation(json!([{"matchLabels": {"a": "b"}}])),
        aggregation(
            json!([{"matchLabels": {"a b": "c"}}, {"matchExpressions": [{"key": "a", "operator": "In"}]}]),
        ),
    ];
    bench.creations(&json!({}), &changes);
    let stored = bench.create(&json!({"metadata": {"name": "role"}}));
    bench.updates(&stored, Part::Whole, &changes);
    bench.assert_same(13);
}

fn bindings() -> Vec<Value> {
    let subjects = |subjects: Value| json!({"subjects": subjects});
    let group = "rbac.authorization.k8s.io";
    vec![
        json!({}),
        json!({"roleRef": {"apiGroup": group}}),
        json!({"roleRef": {"kind": "Role"}}),
        json!({"roleRef": null}),
        json!({"roleRef": {"apiGroup": "x", "kind": "Y", "name": ""}}),
        json!({"roleRef": {"name": "a/b%"}}),
        json!({"roleRef": {"name": ".."}}),
        json!({"roleRef": {"name": "other:name"}}),
        subjects(
            json!([{"kind": "User", "name": "a"}, {"kind": "Group", "name": "b"}, {"kind": "ServiceAccount", "name": "c", "namespace": "d"}]),
        ),
        subjects(
            json!([{"kind": "User"}, {"kind": "ServiceAccount", "name": "c"}, {"kind": "ServiceAccount", "name": "C", "apiGroup": group}]),
        ),
        subjects(
            json!([{"kind": "Robot", "name": "a"}, {"kind": "Group", "name": "b", "apiGroup": "x"}, {}]),
        ),
    ]
}

#[test]
fn real_role_bindings_are_the_same() {
    let path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let mut bench = Bench::new(VERSION, "RoleBinding", path);
    let base = json!({"roleRef": {"kind": "ClusterRole", "name": "view"}});
    bench.creations(&base, &bindings());
    let stored = bench.create(&crate::bench::changed(&base, &json!({"metadata": {"name": "binding"}})));
    bench.updates(&stored, Part::Whole, &bindings());
    bench.assert_same(22);
}

#[test]
fn real_cluster_role_bindings_are_the_same() {
    let mut bench =
        Bench::new(VERSION, "ClusterRoleBinding", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings");
    let base = json!({"roleRef": {"kind": "ClusterRole", "name": "view"}});
    bench.creations(&base, &bindings());
    let stored = bench.create(&crate::bench::changed(&base, &json!({"metadata": {"name": "binding"}})));
    bench.updates(&stored, Part::Whole, &bindings());
    bench.assert_same(22);
}
