//! `muster up`: everything on one machine: API server, node, operator, and a cluster to look at.
//!
//! ```text
//! directory (locked) ─▶ API server ─▶ definitions, engines ─▶ node ─▶ operator ─▶ sample ─▶ Ready ─▶ until Ctrl-C
//! ```

pub(crate) mod bin;
mod explain;
mod install;
mod lease;
mod logs;
mod sample;
mod software;

use std::fs::OpenOptions;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use kube::Client;
use muster_apiserver::serve::{self, Limits, kubeconfig};
use muster_apiserver::server::{Server, ServiceNetwork};
use muster_local::machine::{Machine, Parts};
use muster_local::services::SERVICE_NETWORK;

use crate::apiserver::controllers::Controllers;
use crate::apiserver::place::{Place, Whereabouts};
use crate::apiserver::{Stop, port};
use crate::operator::{Running, Setup};
use crate::sandbox;

/// The name of the one node.
const NODE: &str = "local";

/// Run everything on one machine: an API server, a node, the operator and a sample cluster
///
/// It says how far it is until the cluster is Ready, then how to look at it, and runs until Ctrl-C.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The engine of the sample cluster [default: galera where `MariaDB` is installed, else ledger]
    #[arg(long, value_name = "E")]
    engine: Option<String>,
    /// How many members the sample cluster has
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    members: u16,
    #[command(flatten)]
    whereabouts: Whereabouts,
    /// Make no sample cluster
    #[arg(long, conflicts_with = "install")]
    no_sample: bool,
    /// Get what the engine of the sample cluster needs (on Debian, as root)
    #[arg(long)]
    install: bool,
    /// Leave the operator out: another one (`muster operator`) looks after the clusters
    #[arg(long)]
    no_operator: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(up(options))
}

async fn up(options: &Options) -> Result<()> {
    software::check(options.engine.as_deref(), options.install)?;
    // Whole seconds, as Kubernetes' times are.
    let since = Timestamp::from_second(Timestamp::now().as_second()).context("the clock is of no use")?;
    // From here on a signal is a wish to stop, not the end: what is made below is put away again.
    let mut stop = Stop::listen()?;
    let place = options.whereabouts.place()?;
    keep_log(&place)?;
    let programs = bin::make(place.directory())?;
    let listener = port::listen(&place, options.whereabouts.port)?;
    let store = place.store()?;
    let new_store = store.stock().is_empty();
    let network = ServiceNetwork::new(SERVICE_NETWORK.0, SERVICE_NETWORK.1);
    let server = Server::builder().store(store).service_network(network.unwrap_or_default()).build().await;
    let identity = place.identity()?;
    let mut controllers = Controllers::start(server.clone(), identity.authority());
    let serving = serve::start(listener, &identity, Limits::default(), server.clone())?;
    kubeconfig::write(&place.kubeconfig(), &serving.url(), &identity)?;
    eprintln!("muster: serving {}; {}", serving.url(), place.describe());
    let client = Client::new(server.clone(), "default");
    install::install(&client).await?;
    lease::give_back(&client).await?;

    let mut machine = start_machine(&client, &place, programs).await?;
    server.serve_logs(Arc::new(logs::OfNode(machine.logs())));
    let mut operator = if options.no_operator { None } else { Some(operate(&client, new_store).await?) };

    let shown = async {
        let mut sample = None;
        if !options.no_sample {
            let new = provide_sample(&client, options).await?;
            sample = sample::watch(&client, since, new).await;
        }
        explain::explain(&client, &place, sample.as_ref()).await;
        std::future::pending::<Result<()>>().await
    };
    let outcome = tokio::select! {
        () = stop.wished() => Ok(()),
        error = controllers.failed() => Err(error),
        error = failed(operator.as_mut()) => Err(error),
        what = machine.failed() => Err(anyhow!("a part of the node broke: {what}")),
        ended = shown => ended,
    };
    eprintln!("muster: stopping; a second Ctrl-C ends it at once");
    let stopped = async {
        // First nobody commands, then nobody runs, then nobody serves.
        let given_back = match operator {
            Some(operator) => operator.stop().await,
            None => Ok(()),
        };
        for left in machine.stop().await {
            eprintln!("muster: {left}");
        }
        serving.stop().await;
        given_back
    };
    tokio::select! {
        given_back = stopped => outcome.and(given_back),
        () = stop.wished() => Err(anyhow!("ended at once: processes are killed, data is as after a power cut")),
    }
}

/// Starts the node.
async fn start_machine(client: &Client, place: &Place, programs: PathBuf) -> Result<Machine> {
    let (launcher, isolation) = sandbox::choose(&programs, place.directory()).await;
    let started = Machine::start(Parts {
        client: client.clone(),
        node: NODE.to_owned(),
        directory: place.directory().to_owned(),
        programs,
        launcher,
        isolation,
        alone: true,
        schedules: true,
        endpoint: None,
    })
    .await;
    started.context("the node cannot be registered")
}

/// Makes the sample, unless it is there; true: it is new.
async fn provide_sample(client: &Client, options: &Options) -> Result<bool> {
    let Some(found) = sample::find(client).await? else {
        let engine = options.engine.as_deref().unwrap_or_else(|| software::choose());
        sample::make(client, engine, options.members).await?;
        return Ok(true);
    };
    let engine = &found.spec.engine.name;
    if let Some(asked) = options.engine.as_ref().filter(|asked| *asked != engine) {
        bail!("the sample cluster here is one of {engine}: for one of {asked} take another --data-dir");
    }
    software::ensure(engine)?;
    Ok(false)
}

/// Starts the operator.
async fn operate(client: &Client, new_store: bool) -> Result<Running> {
    Running::start(Setup {
        client: client.clone(),
        place: lease::HOLDER.to_owned(),
        namespace: None,
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        agent_image: concat!("muster:", env!("CARGO_PKG_VERSION")).to_owned(),
        new_store,
    })
    .await
}

/// Why the operator cannot go on; waits for as long as it can, and for ever where it is not ours.
async fn failed(operator: Option<&mut Running>) -> anyhow::Error {
    match operator {
        Some(operator) => operator.failed().await,
        None => std::future::pending().await,
    }
}

/// Logs go to a file: the terminal is for people.
fn keep_log(place: &Place) -> Result<()> {
    let path = place.directory().join("log");
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("cannot write to {}", path.display()))?;
    tracing_subscriber::fmt().with_writer(Mutex::new(file)).with_ansi(false).with_target(false).init();
    Ok(())
}
