//! The store alone: how fast it writes, on disk and in memory, and what it holds.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::TryStreamExt;
use muster_apiserver::store::{Expect, Key, Scope, Store};
use serde_json::{Value, json};

use crate::report::{mebibytes, median, number};
use crate::{OBJECT_BYTES, OBJECTS, Scratch, process};

/// How long each rate is measured.
const LASTS: Duration = Duration::from_secs(3);
/// How many write at once when a store is filled.
const FILLERS: usize = 8;

pub(crate) fn measure() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    println!("| store | |\n|---|---|");
    for writers in [1, 8, 64] {
        let scratch = Scratch::new("store")?;
        let store = Store::open(scratch.path())?;
        let rate = runtime.block_on(write_rate(&store, writers))?;
        println!("| writes/s on disk, {writers} writers | {rate:.0} |");
    }
    let rate = runtime.block_on(write_rate(&Store::new(), 8))?;
    println!("| writes/s in memory, 8 writers | {rate:.0} |");
    let scratch = Scratch::new("fill")?;
    let program = std::env::current_exe()?;
    anyhow::ensure!(Command::new(program).arg("fill").arg(scratch.path()).status()?.success());
    Ok(())
}

/// Fills a store, says what it holds, and how long it takes to list and to open it again.
pub(crate) fn fill(directory: &Path) -> Result<()> {
    let empty = process::resident("self")?;
    let store = Store::open(directory)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    // A few at a time, so that what is told is what is kept, not what waits.
    runtime.block_on(async {
        futures::stream::iter((0..OBJECTS).map(anyhow::Ok))
            .try_for_each_concurrent(FILLERS, async |index| {
                store.put(key(index), object(index), Expect::Absent).await?;
                Ok(())
            })
            .await
    })?;
    println!(
        "| MiB for {OBJECTS} objects with their history | {:.1} |",
        mebibytes(process::resident("self")? - empty)
    );
    let scope = Scope { resource: Arc::from("/configmaps"), namespace: None };
    let lists = (0..20).map(|_| {
        let begun = Instant::now();
        anyhow::ensure!(store.list(&scope).objects.len() == OBJECTS);
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    });
    println!("| ms to list them | {:.2} |", median(lists.collect::<Result<_>>()?));
    drop(store);
    let begun = Instant::now();
    drop(Store::open(directory)?);
    println!("| ms to open it again | {:.1} |", begun.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// Each writer writes its own object again and again.
async fn write_rate(store: &Store, writers: usize) -> Result<f64> {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let (mut expect, mut count) = (Expect::Absent, 0);
                while begun.elapsed() < LASTS {
                    let stored = store.put(key(writer), object(writer), expect).await?;
                    expect = Expect::At(stored.revision);
                    count += 1;
                }
                anyhow::Ok(count)
            })
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await??;
    }
    Ok(number(count) / begun.elapsed().as_secs_f64())
}

fn key(index: usize) -> Key {
    Key::new(&Arc::from("/configmaps"), "default", &format!("object-{index}"))
}

/// A `ConfigMap` of the size that all measures use.
pub(crate) fn object(index: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("object-{index}"), "namespace": "default"},
        "data": {"text": "x".repeat(OBJECT_BYTES - 120)},
    })
}
