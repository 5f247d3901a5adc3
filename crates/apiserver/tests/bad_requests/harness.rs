//! Any bytes as a request, and what must hold of every answer. The fuzz target uses this very file.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use muster_apiserver::server::{Body, Server};
use serde_json::json;
use tower_service::Service;

use crate::oracle::verdict;

/// The words from which inputs choose; anything else in their place is taken as it is.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"];
const PATHS: [&str; 18] = [
    "/apis/example.org/v1/namespaces/default/widgets",
    "/apis/example.org/v1/namespaces/default/widgets/a",
    "/apis/example.org/v1/namespaces/default/widgets/a/status",
    "/apis/example.org/v1/namespaces/default/widgets/a/scale",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/pods/a",
    "/api/v1/namespaces/default/services",
    "/apis/apps/v1/namespaces/default/deployments/a",
    "/apis/events.k8s.io/v1/namespaces/default/events",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/openapi/v3",
    "/apis/apps/v1/namespaces/default/statefulsets",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/persistentvolumeclaims",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
];
/// What the bodies for these paths are of, where they are wrapped as protobuf.
const KINDS: [(&str, &str); 18] = [
    ("example.org/v1", "Widget"),
    ("example.org/v1", "Widget"),
    ("example.org/v1", "Widget"),
    ("autoscaling/v1", "Scale"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("events.k8s.io/v1", "Event"),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
    ("", ""),
    ("apps/v1", "StatefulSet"),
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("coordination.k8s.io/v1", "Lease"),
];
/// The content type of a body that is put into the envelope of protobuf, so that any bytes are a message of the right kind.
const WRAPPED: &str = "wrapped";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CONTENT_TYPES: [&str; 9] = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    PROTOBUF,
    "",
    WRAPPED,
];
const ACCEPTS: [&str; 5] = [
    "application/json",
    "application/yaml",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "*/*",
];

/// No answer takes that long to be read, on the busiest of machines: one that does never ends.
const WHOLE_WITHIN: Duration = Duration::from_secs(60);

/// A server that serves widgets, one of which is there.
pub(crate) async fn server() -> Server {
    let server = Server::builder().build().await;
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 10"}], "properties": {
            "size": {"type": "integer", "default": 1}, "name": {"type": "string", "pattern": "^[a-z]*$"},
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"x-kubernetes-int-or-string": true}}}},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.org"},
        "spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}}}]},
    });
    let widget = json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 2}});
    for (path, object) in [(PATHS[4], crd), (PATHS[0], widget)] {
        let request = Request::post(path).header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(object.to_string()))).unwrap();
        let response = server.clone().call(request).await.unwrap();
        assert!(response.status().is_success(), "the scene could not be set");
    }
    server
}

/// The request that these bytes stand for: method, path, query, content type and accept on the first line, then the body.
pub(crate) fn request(input: &[u8]) -> Option<Request<Full<Bytes>>> {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, body) = input.split_at(end);
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ');
    let method = choose(words.next(), &METHODS);
    let path = choose(words.next(), &PATHS);
    let query = words.next().unwrap_or_default();
    let content_type = choose(words.next(), &CONTENT_TYPES);
    let accept = choose(words.next(), &ACCEPTS);
    let body = body.get(1..).unwrap_or_default();
    let (content_type, body) =
        if content_type == WRAPPED { (PROTOBUF, wrapped(path, body)) } else { (content_type, body.to_vec()) };
    let uri = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    Request::builder()
        .method(Method::from_bytes(method.as_bytes()).ok()?)
        .uri(uri)
        .header("content-type", content_type)
        .header("accept", accept)
        .body(Full::new(Bytes::from(body)))
        .ok()
}

/// These bytes as the message of an object of the kind that the path is about, or of what is deleted with it.
fn wrapped(path: &str, message: &[u8]) -> Vec<u8> {
    let place = PATHS.iter().position(|known| *known == path);
    let (api_version, kind) = place.map_or(("v1", "DeleteOptions"), |place| KINDS[place]);
    let field = |number: u8, content: &[u8]| {
        let mut field = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        field.push(u8::try_from(length).unwrap());
        field.extend_from_slice(content);
        field
    };
    let type_of = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &type_of), field(2, message)].concat()
}

fn choose<'a>(word: Option<&'a str>, words: &[&'a str]) -> &'a str {
    let word = word.unwrap_or_default();
    match word.parse::<usize>() {
        Ok(index) => words[index % words.len()],
        Err(_) => word,
    }
}

/// Sends what these bytes stand for, and looks at the answer.
pub(crate) async fn play(server: &Server, input: &[u8]) {
    let Some(request) = request(input) else { return };
    // What is watched goes on for long, unless it is refused; the query says so in more ways than are worth telling apart.
    let watches = |text: &str| text.contains("watch") || text.contains('%');
    let lasts = watches(request.uri().path()) || request.uri().query().is_some_and(watches);
    let response = server.clone().call(request).await.expect("nothing is made to break");
    if !lasts || response.status().as_u16() >= 400 {
        check(response, input).await;
    }
    let ready = Request::get("/readyz").body(Full::new(Bytes::new())).unwrap();
    assert!(server.clone().call(ready).await.unwrap().status().is_success(), "it is not well any more");
}

/// Fails if the answer is not one that must be.
async fn check(response: Response<Body>, input: &[u8]) {
    let code = response.status().as_u16();
    let content_type = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    let body = tokio::time::timeout(WHOLE_WITHIN, response.into_body().collect()).await;
    let body = body.expect("an answer that is no watch ends").unwrap().to_bytes();
    if let Err(why) = verdict(code, content_type.as_deref().unwrap_or_default(), &body) {
        panic!("{why}\nin the answer to {}", String::from_utf8_lossy(input));
    }
}
