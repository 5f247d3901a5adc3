//! `muster node`: this machine as a node of any Kubernetes API. Pods are processes, claims directories, Services proxies.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use muster_local::logs::endpoint::Endpoint;
use muster_local::machine::{Machine, Parts};

use crate::access::Access;
use crate::apiserver::Stop;
use crate::apiserver::place::Place;
use crate::foreground;
use crate::sandbox;
use crate::up::bin;

/// Where it keeps what must outlive it, if nothing else is said; below the user's data.
const DIRECTORY: &str = "muster-node";

/// Run this machine as a node of any Kubernetes API
///
/// Pods are processes of this machine (their commands must be here: images are not pulled), claims of the classes `directory` and
/// `sized` are directories and filesystems, and the addresses of Services lead to the Pods. What makes Pods of sets and deployments,
/// binds claims and collects garbage is the cluster's controller manager. When it is ready it prints one line, `ready: node NAME`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The node's name [default: the name of this machine]
    #[arg(long, value_name = "N")]
    name: Option<String>,
    /// Where Pods, volumes and logs are kept [default: `$XDG_DATA_HOME/muster-node`, else ~/.local/share/muster-node]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Take every Pod that has no node and fits this one: for a cluster without a scheduler
    #[arg(long)]
    schedule: bool,
    /// Do also what a controller manager does: for a cluster without one, such as `muster apiserver`
    #[arg(long)]
    controllers: bool,
    /// Serve `kubectl logs` to API servers with a certificate of this authority (their --kubelet-client-certificate); without it, logs are
    /// only in the data directory
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    foreground::run(serve(options))
}

async fn serve(options: &Options) -> Result<()> {
    let mut stop = Stop::listen()?;
    let client = options.access.client().await?;
    let place = Place::kept(options.data_dir.as_deref(), DIRECTORY)?;
    let programs = bin::make(place.directory())?;
    let (launcher, isolation) = sandbox::choose(&programs, place.directory()).await;
    let name = options.name.clone().unwrap_or_else(machine_name);
    let endpoint = match &options.client_ca {
        Some(authority) => Some(Endpoint::listen(&name, authority).await.context("logs cannot be served")?),
        None => None,
    };
    let mut machine = Machine::start(Parts {
        client,
        node: name.clone(),
        directory: place.directory().to_owned(),
        programs,
        launcher,
        isolation,
        alone: options.controllers,
        schedules: options.schedule,
        endpoint,
    })
    .await
    .context("the node cannot be registered")?;
    println!("ready: node {name}");
    // Whoever waits for the line has it now; whoever does not read does not end the node.
    drop(std::io::stdout().flush());
    let outcome = tokio::select! {
        () = stop.wished() => Ok(()),
        what = machine.failed() => Err(anyhow!("a part of the node broke: {what}")),
    };
    eprintln!("muster: stopping; a second signal ends it at once");
    let stopped = async {
        for left in machine.stop().await {
            eprintln!("muster: {left}");
        }
    };
    tokio::select! {
        () = stopped => outcome,
        () = stop.wished() => Err(anyhow!("ended at once: processes are killed, data is as after a power cut")),
    }
}

/// The name of this machine, as the API takes it.
fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().to_lowercase();
    if name.is_empty() { "local".to_owned() } else { name }
}
