//! What people and programs send by mistake or on purpose, and random bytes after it.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use muster_apiserver::server::{MAX_BODY_BYTES, Server};
use proptest::prelude::*;
use serde_json::Value;
use tower_service::Service;

use crate::harness;
use crate::oracle::verdict;

const WIDGETS: &str = "/apis/example.org/v1/namespaces/default/widgets";

async fn send(
    server: &Server,
    method: &str,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let response = server.clone().call(request).await.unwrap();
    let code = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

/// The code and the reason of a POST of this body.
async fn post(server: &Server, body: impl Into<Vec<u8>>) -> (u16, String) {
    let (code, status) = send(server, "POST", WIDGETS, "application/json", body.into()).await;
    (code.as_u16(), status["reason"].as_str().unwrap_or_default().to_owned())
}

fn widget(spec: &str) -> String {
    format!(r#"{{"apiVersion":"example.org/v1","kind":"Widget","metadata":{{"name":"b"}},"spec":{spec}}}"#)
}

#[tokio::test]
async fn what_cannot_be_read_is_a_bad_request() {
    let server = harness::server().await;
    let bad = |code: u16, reason: &str| (code, reason.to_owned());
    for body in
        ["", "{", "[]", "null", "3", "\"x\"", "{}{}", "{\"metadata\":3}", "{\"metadata\":{\"name\":3}}"]
    {
        assert_eq!(post(&server, body).await, bad(400, "BadRequest"), "{body}");
    }
    assert_eq!(post(&server, b"{\"a\":\"\xff\"}".to_vec()).await, bad(400, "BadRequest"), "no UTF-8");
    assert_eq!(post(&server, "[".repeat(1_000_000)).await, bad(400, "BadRequest"), "too deep");
    let deep = format!("{}1{}", r#"{"a":"#.repeat(5_000), "}".repeat(5_000));
    assert_eq!(post(&server, widget(&deep)).await, bad(400, "BadRequest"), "too deep");
    let large = widget(&format!(r#"{{"name":"{}"}}"#, "x".repeat(MAX_BODY_BYTES)));
    assert_eq!(post(&server, large).await, bad(413, "RequestEntityTooLarge"));
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let (code, _) = send(&server, "POST", &strict, "application/json", widget(r#"{"nope":1}"#).into()).await;
    assert_eq!(code, 400, "an unknown field");
}

#[tokio::test]
async fn what_is_wrong_in_content_is_invalid() {
    let server = harness::server().await;
    for spec in [
        r#"{"size":"x"}"#,
        r#"{"size":10}"#,
        r#"{"name":"UP"}"#,
        r#"{"items":[{}]}"#,
        r#"{"items":[{"k":"a"},{"k":"a"}]}"#,
    ] {
        assert_eq!(post(&server, widget(spec)).await, (422, "Invalid".to_owned()), "{spec}");
    }
}

#[tokio::test]
async fn odd_paths_methods_and_types_have_answers_of_their_own() {
    let server = harness::server().await;
    let json = "application/json";
    for (method, path, content_type, expected) in [
        ("GET", "/nowhere", json, 404),
        ("GET", "/apis/example.org/v1/namespaces/default/gadgets", json, 404),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets/%zz", json, 400),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets/%ff", json, 404),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets/a/b/c/d", json, 404),
        ("POST", "/api/v1/namespaces/default/configmaps/a", json, 405),
        ("PATCH", "/apis/example.org/v1/namespaces/default/widgets/a", "text/plain", 415),
        ("POST", WIDGETS, "text/plain", 415),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets?limit=x", json, 400),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets?labelSelector=((", json, 400),
        ("GET", "/apis/example.org/v1/namespaces/default/widgets?continue=!!!", json, 400),
    ] {
        let (code, _) = send(&server, method, path, content_type, b"{}".to_vec()).await;
        assert_eq!(code, expected, "{method} {path}");
    }
}

#[test]
fn an_answer_that_something_broke_is_found() {
    let status = |code: u16, message: &str, reason: &str| {
        let status =
            serde_json::json!({"kind": "Status", "code": code, "message": message, "reason": reason});
        verdict(code, "application/json", status.to_string().as_bytes())
    };
    assert!(status(404, "not there", "NotFound").is_ok());
    assert!(status(404, "not there", "").is_err(), "no reason");
    assert!(status(404, "", "NotFound").is_err(), "no message");
    assert!(status(500, "broken", "InternalError").is_err() && status(503, "broken", "x").is_err());
    assert!(status(500, "resourceVersion should not be set on objects to be created", "").is_ok());
    assert!(status(504, "Timeout: Too large resource version: 9, current: 1", "Timeout").is_ok());
    assert!(verdict(500, "text/plain", b"broken").is_err() && verdict(500, "application/yaml", b"").is_err());
    assert!(
        verdict(404, "application/json", b"{}").is_err() && verdict(200, "application/json", b"{").is_ok()
    );
}

#[tokio::test]
async fn what_a_real_server_answers_with_500_is_known() {
    let server = harness::server().await;
    let given = br#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x","resourceVersion":"5"}}"#;
    let (code, _) = send(&server, "POST", "/api/v1/namespaces", "application/json", given.to_vec()).await;
    assert_eq!(code, 500);
    for input in [
        [b"POST /api/v1/namespaces  application/json application/json\n".as_slice(), given].concat(),
        [b"POST /api/v1/namespaces  application/json application/yaml\n".as_slice(), given].concat(),
        b"GET /api/v1/namespaces/default resourceVersion=999999\n".to_vec(),
        b"GET /api/v1/namespaces/default resourceVersion=x\n".to_vec(),
        b"GET /api/v1/namespaces watch=1&resourceVersion=x\n".to_vec(),
    ] {
        harness::play(&server, &input).await;
    }
}

#[test]
fn thousands_of_random_requests_leave_it_well() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let server = runtime.block_on(harness::server());
    let word = prop_oneof![(0..20_u8).prop_map(|n| n.to_string()), "[a-z=&%,!0-9/{}.-]{0,24}"];
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "[\\[\\]{}\":,a-z0-9 ]{0,200}".prop_map(String::into_bytes),
        Just(widget(r#"{"size":3}"#).into_bytes()),
        Just(br#"[{"op":"add","path":"/spec/size","value":4},{"op":"remove","path":"/spec/x/y"}]"#.to_vec()),
    ];
    // Mostly well-formed fields: of a message within a message, or of a text.
    let field = (0..30_u8, proptest::collection::vec(any::<u8>(), 0..20)).prop_map(|(number, content)| {
        let length = u8::try_from(content.len()).unwrap();
        [vec![(number % 16) << 3 | 2, length], content].concat()
    });
    let message = proptest::collection::vec(field, 0..8).prop_map(|fields| fields.concat());
    let body = prop_oneof![body, message];
    let input = (proptest::collection::vec(word, 5), body)
        .prop_map(|(words, body)| [words.join(" ").into_bytes(), b"\n".to_vec(), body].concat());
    let config = ProptestConfig { cases: 3_000, ..ProptestConfig::default() };
    proptest!(config, |(input in input)| {
        runtime.block_on(harness::play(&server, &input));
    });
}
