//! One operator process: the elector and all that works under it. Dropped, it is killed.

use std::sync::Arc;

use kube::Client;
use muster_operator::agents::{Dial, Limits};
use muster_operator::clock::SharedClock;
use muster_operator::context::Chance;
use muster_operator::lease::{Authority, Elector, Identity, Options, Others, Timing};
use muster_operator::metrics::Metrics;
use muster_operator::run::{NEEDS, Operator, Parts};
use muster_operator::serve::Health;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// What a process is started with.
#[derive(Clone)]
pub struct Setup {
    /// Its access to the API server.
    pub client: Client,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// The way to agents.
    pub dial: Arc<dyn Dial>,
    /// The time of day.
    pub clock: SharedClock,
    /// How fast the Lease changes hands.
    pub timing: Timing,
    /// Nobody else can hold the Lease.
    pub new_store: bool,
    /// Where its chance comes from.
    pub seed: u64,
}

/// A process.
pub struct Process {
    /// Its operator.
    pub operator: Option<Operator>,
    /// Whether it leads.
    pub authority: Authority,
    /// What it measures.
    pub metrics: Metrics,
    elector: JoinHandle<()>,
    others: Option<JoinHandle<()>>,
    shutdown: Option<oneshot::Sender<()>>,
}

impl Process {
    /// Starts one.
    pub fn start(setup: Setup) -> Self {
        let mut chance = StdRng::seed_from_u64(setup.seed);
        let identity = Identity::fresh("test", &mut chance);
        let name = identity.as_str().to_owned();
        let mut lease = Options::new(setup.namespace.as_deref(), identity);
        (lease.timing, lease.new_store) = (setup.timing, setup.new_store);
        let others = Others::new(setup.client.clone(), &lease.namespace);
        let elsewhere = match &setup.namespace {
            Some(_) => watch::channel(Some(Arc::default())).1,
            None => others.namespaces(),
        };
        let elector = Elector::new(setup.client.clone(), lease, setup.clock.clone());
        let (authority, metrics) = (elector.authority(), Metrics::new());
        let operator = Operator::start(Parts {
            client: setup.client,
            namespace: setup.namespace.clone(),
            authority: authority.clone(),
            clock: setup.clock,
            dial: setup.dial,
            agent_limits: Limits::default(),
            agent_image: "muster:test".into(),
            chance: Chance::seeded(setup.seed),
            identity: name,
            elsewhere,
            metrics: metrics.clone(),
            health: Health::new([NEEDS]),
        });
        let others = setup.namespace.is_none().then(|| tokio::spawn(others.run()));
        let (shutdown, told) = oneshot::channel::<()>();
        let elector = tokio::spawn(async move {
            drop(elector.run(async { drop(told.await) }).await);
        });
        let (operator, shutdown) = (Some(operator), Some(shutdown));
        Self { operator, authority, metrics, elector, others, shutdown }
    }

    /// The epoch under which it leads now, if it does.
    pub fn leads(&self) -> Option<u64> {
        self.authority.now().ok().map(|mandate| mandate.epoch)
    }

    /// Ends in good order: the Lease is given back.
    pub async fn stop(mut self) {
        if let Some(operator) = self.operator.take() {
            operator.stop().await;
        }
        self.shutdown.take();
        drop((&mut self.elector).await);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.operator = None;
        self.elector.abort();
        if let Some(others) = &self.others {
            others.abort();
        }
    }
}
