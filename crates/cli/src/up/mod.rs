//! `muster up`: everything on one machine: API server, node, operator, and a cluster to look at.
//!
//! ```text
//! directory (locked) ─▶ API server ─▶ definitions, engines ─▶ node ─▶ operator ─▶ sample ─▶ Ready ─▶ until Ctrl-C
//! ```

pub(crate) mod bin;
mod explain;
mod install;
mod lease;
mod log;
mod logs;
mod sample;
mod software;
mod started;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Error, Result, anyhow, bail};
use jiff::Timestamp;
use kube::Client;
use muster_apiserver::serve::{self, Limits, kubeconfig};
use muster_apiserver::server::{Server, ServiceNetwork};
use muster_local::machine::{Machine, Parts};
use muster_local::services::SERVICE_NETWORK;

use self::started::Started;
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
    log::keep(place.directory())?;
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
    let scene = Scene { options, place: &place, server: &server, client: &client, since, new_store };
    let mut started = Started::default();
    // All that takes time is in here, so that a wish to stop is heard from the first moment, and whatever has begun by then is ended
    // below, however this goes.
    let work = Box::pin(work(&scene, programs, &mut started));
    let outcome = first(stop.wished(), controllers.failed(), work).await;
    eprintln!("muster: stopping; a second Ctrl-C ends it at once");
    let stopped = async {
        let given_back = started.stop().await;
        serving.stop().await;
        given_back
    };
    tokio::select! {
        given_back = stopped => outcome.and(given_back),
        () = stop.wished() => Err(anyhow!("ended at once: processes are killed, data is as after a power cut")),
    }
}

/// How it ended: by a person's wish, because what it stands on is broken, or by itself.
async fn first(
    wished: impl Future<Output = ()>,
    broken: impl Future<Output = Error>,
    work: impl Future<Output = Result<()>>,
) -> Result<()> {
    tokio::select! {
        () = wished => Ok(()),
        error = broken => Err(error),
        ended = work => ended,
    }
}

/// What the work is done with.
struct Scene<'a> {
    options: &'a Options,
    place: &'a Place,
    server: &'a Server,
    client: &'a Client,
    since: Timestamp,
    new_store: bool,
}

/// Starts everything, says how far it is, and goes on until something fails. It may be dropped at any moment: what has begun is in
/// `started`.
async fn work(scene: &Scene<'_>, programs: PathBuf, started: &mut Started) -> Result<()> {
    let Scene { options, place, server, client, since, new_store } = *scene;
    install::install(client).await?;
    lease::give_back(client).await?;
    let machine = started.machine.insert(start_machine(client, place, programs).await?);
    server.serve_logs(Arc::new(logs::OfNode(machine.logs())));
    if !options.no_operator {
        started.operator = Some(operate(client, new_store).await?);
    }

    let shown = async {
        let mut sample = None;
        if !options.no_sample {
            let new = provide_sample(client, options).await?;
            sample = sample::watch(client, since, new).await;
        }
        explain::explain(client, place, sample.as_ref()).await;
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        error = started.failed() => Err(error),
        ended = shown => ended,
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

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::mpsc;

    use super::*;

    /// A server on which the first definition of ours is never served: someone has its kind.
    async fn hindered() -> Client {
        let client = Client::new(Server::builder().build().await, "default");
        install::squat(&client).await;
        client
    }

    #[tokio::test]
    async fn a_wish_to_stop_is_heard_while_it_starts() {
        let client = hindered().await;
        let (started, seen) = mpsc::channel();
        let work = async {
            started.send(()).unwrap();
            install::install(&client).await
        };
        // It is wished only once the work has begun, which then would go on for half a minute.
        let wished = async {
            while seen.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
        };
        first(wished, pending(), Box::pin(work)).await.unwrap();
    }

    #[tokio::test]
    async fn what_failed_is_told() {
        let broken = first(pending(), ready(anyhow!("broken")), pending()).await;
        assert_eq!(broken.unwrap_err().to_string(), "broken");
        let failed = first(pending(), pending(), ready(Err(anyhow!("failed")))).await;
        assert_eq!(failed.unwrap_err().to_string(), "failed");
    }

    #[tokio::test]
    async fn what_has_not_begun_need_not_be_stopped() {
        Started::default().stop().await.unwrap();
    }
}
