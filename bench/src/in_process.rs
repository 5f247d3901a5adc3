//! The server without a socket and without a disk, on one thread: the work of the processor for a request on its way
//! through it, that of the client, which is little, included.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use muster_apiserver::server::Server;
use serde_json::Value;
use tower_service::Service;

use crate::client::COLLECTION;
use crate::process;
use crate::report::number;
use crate::store::object;

/// How long each kind of request is measured.
const LASTS: Duration = Duration::from_secs(2);
/// How many objects are there.
const SOME: usize = 1_000;

pub(crate) fn measure() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!("| in process, one at a time | µs of work |\n|---|---|");
    runtime.block_on(async {
        let server = Server::builder().build().await;
        for index in 0..SOME {
            send(&server, "POST", COLLECTION, "json", &object(index)).await?;
        }
        let at = |index: usize| format!("{COLLECTION}/object-{}", index % SOME);
        time("update", async |index| {
            let mut object = object(index % SOME);
            object["data"]["turn"] = index.to_string().into();
            send(&server, "PUT", &at(index), "json", &object).await
        })
        .await?;
        let turn = |index: usize| serde_json::json!({"data": {"turn": index.to_string()}});
        time("merge patch", async |index| {
            send(&server, "PATCH", &at(index), "merge-patch+json", &turn(index)).await
        })
        .await?;
        time("apply", async |index| {
            let mut applied = turn(index);
            applied["apiVersion"] = "v1".into();
            applied["kind"] = "ConfigMap".into();
            let path = format!("{}?fieldManager=bench&force=true", at(index));
            send(&server, "PATCH", &path, "apply-patch+yaml", &applied).await
        })
        .await?;
        time("read", async |index| send(&server, "GET", &at(index), "json", &Value::Null).await).await?;
        time("list of 1,000", async |_| send(&server, "GET", COLLECTION, "json", &Value::Null).await).await?;
        Ok(())
    })
}

async fn time(what: &str, act: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
    let (begun, before, mut done) = (Instant::now(), process::worked("self")?, 0);
    while begun.elapsed() < LASTS {
        act(done).await?;
        done += 1;
    }
    let work = process::worked("self")? - before;
    println!("| {what} | {:.1} |", work * 1e6 / number(done));
    Ok(())
}

async fn send(server: &Server, method: &str, path: &str, form: &str, body: &Value) -> Result<()> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", format!("application/{form}"))
        .header("user-agent", "bench/1");
    let response = server.clone().call(request.body(Full::new(Bytes::from(body)))?).await?;
    ensure!(response.status().is_success(), "{method} {path}: {}", response.status());
    response.into_body().collect().await?;
    Ok(())
}
