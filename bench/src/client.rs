//! The load: the same requests, by the same client, for either server.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::{AsyncBufReadExt, TryStreamExt};
use http::Request;
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;

use crate::OBJECTS;
use crate::report::{median, number};
use crate::store::object;
use crate::wire::{Target, Wire};

pub(crate) const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";
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
fn rate<F>(target: &Target, writers: usize, count: Option<usize>, act: F) -> Result<(f64, f64)>
where
    F: AsyncFn(&mut Wire, usize) -> Result<()> + Sync,
{
    // As many threads as can run, each with its connections for itself: nobody wakes another.
    let threads = std::thread::available_parallelism()?.get().min(writers);
    let (next, connected, begun) = (AtomicUsize::new(0), Barrier::new(threads), OnceLock::new());
    let load = |thread: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut wires = Vec::new();
        for _ in (thread..writers).step_by(threads) {
            wires.push(runtime.block_on(target.connect())?);
        }
        connected.wait();
        let begun = *begun.get_or_init(Instant::now);
        let work = wires.into_iter().map(async |mut wire| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if count.map_or(begun.elapsed() >= LASTS, |count| index >= count) {
                    return anyhow::Ok(());
                }
                act(&mut wire, index).await?;
            }
        });
        runtime.block_on(futures::future::try_join_all(work))
    };
    std::thread::scope(|scope| {
        let load = &load;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || load(thread))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done.map(drop),
            Err(_) => bail!("a thread of the client died"),
        })
    })?;
    let done = number(next.load(Ordering::Relaxed) - writers);
    let begun = begun.get().context("nothing was done")?;
    Ok((done / begun.elapsed().as_secs_f64(), done))
}

/// Creates the objects; gives creations a second, and in all.
pub(crate) fn create_all(target: &Target, writers: usize) -> Result<(f64, f64)> {
    rate(target, writers, Some(OBJECTS), async |wire, index| {
        wire.send("POST", COLLECTION, object(index).to_string()).await
    })
}

/// Replaces objects; gives writes a second, and in all.
pub(crate) fn update_rate(target: &Target, writers: usize) -> Result<(f64, f64)> {
    // One text for all, in which only the numbers change.
    let mut whole = object(0);
    whole["metadata"]["name"] = "NAME".into();
    whole["data"]["turn"] = "TURN".into();
    let whole = whole.to_string();
    rate(target, writers, None, async |wire, index| {
        let name = format!("object-{}", index % OBJECTS);
        let body = whole.replacen("NAME", &name, 1).replacen("TURN", &index.to_string(), 1);
        wire.send("PUT", &format!("{COLLECTION}/{name}"), body).await
    })
}

/// Reads objects; gives reads a second, and in all.
pub(crate) fn read_rate(target: &Target, readers: usize) -> Result<(f64, f64)> {
    rate(target, readers, None, async |wire, index| {
        wire.send("GET", &format!("{COLLECTION}/object-{}", index * 7919 % OBJECTS), "").await
    })
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
