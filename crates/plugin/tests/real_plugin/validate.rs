//! `validate`: the schema always, what a manifest refers to where it can be looked for.

use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::cluster;

fn storage_class() -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "plugin"},
        "provisioner": "nobody.example"})
}

#[test]
fn what_the_schema_refuses_is_listed_with_its_fields() {
    on_both("schema", |stage| {
        let mut wrong = cluster("orders", "x", 1);
        wrong["spec"]["pools"][0]["threshold"] = json!({"nodes": 1, "minNodes": 2});
        wrong["spec"]["primaries"] = json!(0);
        let said = stage.muster_with("validate -f - --offline", &wrong.to_string());
        let said = said.says(&["orders not valid", "spec.pools[0].threshold: ", "spec.primaries: "]);
        said.failed(4, &["1 manifest is not valid", "--offline was given"]);
        let said = stage.muster_with("validate -f - --offline", &cluster("orders", "x", 1).to_string());
        said.succeeded().says(&["valid as far as it could be checked"]);
        stage.muster("validate -f nowhere.yaml").failed(1, &["cannot read nowhere.yaml"]);
        stage
            .muster_with("validate -f -", "kind: ConfigMap\napiVersion: v1\n")
            .failed(4, &["none of the 1 manifests"]);
    });
}

#[test]
fn what_a_manifest_refers_to_is_looked_for() {
    on_both("references", |stage| {
        let namespace = &stage.namespace;
        let mut object = cluster("orders", namespace, 1);
        object["spec"]["certificateAuthority"] = json!({"secretName": "ca"});
        object["spec"]["engine"]["name"] = json!("nobodys");
        let said = stage.muster_with("validate -f -", &object.to_string());
        said.says(&[
            "spec.engine.name: there is no ReplicationEngine \"nobodys\"",
            "spec.pools[0].storage.storageClassName: there is no StorageClass \"plugin\"",
            "spec.certificateAuthority.secretName: there is no Secret \"ca\"",
        ])
        .failed(4, &[]);
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ca", "namespace": namespace},
            "stringData": {"tls.crt": "no certificate"}});
        let several = json!({"apiVersion": "v1", "kind": "List", "items": [object, secret, storage_class()]});
        let said = stage.muster_with("validate -f - -o json", &several.to_string());
        assert!(said.out.contains("tls.crt in Secret \\\"ca\\\" is not a CA certificate"), "{said:?}");
        assert!(!said.out.contains("StorageClass"), "{said:?}");
    });
}

#[test]
fn a_change_that_is_not_allowed_is_found_before_it_is_made() {
    on_both("change", |stage| {
        stage.cluster("orders", 1);
        let mut object = cluster("orders", &stage.namespace, 1);
        object["spec"]["engine"]["name"] = json!("another");
        let said = stage.muster_with("validate -f -", &object.to_string());
        said.says(&["spec.engine.name"]).failed(4, &[]);
    });
}
