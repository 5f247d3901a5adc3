//! Lists of a past that is not kept any more.

use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::widgets::{server, widget, widgets};

const WIDGETS: &str = "/apis/example.org/v1/namespaces/default/widgets";

/// The whole answer to a GET of the widgets, be it a list or an error.
async fn list(client: &Client, query: &str) -> Value {
    let request = Request::get(format!("{WIDGETS}?{query}")).body(Vec::new().into()).unwrap();
    let body = client.send(request).await.unwrap().into_body();
    serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_of_exactly_a_past_that_is_forgotten_is_expired() {
    let (server, client) = server().await;
    let api = widgets(&client);
    let first = api.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    api.create(&PostParams::default(), &widget("b", 1)).await.unwrap();
    let version = first.metadata.resource_version.unwrap();
    let exactly = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    assert_eq!(names(&list(&client, &exactly).await), ["a"]);

    server.store().compact(0);
    assert_eq!(
        list(&client, &exactly).await,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
            "message": "The resourceVersion for the provided list is too old.",
        })
    );
    let not_older = format!("resourceVersion={version}&resourceVersionMatch=NotOlderThan");
    assert_eq!(names(&list(&client, &not_older).await), ["a", "b"], "the present is not older");
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_past_that_is_forgotten_is_expired_and_says_how_to_go_on() {
    let (server, client) = server().await;
    let api = widgets(&client);
    for name in ["a", "b", "d"] {
        api.create(&PostParams::default(), &widget(name, 1)).await.unwrap();
    }
    let page = list(&client, "limit=1").await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    api.create(&PostParams::default(), &widget("c", 1)).await.unwrap();
    assert_eq!(names(&list(&client, &format!("continue={token}")).await), ["b", "d"], "as of the first page");

    server.store().compact(0);
    let expired = list(&client, &format!("limit=1&continue={token}")).await;
    assert_eq!((&expired["code"], &expired["reason"]), (&json!(410), &json!("Expired")));
    let message = expired["message"].as_str().unwrap();
    assert!(message.starts_with("The provided continue parameter is too old to display a"), "{message}");
    let anew = expired["metadata"]["continue"].as_str().unwrap();
    let rest = list(&client, &format!("limit=2&continue={anew}")).await;
    assert_eq!(names(&rest), ["b", "c"], "what is there now");
    let token = rest["metadata"]["continue"].as_str().unwrap();
    assert_eq!(names(&list(&client, &format!("continue={token}")).await), ["d"]);
}
