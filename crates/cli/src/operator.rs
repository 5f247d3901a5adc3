//! `muster operator`: the operator against any Kubernetes API.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use muster_operator::agents::{Limits, TlsDial};
use muster_operator::clock::{SharedClock, SystemClock};
use muster_operator::context::Chance;
use muster_operator::lease::{Elector, Identity, Options as LeaseOptions, Others};
use muster_operator::metrics::Metrics;
use muster_operator::run::{NEEDS, Operator, Parts};
use muster_operator::serve::{self, Health};
use tokio::sync::{oneshot, watch};

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
    /// The kubeconfig file. Default: $KUBECONFIG, ~/.kube/config, or the Pod's own account.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long)]
    context: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_target(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(operate(options))
}

async fn operate(options: &Options) -> Result<()> {
    let client = access(options).await?;
    let clock: SharedClock = Arc::new(SystemClock);
    let chance = Chance::from_system();
    let place = std::env::var("HOSTNAME").unwrap_or_else(|_| "muster".to_owned());
    let identity = Identity::fresh(&place, &mut chance.generator());
    let name = identity.as_str().to_owned();
    let lease = LeaseOptions::new(options.namespace.as_deref(), identity);
    let others = Others::new(client.clone(), &lease.namespace);
    let elsewhere = match &options.namespace {
        // Within one namespace there are no others.
        Some(_) => watch::channel(Some(Arc::default())).1,
        None => others.namespaces(),
    };
    let elector = Elector::new(client.clone(), lease, clock.clone());
    let (metrics, health) = (Metrics::new(), Health::new([NEEDS]));
    let listener = serve::start(options.listen, metrics.clone(), health.clone()).await?;
    let operator = Operator::start(Parts {
        client,
        namespace: options.namespace.clone(),
        authority: elector.authority(),
        clock,
        dial: Arc::new(TlsDial::default()),
        agent_limits: Limits::default(),
        agent_image: options.agent_image.clone(),
        chance,
        identity: name,
        elsewhere,
        metrics,
        health: health.clone(),
    });
    let watching = options.namespace.is_none().then(|| tokio::spawn(others.run()));
    println!("ready: http://{}/metrics", listener.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let mut electing = tokio::spawn(elector.run(async { drop(stopped.await) }));
    let ended = tokio::select! {
        () = interrupted() => None,
        ended = &mut electing => Some(ended),
    };
    health.stopping();
    operator.stop().await;
    if let Some(ended) = ended {
        ended.context("the leader election broke")?.context("the Lease was lost while work went on")?;
        bail!("the leader election ended by itself");
    }
    // Nothing works any more: the Lease is given back, so that another operator need not wait for it.
    drop(stop);
    electing.await.context("the leader election broke")?.context("the Lease was not given back")?;
    if let Some(watching) = watching {
        watching.abort();
    }
    listener.stop().await;
    Ok(())
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

/// A client by the usual rules.
async fn access(options: &Options) -> Result<Client> {
    let choice = KubeConfigOptions { context: options.context.clone(), ..KubeConfigOptions::default() };
    let config = match &options.kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path);
            let file = file.with_context(|| format!("cannot read the kubeconfig {}", path.display()))?;
            Config::from_custom_kubeconfig(file, &choice).await.context("the kubeconfig is of no use")?
        }
        None if options.context.is_some() => {
            Config::from_kubeconfig(&choice).await.context("the kubeconfig is of no use")?
        }
        None => Config::infer()
            .await
            .context("no Kubernetes is configured: give --kubeconfig, or set KUBECONFIG")?,
    };
    Client::try_from(config).context("cannot make a client of the configuration")
}
