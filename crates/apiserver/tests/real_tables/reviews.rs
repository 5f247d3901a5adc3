//! The same questions, the same answers.

use muster_apiserver::reviews::{self, Asked, User};
use serde_json::{Value, json};

use crate::server::Server;

/// What must differ: times, and who wrote which field of an object that is not kept.
fn comparable(mut review: Value) -> Value {
    if let Some(metadata) = review.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("creationTimestamp");
    }
    // The real server tells what everybody may do in any order.
    for rules in ["/status/resourceRules", "/status/nonResourceRules"] {
        if let Some(rules) = review.pointer_mut(rules).and_then(Value::as_array_mut) {
            rules.sort_by_key(Value::to_string);
        }
    }
    review
}

fn ours(path: &str, body: &Value) -> Value {
    let user = User::master("admin");
    let parts: Vec<&str> = path.trim_start_matches("/apis/").split('/').collect();
    let (namespace, resource) = match parts.as_slice() {
        [_, _, "namespaces", namespace, resource] => (Some(*namespace), *resource),
        [_, _, resource] => (None, *resource),
        other => panic!("{other:?}"),
    };
    let asked = Asked {
        group: parts[0],
        resource,
        namespace,
        body,
        user: &user,
        now: "2026-01-01T00:00:00Z",
        owner_of: &|_| None,
    };
    match reviews::answer(&asked).unwrap() {
        Ok(review) => review,
        Err(error) => error.to_status(),
    }
}

#[test]
fn reviews_are_answered_as_by_the_real_server() {
    let server = Server::new();
    let about = json!({"namespace": "default", "verb": "get", "resource": "pods"});
    let path = json!({"path": "/x", "verb": "get"});
    let authentication = "/apis/authentication.k8s.io/v1";
    let authorization = "/apis/authorization.k8s.io/v1";
    let masters = json!({"spec": {"resourceAttributes": about, "user": "a", "groups": ["system:masters"]}});
    let elsewhere = json!({"spec": {"resourceAttributes": {"namespace": "other"}, "user": "a"}});
    let cases = [
        (format!("{authentication}/selfsubjectreviews"), json!({})),
        (format!("{authentication}/selfsubjectreviews"), json!({"metadata": {"name": "x"}})),
        (format!("{authentication}/tokenreviews"), json!({"spec": {"token": "no"}})),
        (format!("{authentication}/tokenreviews"), json!({"spec": {}})),
        (format!("{authorization}/selfsubjectaccessreviews"), json!({"spec": {"resourceAttributes": about}})),
        (
            format!("{authorization}/selfsubjectaccessreviews"),
            json!({"spec": {"nonResourceAttributes": path}}),
        ),
        (format!("{authorization}/selfsubjectaccessreviews"), json!({"spec": {}})),
        (
            format!("{authorization}/selfsubjectaccessreviews"),
            json!({"spec": {"resourceAttributes": about, "nonResourceAttributes": path}}),
        ),
        (format!("{authorization}/subjectaccessreviews"), json!({"spec": {"resourceAttributes": about}})),
        (
            format!("{authorization}/subjectaccessreviews"),
            json!({"spec": {"resourceAttributes": about, "user": "bob"}}),
        ),
        (format!("{authorization}/subjectaccessreviews"), masters.clone()),
        (format!("{authorization}/namespaces/default/localsubjectaccessreviews"), masters),
        (format!("{authorization}/namespaces/default/localsubjectaccessreviews"), elsewhere),
        (format!("{authorization}/selfsubjectrulesreviews"), json!({"spec": {"namespace": "default"}})),
        (format!("{authorization}/selfsubjectrulesreviews"), json!({"spec": {}})),
    ];
    for (path, body) in cases {
        let mut body = body;
        let kind =
            reviews::served().into_iter().find(|one| path.ends_with(&format!("/{}", one.plural))).unwrap();
        body["kind"] = kind.kind.into();
        body["apiVersion"] = format!("{}/v1", kind.group).into();
        let real = server.send("POST", &path, &body);
        assert_eq!(comparable(ours(&path, &body)), comparable(real), "{path} {body}");
    }
}
