//! What descriptions say.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::kind::built_in::catalogue;
use crate::registry::Definition;

fn gadgets() -> Value {
    let schema = json!({"type": "object", "description": "A gadget.", "properties": {"spec": {"type": "object", "properties": {
        "size": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "inner": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
    }}}});
    json!({
        "metadata": {"name": "gadgets.tools.example.org"},
        "spec": {
            "group": "tools.example.org", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn served() -> Vec<Arc<Resource>> {
    let custom = Definition::read(&gadgets()).unwrap().resources();
    catalogue::resources().into_iter().chain(custom).map(Arc::new).collect()
}

#[test]
fn every_group_and_version_has_a_place() {
    let served = served();
    let index = index(&served);
    let url =
        |place: &str| index["paths"][place]["serverRelativeURL"].as_str().unwrap_or_default().to_owned();
    assert!(url("api/v1").starts_with("/openapi/v3/api/v1?hash="));
    assert!(url("apis/tools.example.org/v1").ends_with(&hash(&served, "apis/tools.example.org/v1").unwrap()));
    assert!(document(&served, "apis/nothing/v1").is_none() && hash(&served, "apis/nothing/v1").is_none());
    let without: Vec<_> = served.iter().filter(|one| one.plural != "pods").cloned().collect();
    assert_ne!(hash(&served, "api/v1"), hash(&without, "api/v1"));
    assert_eq!(hash(&served, "apis/apps/v1"), hash(&without, "apis/apps/v1"));
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value, schemas: &Value, place: &str) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(target)) = fields.get("$ref") {
                    let name = target.strip_prefix(place).unwrap_or_else(|| panic!("{target}"));
                    assert!(schemas.get(name).is_some(), "{name}");
                }
                fields.values().for_each(|value| check(value, schemas, place));
            }
            Value::Array(items) => items.iter().for_each(|value| check(value, schemas, place)),
            _ => {}
        }
    }
    let served = served();
    for place in index(&served)["paths"].as_object().unwrap().keys() {
        let document = document(&served, place).unwrap();
        check(&document, &document["components"]["schemas"], "#/components/schemas/");
    }
    let all = v2(&served);
    check(&all, &all["definitions"], "#/definitions/");
}

#[test]
fn a_custom_kind_has_what_every_object_has() {
    let document = document(&served(), "apis/tools.example.org/v1").unwrap();
    let gadget = &document["components"]["schemas"]["org.example.tools.v1.Gadget"];
    assert_eq!(gadget["description"], "A gadget.");
    assert_eq!(
        gadget["x-kubernetes-group-version-kind"],
        json!([{"group": "tools.example.org", "version": "v1", "kind": "Gadget"}])
    );
    let metadata = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(gadget["properties"]["metadata"]["allOf"][0]["$ref"], metadata);
    let inner = &gadget["properties"]["spec"]["properties"]["inner"];
    assert_eq!(inner["required"], json!(["kind", "apiVersion"]));
    let path = &document["paths"]["/apis/tools.example.org/v1/namespaces/{namespace}/gadgets/{name}"];
    assert_eq!(path["patch"]["operationId"], "patchToolsExampleOrgV1NamespacedGadget");
    assert_eq!(path["patch"]["x-kubernetes-group-version-kind"]["kind"], "Gadget");
    let names: Vec<&str> = path["patch"]["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
}

#[test]
fn version_2_says_the_same_in_other_words() {
    let all = v2(&served());
    let port = &all["definitions"]["io.k8s.api.core.v1.ServicePort"]["properties"]["targetPort"];
    assert_eq!(port["$ref"], "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    let either = &all["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"];
    assert_eq!((&either["type"], &either["format"]), (&json!("string"), &json!("int-or-string")));
    let patch = &all["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(patch["parameters"][0]["in"], "body");
    assert_eq!(
        patch["parameters"][1],
        json!({"name": "dryRun", "in": "query", "type": "string", "uniqueItems": true})
    );
    assert_eq!(patch["responses"]["200"]["schema"]["$ref"], "#/definitions/io.k8s.api.apps.v1.Deployment");
    assert_eq!(patch["consumes"].as_array().map(Vec::len), Some(4));
}
