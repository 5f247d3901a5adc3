//! `muster operator`: the operator against any Kubernetes API.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use kube::Client;
use muster_operator::agents::{Limits, TlsDial};
use muster_operator::clock::{SharedClock, SystemClock};
use muster_operator::context::Chance;
use muster_operator::lease::{Elector, Identity, Options as LeaseOptions, Others};
use muster_operator::metrics::Metrics;
use muster_operator::run::{NEEDS, Operator, Parts};
use muster_operator::serve::{self, Health};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::access::Access;

/// Run the operator against any Kubernetes API.
#[derive(Args)]
pub(crate) struct Options {
    /// Look after this namespace only; a Role is then enough. Default: all namespaces.
    #[arg(long)]
    namespace: Option<String>,
    /// Where /metrics, /readyz and /livez are served.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The image that agents are copied from.
    #[arg(long, default_value = concat!("muster:", env!("CARGO_PKG_VERSION")))]
    agent_image: String,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_target(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(operate(options))
}

async fn operate(options: &Options) -> Result<()> {
    let setup = Setup {
        client: options.access.client().await?,
        place: std::env::var("HOSTNAME").unwrap_or_else(|_| "muster".to_owned()),
        namespace: options.namespace.clone(),
        listen: options.listen,
        agent_image: options.agent_image.clone(),
        new_store: false,
    };
    let mut running = Running::start(setup).await?;
    println!("ready: http://{}/metrics", running.listener.address());
    tokio::select! {
        () = interrupted() => running.stop().await,
        error = running.failed() => {
            running.abandon().await;
            Err(error)
        }
    }
}

/// What an operator is made of.
pub(crate) struct Setup {
    pub(crate) client: Client,
    /// Where it runs, for people who read the Lease.
    pub(crate) place: String,
    /// None: all namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) listen: SocketAddr,
    pub(crate) agent_image: String,
    /// Whether the API server's store was made just now, so that nobody else can be leader.
    pub(crate) new_store: bool,
}

/// An operator at work, leader or not.
pub(crate) struct Running {
    operator: Operator,
    electing: JoinHandle<Result<(), muster_operator::lease::Error>>,
    stop: oneshot::Sender<()>,
    watching: Option<JoinHandle<()>>,
    health: Health,
    listener: serve::Running,
}

impl Running {
    pub(crate) async fn start(setup: Setup) -> Result<Self> {
        let Setup { client, place, namespace, listen, agent_image, new_store } = setup;
        let clock: SharedClock = Arc::new(SystemClock);
        let chance = Chance::from_system();
        let identity = Identity::fresh(&place, &mut chance.generator());
        let name = identity.as_str().to_owned();
        let lease = LeaseOptions { new_store, ..LeaseOptions::new(namespace.as_deref(), identity) };
        let others = Others::new(client.clone(), &lease.namespace);
        let elsewhere = match &namespace {
            // Within one namespace there are no others.
            Some(_) => watch::channel(Some(Arc::default())).1,
            None => others.namespaces(),
        };
        let elector = Elector::new(client.clone(), lease, clock.clone());
        let (metrics, health) = (Metrics::new(), Health::new([NEEDS]));
        let listener = serve::start(listen, metrics.clone(), health.clone()).await?;
        let watching = namespace.is_none().then(|| tokio::spawn(others.run()));
        let operator = Operator::start(Parts {
            client,
            namespace,
            authority: elector.authority(),
            clock,
            dial: Arc::new(TlsDial::default()),
            agent_limits: Limits::default(),
            agent_image,
            chance,
            identity: name,
            elsewhere,
            metrics,
            health: health.clone(),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let electing = tokio::spawn(elector.run(async { drop(stopped.await) }));
        Ok(Self { operator, electing, stop, watching, health, listener })
    }

    /// Why it cannot go on; waits for as long as it can.
    pub(crate) async fn failed(&mut self) -> anyhow::Error {
        let elected = tokio::select! {
            elected = &mut self.electing => elected,
            broken = self.operator.failed() => return broken.into(),
        };
        match elected {
            Err(error) => anyhow::Error::new(error).context("the leader election broke"),
            Ok(Err(error)) => anyhow::Error::new(error).context("the Lease was lost while work went on"),
            Ok(Ok(())) => anyhow::anyhow!("the leader election ended by itself"),
        }
    }

    /// Stops after a failure. Where the election goes on, the Lease is given back: nobody need wait for a process that ends.
    pub(crate) async fn abandon(self) {
        self.health.stopping();
        self.operator.stop().await;
        if !self.electing.is_finished() {
            drop(self.stop);
            drop(self.electing.await);
        }
    }

    /// Stops all work, and gives the Lease back, so that another operator need not wait for it.
    pub(crate) async fn stop(self) -> Result<()> {
        self.health.stopping();
        self.operator.stop().await;
        drop(self.stop);
        self.electing.await.context("the leader election broke")?.context("the Lease was not given back")?;
        if let Some(watching) = self.watching {
            watching.abort();
        }
        self.listener.stop().await;
        Ok(())
    }
}

/// Waits for Ctrl-C, or for the end that a kubelet announces.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        drop(tokio::signal::ctrl_c().await);
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
