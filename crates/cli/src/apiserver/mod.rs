//! `muster apiserver`: the embedded API server alone.

pub(crate) mod controllers;
pub(crate) mod place;
pub(crate) mod port;

use std::io::{self, Write};

use anyhow::{Context, Result};
use muster_apiserver::serve::{self, Limits, kubeconfig};
use muster_apiserver::server::Server;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::controllers::Controllers;
use self::place::{Place, Whereabouts};

/// Run the embedded Kubernetes API server
///
/// When it is ready it prints one line on standard output, `ready: KUBECONFIG=FILE`, and serves until it gets SIGINT or
/// SIGTERM. It listens on 127.0.0.1 only.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    whereabouts: Whereabouts,
    /// Leave out garbage collection and the deletion of what is in a deleted namespace
    #[arg(long)]
    no_controllers: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(serve_until_stopped(options))
}

async fn serve_until_stopped(options: &Options) -> Result<()> {
    // From here on a signal is a wish to stop, not the end: what is made below is put away again.
    let mut stop = Stop::listen()?;
    let place = options.whereabouts.place()?;
    let listener = port::listen(&place, options.whereabouts.port)?;
    let server = Server::builder().store(place.store()?).build().await;
    let identity = place.identity()?;
    let mut controllers = if options.no_controllers {
        Controllers::none()
    } else {
        Controllers::start(server.clone(), identity.authority())
    };
    let running = serve::start(listener, &identity, Limits::default(), server)?;
    kubeconfig::write(&place.kubeconfig(), &running.url(), &identity)?;
    eprintln!("muster: serving {}; {}", running.url(), place.describe());
    let outcome = match announce(&place) {
        Ok(()) => tokio::select! {
            () = stop.wished() => {
                eprintln!("muster: stopping");
                Ok(())
            }
            error = controllers.failed() => Err(error),
        },
        failed => failed,
    };
    running.stop().await;
    outcome
}

/// The one line that says that everything is there.
fn announce(place: &Place) -> Result<()> {
    let line = format!("ready: KUBECONFIG={}\n", place.kubeconfig().display());
    let mut output = io::stdout();
    output.write_all(line.as_bytes()).and_then(|()| output.flush()).context("cannot say that it is ready")
}

/// The signals that ask a program to end.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    pub(crate) async fn wished(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
