//! The load: the same requests, by the same client, for either server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::{AsyncBufReadExt, TryStreamExt};
use http::Request;
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;

use crate::OBJECTS;
use crate::report::{median, number};
use crate::store::object;

const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";
/// How long rates are measured.
const LASTS: Duration = Duration::from_secs(5);
/// How many watch events are timed.
const EVENTS: usize = 300;
/// How often the list is read.
const LISTS: usize = 7;

/// A client of the server of this kubeconfig.
pub(crate) async fn connect(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.proxy_url = None; // loopback, whatever the environment says of proxies
    Ok(Client::try_from(config)?)
}

fn request(method: &str, path: &str, body: Option<&Value>) -> Result<Request<Vec<u8>>> {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    Ok(request.body(body.map(|body| body.to_string().into_bytes()).unwrap_or_default())?)
}

/// Does this many things, by this many at once; gives how many were done in a second, and in all.
async fn rate<F, T>(writers: usize, count: Option<usize>, act: F) -> Result<(f64, f64)>
where
    F: Fn(usize) -> T + Clone + Send + 'static,
    T: Future<Output = Result<()>> + Send + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..writers {
        let (next, act) = (next.clone(), act.clone());
        tasks.spawn(async move {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if count.map_or(begun.elapsed() >= LASTS, |count| index >= count) {
                    return anyhow::Ok(());
                }
                act(index).await?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let done = number(next.load(Ordering::Relaxed) - writers);
    Ok((done / begun.elapsed().as_secs_f64(), done))
}

/// Creates the objects; gives creations a second, and in all.
pub(crate) async fn create_all(client: &Client, writers: usize) -> Result<(f64, f64)> {
    let client = client.clone();
    rate(writers, Some(OBJECTS), move |index| {
        let client = client.clone();
        async move {
            client.request_text(request("POST", COLLECTION, Some(&object(index)))?).await?;
            Ok(())
        }
    })
    .await
}

/// Replaces objects; gives writes a second, and in all.
pub(crate) async fn update_rate(client: &Client, writers: usize) -> Result<(f64, f64)> {
    let client = client.clone();
    rate(writers, None, move |index| {
        let client = client.clone();
        async move {
            let mut object = object(index % OBJECTS);
            object["data"]["turn"] = index.to_string().into();
            let path = format!("{COLLECTION}/object-{}", index % OBJECTS);
            client.request_text(request("PUT", &path, Some(&object))?).await?;
            Ok(())
        }
    })
    .await
}

/// Reads objects; gives reads a second, and in all.
pub(crate) async fn read_rate(client: &Client, readers: usize) -> Result<(f64, f64)> {
    let client = client.clone();
    rate(readers, None, move |index| {
        let client = client.clone();
        async move {
            let path = format!("{COLLECTION}/object-{}", index * 7919 % OBJECTS);
            client.request_text(request("GET", &path, None)?).await?;
            Ok(())
        }
    })
    .await
}

/// The milliseconds that a list of all takes.
pub(crate) async fn list_time(client: &Client) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..LISTS {
        let begun = Instant::now();
        let text = client.request_text(request("GET", COLLECTION, None)?).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(text.matches("object-9999").count() > 0, "the list is not whole");
    }
    Ok(median(times))
}

/// The milliseconds from sending a write to hearing of it from a watch.
pub(crate) async fn watch_latency(client: &Client) -> Result<f64> {
    let listed: Value = client.request(request("GET", &format!("{COLLECTION}?limit=1"), None)?).await?;
    let version = listed["metadata"]["resourceVersion"].as_str().context("a list has a version")?;
    let path = format!("{COLLECTION}?watch=1&resourceVersion={version}");
    let mut events = client.request_stream(request("GET", &path, None)?).await?.lines();
    let mut times = Vec::new();
    for turn in 0..EVENTS {
        let mark = Value::String(turn.to_string());
        let mut object = object(turn);
        object["data"]["watched"] = mark.clone();
        let path = format!("{COLLECTION}/object-{turn}");
        let request = request("PUT", &path, Some(&object))?;
        let begun = Instant::now();
        let (written, event) = tokio::join!(client.request_text(request), async {
            let event = events.try_next().await;
            (event, begun.elapsed())
        });
        written?;
        let (event, elapsed) = event;
        let event: Value = serde_json::from_str(&event?.context("the watch ended")?)?;
        ensure!(event["object"]["data"]["watched"] == mark, "another event");
        times.push(elapsed.as_secs_f64() * 1e3);
    }
    Ok(median(times))
}
