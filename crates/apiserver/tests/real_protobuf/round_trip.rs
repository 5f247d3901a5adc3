//! Objects of every kind in both forms.

use muster_apiserver::kind::built_in::catalogue;
use muster_apiserver::registry::Resource;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::bases::base;
use crate::server::{Server, path};

/// Where the objects are made.
const NAMESPACE: &str = "both-forms";

/// Objects with as many fields as the real server takes, besides those that other tests have.
const RICH: &str = include_str!("objects.yaml");

fn rich() -> Vec<Value> {
    serde_yaml_ng::Deserializer::from_str(RICH).map(|one| Value::deserialize(one).unwrap()).collect()
}

async fn make(server: &Server, resource: &Resource, mut object: Value) {
    if resource.traits.namespaced {
        object["metadata"]["namespace"] = NAMESPACE.into();
    }
    let place = path(resource, Some(NAMESPACE));
    let made = server.json("POST", &place, &object).await;
    if object["status"].is_object() && resource.plural != "namespaces" {
        let name = made["metadata"]["name"].as_str().unwrap();
        let status = json!({"status": object["status"]});
        server.json("PATCH", &format!("{place}/{name}/status"), &status).await;
    }
}

/// Makes an object of each kind, and the rich ones.
async fn make_all(server: &Server, resources: &[Resource]) {
    server.json("POST", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await;
    let account = json!({"metadata": {"name": "default"}});
    server.json("POST", &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), &account).await;
    for resource in resources.iter().filter(|resource| resource.plural != "customresourcedefinitions") {
        if let Some(mut object) = base(resource) {
            object["metadata"]["name"] = "both-forms-base".into();
            object["metadata"]["managedFields"] = Value::Null;
            // The status of most is another request, and that of these is not complete.
            object.as_object_mut().unwrap().remove("status");
            if resource.plural != "events" {
                make(server, resource, object).await;
            }
        }
    }
    for object in rich() {
        let is_of = |resource: &&Resource| {
            resource.api_version() == object["apiVersion"] && resource.kind_name == object["kind"]
        };
        let resource = resources.iter().find(is_of).unwrap_or_else(|| panic!("{object}"));
        make(server, resource, object.clone()).await;
    }
}

#[tokio::test]
async fn objects_of_every_kind_are_read_as_the_real_server_writes_them() {
    let server = Server::new().await;
    let resources = catalogue::resources();
    make_all(&server, &resources).await;
    let mut without = Vec::new();
    for resource in &resources {
        let list = server.json("GET", &path(resource, None), &Value::Null).await;
        let items = list["items"].as_array().unwrap();
        if items.is_empty() {
            without.push(&resource.plural);
        }
        for item in items {
            let text = |name: &str| item["metadata"][name].as_str();
            let place = format!("{}/{}", path(resource, text("namespace")), text("name").unwrap());
            let mut wanted = server.json("GET", &place, &Value::Null).await;
            let mut read = server.protobuf("GET", &place, &Value::Null).await;
            without_inner_types(&mut wanted);
            assert_eq!(resource.kind.read(&mut wanted), Ok(Vec::new()), "{place}");
            assert_eq!(resource.kind.read(&mut read), Ok(Vec::new()), "{place}");
            assert_eq!(read, wanted, "{place}");
        }
    }
    assert!(without.is_empty(), "nothing was compared for {without:?}");
}

#[tokio::test]
async fn reviews_are_read_as_the_real_server_writes_them() {
    let server = Server::new().await;
    let attributes = json!({
        "namespace": "default", "verb": "get", "group": "apps", "version": "v1", "resource": "deployments",
        "subresource": "status", "name": "n",
    });
    let subject = json!({
        "user": "u", "uid": "1", "groups": ["g", "h"], "extra": {"k": ["a", "b"], "l": []}, "resourceAttributes": attributes,
    });
    let path = json!({"path": "/metrics", "verb": "get"});
    let reviews = [
        ("authorization.k8s.io", "selfsubjectaccessreviews", json!({"resourceAttributes": attributes})),
        ("authorization.k8s.io", "selfsubjectaccessreviews", json!({"nonResourceAttributes": path})),
        ("authorization.k8s.io", "subjectaccessreviews", subject),
        ("authorization.k8s.io", "selfsubjectrulesreviews", json!({"namespace": "default"})),
        ("authentication.k8s.io", "tokenreviews", json!({"token": "t", "audiences": ["a"]})),
    ];
    for (group, plural, spec) in reviews {
        let (place, body) = (format!("/apis/{group}/v1/{plural}"), json!({"spec": spec}));
        let wanted = in_order(server.json("POST", &place, &body).await);
        let read = in_order(server.protobuf("POST", &place, &body).await);
        assert_eq!(without_empty(read), without_empty(wanted), "{place}");
    }
}

#[tokio::test]
async fn scales_are_read_as_the_real_server_writes_them() {
    let server = Server::new().await;
    let spec = json!({
        "replicas": 3, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    let place = "/apis/apps/v1/namespaces/default/deployments";
    let made = json!({"metadata": {"name": "both-forms-scale"}, "spec": spec});
    server.json("POST", place, &made).await;
    let place = format!("{place}/both-forms-scale/scale");
    let wanted = server.json("GET", &place, &Value::Null).await;
    let read = server.protobuf("GET", &place, &Value::Null).await;
    assert_eq!(without_empty(read), without_empty(wanted));
}

/// The server gives rules in any order.
fn in_order(mut review: Value) -> Value {
    for name in ["resourceRules", "nonResourceRules"] {
        if let Some(rules) = review["status"].get_mut(name).and_then(Value::as_array_mut) {
            rules.sort_by_key(Value::to_string);
        }
    }
    review
}

/// Objects inside of others do not say what they are in protobuf; in JSON, by default, these do.
fn without_inner_types(object: &mut Value) {
    let claims = object.pointer_mut("/spec/volumeClaimTemplates").and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten().filter_map(Value::as_object_mut) {
        claim.remove("apiVersion");
        claim.remove("kind");
    }
}

/// What protobuf writes though it is empty is not in JSON.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, without_empty(value)));
            let is_set = |value: &Value| {
                !matches!(value, Value::Null | Value::Bool(false))
                    && *value != json!("")
                    && *value != json!(0)
            };
            Value::Object(fields.filter(|(_, value)| is_set(value) && *value != json!([])).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_empty).collect()),
        other => other,
    }
}
