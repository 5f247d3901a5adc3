//! `pods/NAME/log`: what is asked of the node, and what is refused before.

use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, LogParams, PostParams};
use kube::{Client, Error};
use muster_apiserver::server::{LogWanted, Logs, Reading, Server};
use serde_json::json;

/// A node that says what it was asked.
#[derive(Default)]
struct Parrot(Mutex<Vec<LogWanted>>);

impl Logs for Parrot {
    fn read(&self, wanted: LogWanted) -> Reading {
        let refused = wanted.query.contains("previous").then(|| (400, "there was none before".to_owned()));
        self.0.lock().unwrap().push(wanted);
        Box::pin(async move {
            let pieces = [b"one\n".to_vec(), b"two\n".to_vec()];
            let said: muster_apiserver::server::Said = Box::pin(futures::stream::iter(pieces));
            refused.map_or(Ok(said), Err)
        })
    }
}

async fn pods(server: &Server) -> Api<Pod> {
    let pods: Api<Pod> = Api::namespaced(Client::new(server.clone(), "default"), "default");
    let container = |name: &str| json!({"name": name, "image": "i"});
    for (name, node, containers) in [
        ("talks", "here", vec![container("main")]),
        ("waits", "", vec![container("main")]),
        ("both", "here", vec![container("a"), container("b")]),
    ] {
        let mut spec = json!({"containers": containers, "initContainers": [container("first")]});
        if !node.is_empty() {
            spec["nodeName"] = node.into();
        }
        let pod = serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap();
        pods.create(&PostParams::default(), &pod).await.unwrap();
    }
    pods
}

async fn refusal(pods: &Api<Pod>, name: &str, params: &LogParams) -> (u16, String) {
    match pods.logs(name, params).await {
        Err(Error::Api(status)) => (status.code, status.message.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_node_is_asked_as_kubelets_are() {
    let server = Server::builder().build().await;
    let pods = pods(&server).await;
    let plain = LogParams::default();
    let nobody = refusal(&pods, "talks", &plain).await;
    let message = "node here does not tell this API server what its containers say".to_owned();
    assert_eq!(nobody, (503, message));
    let node = Arc::new(Parrot::default());
    server.serve_logs(node.clone());
    assert_eq!(pods.logs("talks", &plain).await.unwrap(), "one\ntwo\n");
    assert_eq!(pods.logs("waits", &plain).await.unwrap(), "", "it is on no node yet");
    let asked = LogParams {
        container: Some("first".into()),
        follow: true,
        tail_lines: Some(3),
        since_seconds: Some(60),
        timestamps: true,
        limit_bytes: Some(9),
        ..LogParams::default()
    };
    pods.logs("both", &asked).await.unwrap();
    let asked = node.0.lock().unwrap().pop().unwrap();
    let wanted = LogWanted {
        node: "here".into(),
        namespace: "default".into(),
        pod: "both".into(),
        container: "first".into(),
        query: "follow=true&timestamps=true&tailLines=3&limitBytes=9&sinceSeconds=60".into(),
    };
    assert_eq!(asked, wanted);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_in_the_words_of_kubernetes() {
    let server = Server::builder().build().await;
    let pods = pods(&server).await;
    server.serve_logs(Arc::new(Parrot::default()));
    let plain = LogParams::default();
    let several = "a container name must be specified for pod both, choose one of: [a b] or one of the init containers: [first]";
    assert_eq!(refusal(&pods, "both", &plain).await, (400, several.to_owned()));
    let of = |container: &str| LogParams { container: Some(container.into()), ..LogParams::default() };
    let wrong = refusal(&pods, "both", &of("c")).await;
    assert_eq!(wrong, (400, "container c is not valid for pod both".to_owned()));
    assert_eq!(refusal(&pods, "nobody", &plain).await, (404, "pods \"nobody\" not found".to_owned()));
    let before = LogParams { previous: true, ..of("a") };
    assert_eq!(refusal(&pods, "both", &before).await, (400, "there was none before".to_owned()));
    let negative = LogParams { tail_lines: Some(-1), ..of("a") };
    let (code, message) = refusal(&pods, "both", &negative).await;
    assert_eq!(code, 422);
    assert!(
        message.contains("tailLines: Invalid value: -1: must be greater than or equal to 0"),
        "{message}"
    );
}
