//! Lists as long as a request can be: what is checked of each item must not look at all the others, or one request would keep
//! a worker for minutes.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::server::{MAX_BODY_BYTES, Server};
use tower_service::Service;

/// Far more than one such request takes on the busiest of machines, and far less than if every item were held against every
/// other.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);
/// What is left of a body for all that is around the list.
const AROUND: usize = 4_096;

const POD: &str = r#""containers":[{"name":"c","image":"i"}],"restartPolicy":"Never""#;

/// As many items as there is room for.
fn list(item: impl Fn(usize) -> String) -> String {
    let mut list = String::from("[");
    for number in 0.. {
        if list.len() + AROUND > MAX_BODY_BYTES {
            break;
        }
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(list, "{comma}{}", item(number));
    }
    list + "]"
}

fn object(api_version: &str, kind: &str, spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"huge"}},"spec":{{{spec}}}}}"#
    )
}

fn pod(more: &str) -> String {
    object("v1", "Pod", &format!("{POD},{more}"))
}

/// What is sent, and where.
fn requests() -> Vec<(&'static str, &'static str, String)> {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let ports = list(|n| format!(r#"{{"name":"p{n}","port":{},"nodePort":{}}}"#, n % 65_535 + 1, n + 1));
    let unnamed = list(|n| format!(r#"{{"port":{}}}"#, n + 1));
    let named = |field: &str, more: &str| {
        let list = list(|n| format!(r#"{{"name":"n{n}"{more}}}"#));
        format!(r#""{field}":{list}"#)
    };
    let codes = list(|n| (n + 1).to_string());
    let rule = format!(r#"{{"action":"Ignore","onExitCodes":{{"operator":"In","values":{codes}}}}}"#);
    let job = format!(r#""podFailurePolicy":{{"rules":[{rule}]}},"template":{{"spec":{{{POD}}}}}"#);
    let taints = list(|n| format!(r#"{{"key":"k{n}","effect":"NoSchedule"}}"#));
    let mounts = list(|n| format!(r#"{{"name":"v{n}","mountPath":"/{n}"}}"#));
    let mounting = format!(r#""containers":[{{"name":"c","image":"i","volumeMounts":{mounts}}}]"#);
    vec![
        ("POST", SERVICES, object("v1", "Service", &format!(r#""type":"NodePort","ports":{ports}"#))),
        ("POST", SERVICES, object("v1", "Service", &format!(r#""ports":{unnamed}"#))),
        ("POST", PODS, pod(&named("resourceClaims", r#","resourceClaimName":"x""#))),
        ("POST", PODS, pod(&named("volumes", r#","emptyDir":{}"#))),
        ("POST", PODS, pod(&format!(r#""securityContext":{{{}}}"#, named("sysctls", r#","value":"1""#)))),
        ("POST", PODS, object("v1", "Pod", &mounting)),
        ("POST", "/apis/batch/v1/namespaces/default/jobs", object("batch/v1", "Job", &job)),
        ("POST", "/api/v1/nodes", object("v1", "Node", &format!(r#""taints":{taints}"#))),
        ("PUT", "/api/v1/nodes/huge/status", {
            let addresses = list(|n| format!(r#"{{"type":"Hostname","address":"a{n}"}}"#));
            let head = r#""apiVersion":"v1","kind":"Node","metadata":{"name":"huge"}"#;
            format!(r#"{{{head},"status":{{"addresses":{addresses}}}}}"#)
        }),
    ]
}

async fn send(server: Server, method: &str, path: &str, body: String) -> u16 {
    let request = Request::builder().method(method).uri(format!("{path}?dryRun=All"));
    let request = request.header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let response = server.clone().call(request).await.unwrap();
    let code = response.status().as_u16();
    response.into_body().collect().await.unwrap();
    code
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_lists_are_answered_in_time() {
    let server = Server::builder().build().await;
    let node = Request::post("/api/v1/nodes").header("content-type", "application/json");
    let node = node.body(Full::new(Bytes::from(object("v1", "Node", "")))).unwrap();
    assert!(server.clone().call(node).await.unwrap().status().is_success());
    for (method, path, body) in requests() {
        let begins: String = body.chars().take(150).collect();
        let sent = send(server.clone(), method, path, body);
        let answered = tokio::time::timeout(ANSWERED_WITHIN, tokio::spawn(sent)).await;
        let code = answered.unwrap_or_else(|_| panic!("no answer to {method} {path} {begins}")).unwrap();
        assert!(code < 500 && code != 400, "{code} to {method} {path} {begins}");
        println!("{code} {method} {path} {begins}");
    }
}
