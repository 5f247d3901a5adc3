//! Two runs from one seed, in paused time, give the same answers, byte for byte.

use std::time::Duration;

use http::Request;
use muster_apiserver::controllers;
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use serde_json::{Value, json};

use crate::widgets::definition;

/// Everything that a run answers, in order.
struct Run {
    client: kube::Client,
    answers: Vec<String>,
}

impl Run {
    async fn ask(&mut self, method: &str, path: &str, body: Option<Value>) {
        let kind = if method == "PATCH" { "application/apply-patch+yaml" } else { "application/json" };
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let request =
            Request::builder().method(method).uri(path).header("content-type", kind).body(body).unwrap();
        let answer = self.client.request_text(request).await;
        let text = answer.unwrap_or_else(|error| format!("{error:?}"));
        self.answers.push(format!("{method} {path}: {text}"));
    }
}

async fn run() -> Vec<String> {
    let source = Seeded::new(7, "2026-01-01T00:00:00Z".parse().unwrap());
    let server = Server::builder().source(source).build().await;
    let controllers = tokio::spawn(controllers::run(server.clone()));
    let mut run = Run { client: kube::Client::new(server, "default"), answers: Vec::new() };
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    run.ask("POST", crds, Some(definition())).await;
    let widgets = "/apis/example.org/v1/namespaces/default/widgets";
    for size in 0..20 {
        let metadata = json!({"generateName": "w-", "labels": {"b": "1", "a": "2", "c": "3"}});
        let widget = json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": size}});
        run.ask("POST", widgets, Some(widget)).await;
        tokio::time::advance(Duration::from_millis(700)).await;
    }
    let applied = json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"size": 1}});
    run.ask("PATCH", &format!("{widgets}/x?fieldManager=a"), Some(applied)).await;
    let service = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    run.ask("POST", "/api/v1/namespaces/default/services", Some(service)).await;
    run.ask("POST", "/api/v1/namespaces", Some(json!({"metadata": {"name": "n"}}))).await;
    pass(Duration::from_secs(5)).await;
    run.ask("DELETE", "/api/v1/namespaces/n", None).await;
    pass(Duration::from_secs(60)).await;
    run.ask("DELETE", &format!("{widgets}?labelSelector=a"), None).await;
    for path in ["/apis", "/api/v1", "/openapi/v2", "/openapi/v3", crds, widgets, "/metrics"] {
        run.ask("GET", path, None).await;
    }
    for path in ["namespaces", "serviceaccounts", "configmaps", "services"] {
        run.ask("GET", &format!("/api/v1/{path}"), None).await;
    }
    run.ask("GET", "/api/v1/serviceaccounts?watch=1&timeoutSeconds=3", None).await;
    controllers.abort();
    run.answers
}

#[test]
fn a_run_can_be_repeated() {
    let repeat = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(run())
    };
    let (one, other) = (repeat(), repeat());
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert!(one == other, "{one}\n---\n{other}");
    }
}

/// Lets this much of the paused time pass, with all that happens in it.
async fn pass(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}
