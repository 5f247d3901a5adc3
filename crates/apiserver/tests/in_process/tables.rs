//! Tables, as `kubectl get` asks for them.

use http::Request;
use kube::Client;
use serde_json::Value;

use crate::widgets::{server, widget, widgets};

async fn table(client: &Client, path: &str) -> Value {
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let request = Request::get(path).header("Accept", accept).body(Vec::new()).unwrap();
    client.request(request).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn objects_are_printed_with_their_age() {
    let (_server, client) = server().await;
    widgets(&client).create(&kube::api::PostParams::default(), &widget("a", 1)).await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(125)).await;
    let path = "/apis/example.org/v1/namespaces/default/widgets";
    for shown in [table(&client, path).await, table(&client, &format!("{path}/a")).await] {
        assert_eq!(shown["kind"], "Table");
        assert_eq!(shown["columnDefinitions"][1]["name"], "Age");
        assert_eq!(shown["rows"][0]["cells"], serde_json::json!(["a", "2m5s"]));
        assert_eq!(shown["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    }
    let whole = table(&client, "/api/v1/namespaces?includeObject=Object").await;
    assert_eq!(whole["rows"][0]["cells"][1], "Active");
    assert_eq!(whole["rows"][0]["object"]["kind"], "Namespace");
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_the_columns_once() {
    let (_server, client) = server().await;
    let path = "/api/v1/namespaces?watch=true&timeoutSeconds=1&includeObject=None";
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let request = Request::get(path).header("Accept", accept).body(Vec::new()).unwrap();
    let text = client.request_text(request).await.unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 4, "{text}");
    assert!(events[0]["object"]["columnDefinitions"].is_array());
    assert_eq!(events[1]["object"]["columnDefinitions"], Value::Null);
    assert_eq!(events[1]["object"]["rows"][0]["object"], Value::Null);
}
