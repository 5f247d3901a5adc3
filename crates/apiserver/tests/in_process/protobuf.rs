//! Bodies in protobuf, as clients in Go send them.

use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::Value;

use crate::widgets::server;

/// A field that holds text or a message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

fn object(api_version: &str, kind: &str, content: &[u8]) -> Vec<u8> {
    let of = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &of), field(2, content)].concat()
}

/// What clients write for metadata: empty fields too.
fn named(name: &str) -> Vec<u8> {
    field(1, &[field(1, name.as_bytes()), field(2, b""), field(3, b""), field(8, b"")].concat())
}

async fn send(client: &Client, method: &str, path: &str, body: Vec<u8>) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header("Content-Type", "application/vnd.kubernetes.protobuf")
        .header("Accept", "application/vnd.kubernetes.protobuf,application/json");
    let answer = client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
    let code = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn objects_are_created_and_deleted_with_bodies_in_protobuf() {
    let (_server, client) = server().await;
    let data = field(2, &[field(1, b"a"), field(2, b"b")].concat());
    let body = object("v1", "ConfigMap", &[named("one"), data].concat());
    let (code, made) = send(&client, "POST", CONFIG_MAPS, body).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["data"]["a"], "b");
    assert!(made["metadata"]["uid"].is_string() && made["metadata"].get("generateName").is_none());
    let path = format!("{CONFIG_MAPS}/one");
    let other = object("v1", "DeleteOptions", &field(2, &field(1, b"other")));
    assert_eq!(send(&client, "DELETE", &path, other).await.0, 409, "another uid");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let same = object("apps/v1", "DeleteOptions", &field(2, &field(1, uid.as_bytes())));
    assert_eq!(send(&client, "DELETE", &path, same).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn reviews_are_asked_for_in_protobuf() {
    let (_server, client) = server().await;
    let body = object("authorization.k8s.io/v1", "SelfSubjectAccessReview", &{
        let attributes = [field(1, b"default"), field(2, b"get"), field(5, b"pods")].concat();
        [named(""), field(2, &field(1, &attributes))].concat()
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (code, review) = send(&client, "POST", path, body).await;
    assert_eq!(code, 201, "{review}");
    assert_eq!(review["status"]["allowed"], true);
    assert_eq!(review["spec"]["resourceAttributes"]["resource"], "pods");
    assert!(review["metadata"].get("name").is_none(), "{review}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_refused() {
    let (_server, client) = server().await;
    let refused = [
        (
            b"{}".to_vec(),
            "the object provided is unrecognized (must be of type ConfigMap): provided data does not",
        ),
        (Vec::new(), "the object provided is unrecognized (must be of type ConfigMap): empty data"),
        (
            object("v1", "ConfigMap", b"\x0a\x20a"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: unexpected EOF",
        ),
        (object("v1", "Foo", b""), "Foo in version \"v1\" cannot be handled as a ConfigMap: no kind \"Foo\""),
    ];
    for (body, message) in refused {
        let (code, status) = send(&client, "POST", CONFIG_MAPS, body).await;
        assert!(code == 400 && status["message"].as_str().unwrap().starts_with(message), "{status}");
    }
    let path = "/apis/example.org/v1/namespaces/default/widgets";
    let (code, status) = send(&client, "POST", path, object("example.org/v1", "Widget", &named("w"))).await;
    assert_eq!((code, &status["reason"]), (415, &"UnsupportedMediaType".into()), "{status}");
}
