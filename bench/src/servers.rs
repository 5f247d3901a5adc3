//! Both servers, one after the other, with the same load.

use std::path::Path;

use anyhow::{Context, Result};
use muster_test_control_plane::ControlPlane;

use crate::embedded::Embedded;
use crate::report::{Better, Line, compare, mebibytes};
use crate::wire::Target;
use crate::{Scratch, client, process};

/// What one server does.
struct Measures {
    create: f64,
    update: f64,
    work: f64,
    update_one: f64,
    update_many: f64,
    read: f64,
    list: f64,
    watch: f64,
    empty: f64,
    filled: f64,
    after: f64,
}

pub(crate) fn measure() -> Result<()> {
    // For lists and watches, which are asked for one at a time.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let scratch = Scratch::new("embedded")?;
    let ours = {
        let embedded = Embedded::start(scratch.path())?;
        runtime.block_on(load(&embedded.kubeconfig, &[embedded.process()]))?
    };
    let theirs = {
        let plane = ControlPlane::start_durable()?;
        runtime.block_on(load(plane.kubeconfig(), &processes(&plane)?))?
    };
    let line =
        |what, better, of: fn(&Measures) -> f64| Line { what, better, ours: of(&ours), theirs: of(&theirs) };
    compare(&[
        line("creations/s, 8 at once", Better::More, |measures| measures.create),
        line("updates/s, 1 at once", Better::More, |measures| measures.update_one),
        line("updates/s, 8 at once", Better::More, |measures| measures.update),
        line("updates/s, 64 at once", Better::More, |measures| measures.update_many),
        line("work of the processors for one update, µs", Better::Less, |measures| measures.work),
        line("reads/s, 8 at once", Better::More, |measures| measures.read),
        line("list of 10,000, ms", Better::Less, |measures| measures.list),
        line("write to watch event, ms", Better::Less, |measures| measures.watch),
        line("memory at the start, MiB", Better::Less, |measures| measures.empty),
        line("memory at 10,000 objects, MiB", Better::Less, |measures| measures.filled),
        line("memory after all this, MiB", Better::Less, |measures| measures.after),
    ]);
    Ok(())
}

async fn load(kubeconfig: &Path, processes: &[String]) -> Result<Measures> {
    let client = client::connect(kubeconfig).await?;
    let target = Target::of(kubeconfig).await?;
    let empty = held(processes)?;
    let create = client::create_all(&target, 8)?.0;
    let filled = held(processes)?;
    let before = worked(processes)?;
    let (update, updates) = client::update_rate(&target, 8)?;
    let work = (worked(processes)? - before) / updates * 1e6;
    Ok(Measures {
        create,
        empty,
        filled,
        update_one: client::update_rate(&target, 1)?.0,
        update,
        work,
        update_many: client::update_rate(&target, 64)?.0,
        read: client::read_rate(&target, 8)?.0,
        list: client::list_time(&client).await?,
        watch: client::watch_latency(&client).await?,
        after: held(processes)?,
    })
}

/// The seconds that the processors have worked for all these.
fn worked(processes: &[String]) -> Result<f64> {
    processes.iter().map(|process| process::worked(process)).sum()
}

/// The memory of all these, in MiB.
fn held(processes: &[String]) -> Result<f64> {
    let bytes: Result<Vec<u64>> = processes.iter().map(|process| process::resident(process)).collect();
    Ok(mebibytes(bytes?.iter().sum()))
}

/// The processes of a control plane: kube-apiserver, known by its port, and the etcd that it names. Each has a guard
/// beside it with the same words, which is small.
fn processes(plane: &ControlPlane) -> Result<Vec<String>> {
    let port = plane.url().rsplit(':').next().context("a URL has a port")?;
    let mut found = process::processes_with(&format!("--secure-port={port}"))?;
    let api = found.first().context("kube-apiserver is not there")?;
    let line = std::fs::read_to_string(format!("/proc/{api}/cmdline"))?;
    let etcd = line.split('\0').find_map(|word| word.strip_prefix("--etcd-servers="));
    let etcd = etcd.context("it has no etcd")?;
    let of_etcd = process::processes_with(&format!("--listen-client-urls={etcd}"))?;
    anyhow::ensure!(!of_etcd.is_empty(), "etcd is not there");
    found.extend(of_etcd);
    Ok(found)
}
