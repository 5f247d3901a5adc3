//! `ConfigMap` and `Secret`.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::Bench;

#[test]
fn real_config_maps_are_the_same() {
    let mut bench = Bench::new("v1", "ConfigMap", "/api/v1/namespaces/default/configmaps");
    let owner =
        |uid: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": uid, "controller": true});
    bench.creations(
        &json!({}),
        &[
            json!({}),
            json!({"metadata": {"ownerReferences": [owner("u"), owner("v")]}}),
            json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "u", "blockOwnerDeletion": true}]}}),
            json!({"data": {"a.b_C-1": "x"}, "binaryData": {"b": "eA=="}, "immutable": true}),
            json!({"data": {"a b": "x"}}),
            json!({"data": {"": "x"}}),
            json!({"data": {"..": "x"}}),
            json!({"data": {".": "x"}}),
            json!({"data": {"..a": "x"}}),
            json!({"binaryData": {"a/b": "eA=="}}),
            json!({"data": {"x".repeat(254): "x"}}),
            json!({"data": {"a": "x"}, "binaryData": {"a": "eA=="}}),
            json!({"data": {"a": "x".repeat(1024 * 1024)}}),
            json!({"data": {"a": "x".repeat(1024 * 1024 + 1)}}),
            json!({"data": {"a": "x".repeat(1024 * 1024 - 1)}, "binaryData": {"b": "eHg="}}),
        ],
    );
    let open = bench.create(&json!({"metadata": {"name": "open"}, "data": {"a": "b"}}));
    let closed = bench.create(
        &json!({"metadata": {"name": "closed"}, "data": {"a": "b"}, "binaryData": {"c": "eA=="}, "immutable": true}),
    );
    let changes = [
        json!({}),
        json!({"data": {"a": "c"}}),
        json!({"data": null}),
        json!({"binaryData": {"d": "eA=="}}),
        json!({"immutable": false}),
        json!({"immutable": null, "data": null, "binaryData": null}),
        json!({"metadata": {"labels": {"a": "b"}}}),
    ];
    bench.updates(&open, Part::Whole, &changes);
    bench.updates(&closed, Part::Whole, &changes);
    bench.assert_same(29);
}

fn of_type(kind: &str, data: &Value) -> Value {
    json!({"type": format!("kubernetes.io/{kind}"), "data": data})
}

#[test]
fn real_secrets_are_the_same() {
    let mut bench = Bench::new("v1", "Secret", "/api/v1/namespaces/default/secrets");
    let empty = json!({});
    bench.creations(&json!({}), &[
        json!({}),
        json!({"type": "mine", "data": {"a": "eA=="}}),
        json!({"stringData": {"a": "x", "b": "y"}, "data": {"a": "eg==", "c": "eg=="}}),
        json!({"type": "", "stringData": {"a": ""}}),
        json!({"data": {"a b": "eA=="}}),
        json!({"stringData": {"a b": "x"}}),
        json!({"stringData": {"a": "x".repeat(1024 * 1024 + 1)}}),
        of_type("service-account-token", &empty),
        json!({"type": "kubernetes.io/service-account-token", "metadata": {"annotations": {"kubernetes.io/service-account.name": "a"}}}),
        of_type("dockercfg", &empty),
        of_type("dockercfg", &json!({".dockercfg": "e30="})),
        of_type("dockercfg", &json!({".dockercfg": "eA=="})),
        of_type("dockercfg", &json!({".dockercfg": ""})),
        of_type("dockerconfigjson", &empty),
        of_type("dockerconfigjson", &json!({".dockerconfigjson": "e30="})),
        of_type("dockerconfigjson", &json!({".dockerconfigjson": "WzFd"})),
        of_type("dockerconfigjson", &json!({".dockerconfigjson": "MQ=="})),
        of_type("basic-auth", &empty),
        of_type("basic-auth", &json!({"username": ""})),
        of_type("ssh-auth", &empty),
        of_type("ssh-auth", &json!({"ssh-privatekey": ""})),
        of_type("ssh-auth", &json!({"ssh-privatekey": "eA=="})),
        of_type("tls", &empty),
        of_type("tls", &json!({"tls.crt": "eA=="})),
        of_type("tls", &json!({"tls.crt": "eA==", "tls.key": ""})),
    ]);
    let open = bench.create(&json!({"metadata": {"name": "open"}, "stringData": {"a": "b"}}));
    let closed =
        bench.create(&json!({"metadata": {"name": "closed"}, "stringData": {"a": "b"}, "immutable": true}));
    let changes = [
        json!({}),
        json!({"type": "other"}),
        json!({"type": null}),
        json!({"data": null}),
        json!({"stringData": {"a": "b"}}),
        json!({"stringData": {"a": "c"}}),
        json!({"immutable": false}),
    ];
    bench.updates(&open, Part::Whole, &changes);
    bench.updates(&closed, Part::Whole, &changes);
    bench.assert_same(39);
}
