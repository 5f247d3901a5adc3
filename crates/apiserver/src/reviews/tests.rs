//! What is answered, beside what the real server is seen to answer.

use super::*;

fn ask(resource: &str, namespace: Option<&str>, body: &Value) -> Result<Value, ApiError> {
    let user = User::master("admin");
    let owner_of = |token: &str| (token == "good").then(|| User::master("admin"));
    let group = if resource.contains("access") || resource.contains("rules") {
        AUTHORIZATION
    } else {
        AUTHENTICATION
    };
    let asked = Asked {
        group,
        resource,
        namespace,
        body,
        user: &user,
        now: "2026-01-01T00:00:00Z",
        owner_of: &owner_of,
    };
    answer(&asked).unwrap()
}

#[test]
fn every_review_is_discovered_and_answered() {
    let all = served();
    assert_eq!(all.len(), 6);
    let body = json!({"spec": {
        "token": "good", "user": "admin", "namespace": "ns",
        "resourceAttributes": {"namespace": "ns"},
    }});
    for one in all {
        let namespace = one.namespaced.then_some("ns");
        let answer = ask(&one.plural, namespace, &body).unwrap();
        assert_eq!(answer["kind"], one.kind);
    }
}

#[test]
fn the_one_user_may_do_everything_and_others_nothing() {
    let body = json!({"spec": {"resourceAttributes": {"verb": "get"}, "user": "bob"}});
    assert_eq!(ask("selfsubjectaccessreviews", None, &body).unwrap()["status"], json!({"allowed": true}));
    assert_eq!(ask("subjectaccessreviews", None, &body).unwrap()["status"], json!({"allowed": false}));
    let who = ask("selfsubjectreviews", None, &json!({})).unwrap();
    assert_eq!(who["status"]["userInfo"]["groups"], json!(["system:masters", "system:authenticated"]));
}

#[test]
fn a_token_is_ours_or_not() {
    let status = |token: &str| {
        ask("tokenreviews", None, &json!({"spec": {"token": token}})).unwrap()["status"].clone()
    };
    assert_eq!(status("good")["authenticated"], true);
    assert_eq!(status("bad"), json!({"user": {}, "error": "invalid bearer token"}));
    assert_eq!(ask("tokenreviews", None, &json!({})).unwrap_err().reason.code(), 400);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let message = |body: Value| ask("subjectaccessreviews", None, &body).unwrap_err().message;
    let path = json!({"path": "/x", "verb": "get"});
    assert_eq!(
        message(json!({"spec": {"user": "bob", "nonResourceAttributes": path, "resourceAttributes": {}}})),
        ".authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: \
         {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes"
    );
    assert_eq!(
        message(json!({"spec": {"resourceAttributes": {"verb": "get"}}})),
        ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group \
         must be specified"
    );
    assert_eq!(
        message(json!({"metadata": {"name": "x"}, "spec": {"resourceAttributes": {}}})),
        ".authorization.k8s.io \"\" is invalid: [spec.user: Invalid value: \"\": at least one of user or group must be \
         specified, metadata: Invalid value: {\"name\":\"x\"}: must be empty]"
    );
    let elsewhere = json!({"spec": {"user": "bob", "resourceAttributes": {"namespace": "other"}}});
    let error = ask("localsubjectaccessreviews", Some("ns"), &elsewhere).unwrap_err();
    assert_eq!(error.causes[0].message, "Invalid value: \"other\": must match metadata.namespace");
}
