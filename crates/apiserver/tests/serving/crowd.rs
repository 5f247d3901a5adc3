//! Thousands of watches at once, through the socket: each is told of a change of what it watches.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::serve::Limits;
use muster_apiserver::serve::limits::MAX_STREAMS;

use crate::client::{http2, soon};
use crate::stub::Server;

const CONNECTIONS: usize = 20;
const WATCHES: usize = CONNECTIONS * MAX_STREAMS as usize;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_watches_are_all_told() {
    let service = muster_apiserver::server::Server::builder().build().await;
    let server = Server::of(Limits::default(), service);
    let bearer = format!("Bearer {}", server.identity.token());
    let path = "https://localhost/api/v1/namespaces/default/configmaps";
    let mut watches = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut sender = http2(&server).await;
        let opened: FuturesUnordered<_> = (0..MAX_STREAMS)
            .map(|_| {
                let request = Request::get(format!("{path}?watch=true")).header("authorization", &bearer);
                sender.send_request(request.body(Full::default()).unwrap())
            })
            .collect();
        watches.extend(soon(opened.collect::<Vec<_>>()).await.into_iter().map(Result::unwrap));
    }
    assert_eq!(watches.len(), WATCHES);
    assert!(watches.iter().all(|watch| watch.status().as_u16() == 200));
    let object = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"told"}}"#;
    let request =
        Request::post(path).header("authorization", &bearer).header("content-type", "application/json");
    let mut sender = http2(&server).await;
    let written = soon(sender.send_request(request.body(Full::from(object)).unwrap())).await.unwrap();
    assert_eq!(written.status().as_u16(), 201);
    let told: FuturesUnordered<_> = watches
        .into_iter()
        .map(|watch| async move {
            let mut body = watch.into_body();
            let mut all = Vec::new();
            while !all.ends_with(b"\n") {
                let frame = body.frame().await.unwrap().unwrap();
                all.extend_from_slice(frame.data_ref().unwrap());
            }
            String::from_utf8(all).unwrap()
        })
        .collect();
    let told: Vec<String> = soon(told.collect()).await;
    assert_eq!(told.len(), WATCHES);
    assert!(
        told.iter().all(|event| event.contains(r#""type":"ADDED""#) && event.contains(r#""name":"told""#))
    );
}
