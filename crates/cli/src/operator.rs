//! `muster operator`: the operator against any Kubernetes API.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use kube::Client;
use muster_operator::agents::{Limits, TlsDial};
use muster_operator::clock::{SharedClock, SystemClock};
use muster_operator::context::Chance;
use muster_operator::lease::{Elector, Identity, Options as LeaseOptions, Others};
use muster_operator::metrics::Metrics;
use muster_operator::run::{NEEDS, Operator, Parts};
use muster_operator::serve::{self, Health};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::access::Access;
use crate::election::Election;
use crate::foreground;

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
    foreground::run(operate(options))
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
            // Why it failed is what a person must know.
            drop(running.stop().await);
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
    election: Election<muster_operator::lease::Error>,
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
        let election = Election::start(|stopped| elector.run(async { drop(stopped.await) }));
        Ok(Self { operator, election, watching, health, listener })
    }

    /// Why it cannot go on; waits for as long as it can.
    pub(crate) async fn failed(&mut self) -> anyhow::Error {
        tokio::select! {
            error = self.election.failed() => error,
            broken = self.operator.failed() => broken.into(),
        }
    }

    /// Stops all work, and gives the Lease back, so that another operator need not wait for it; also after a failure, as far as there is
    /// anything left to stop.
    pub(crate) async fn stop(self) -> Result<()> {
        self.health.stopping();
        self.operator.stop().await;
        let given_back = self.election.stop().await;
        if let Some(watching) = self.watching {
            watching.abort();
        }
        self.listener.stop().await;
        given_back
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
