//! The program `muster-agent`: what is typed, and how it runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::engine::Engine;
use crate::memory::store::Store;
use crate::process::child::{self, Orders};
use crate::run::Agent;
use crate::server::{Keyring, serve_operator, serve_probes};
use crate::settings::Settings;
use crate::{fresh_instance, fresh_name, install};
use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// For who types something else.
const USAGE: &str =
    "usage: muster-agent run            as the parent of a member's application; its environment says which
       muster-agent install DIR    copies this program into DIR
       muster-agent --version";
/// For who types something else: exit code.
const WRONG_USE: u8 = 2;

/// Runs the program with these arguments, its own name left out.
pub fn program(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let word = arguments.next();
    let result = match word.as_deref() {
        Some("child") => match Orders::from_arguments(arguments) {
            Some(orders) => return child::run(&orders),
            None => return wrong_use(),
        },
        Some("run") if arguments.next().is_none() => run(),
        Some("install") => match (arguments.next(), arguments.next()) {
            (Some(directory), None) => own_program()
                .and_then(|program| install::install(&program, Path::new(&directory)).map_err(Into::into)),
            _ => return wrong_use(),
        },
        Some("--version") => {
            let version = concat!("muster-agent ", env!("CARGO_PKG_VERSION"), "\n");
            std::io::stdout().write_all(version.as_bytes()).map_err(Into::into)
        }
        _ => return wrong_use(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "muster-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn wrong_use() -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{USAGE}");
    ExitCode::from(WRONG_USE)
}

type Error = Box<dyn std::error::Error>;

fn own_program() -> Result<PathBuf, Error> {
    Ok(std::env::current_exe()?)
}

fn run() -> Result<(), Error> {
    let settings = Settings::read(|name| std::env::var(name).ok(), own_program()?)?;
    let engine = Engine::read(&settings.config)?;
    let store = Store::open(&settings.volume)
        .map_err(|error| format!("{} cannot be used: {error}", settings.volume.display()))?;
    // Whose parents end comes to this process, and does not go unnoticed.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // One thread: children die with the thread that made them.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(live(settings, engine, store));
    // What still blocks elsewhere is not waited for.
    runtime.shutdown_background();
    result
}

async fn live(settings: Settings, engine: Engine, store: Store) -> Result<(), Error> {
    let named = |what: &str, address: std::net::SocketAddr| {
        let what = what.to_owned();
        move |error: std::io::Error| format!("{what} cannot listen on {address}: {error}")
    };
    let operator = TcpListener::bind(settings.listen).await.map_err(named("the agent", settings.listen))?;
    let probes = TcpListener::bind(settings.probes).await.map_err(named("probes", settings.probes))?;
    let listening = (operator.local_addr()?, probes.local_addr()?);
    let said = format!("muster-agent: serves the operator on {}, probes on {}", listening.0, listening.1);
    let _ = writeln!(std::io::stderr(), "{said}");
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut quit = signal(SignalKind::quit())?;
    let keys = Arc::new(Keyring::new(&settings));
    let volume = settings.volume.clone();
    let agent = Agent::new(settings, engine, &store, fresh_instance());
    drop(store);
    tokio::spawn(Arc::clone(&keys).keep());
    tokio::spawn(serve_operator(agent.clone(), operator, keys));
    tokio::spawn(serve_probes(agent.clone(), probes));
    pass_on_signals(&agent)?;
    let living = async {
        agent.begin(volume, fresh_name).await?;
        let work = (agent.watch_application(), agent.measure(), agent.keep_house());
        tokio::join!(work.0, work.1, work.2);
        Ok(())
    };
    let result = tokio::select! {
        result = living => result,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        _ = quit.recv() => Ok(()),
    };
    agent.end().await;
    result
}

/// Signals by which people speak to the application.
fn pass_on_signals(agent: &Agent) -> std::io::Result<()> {
    let kinds = [
        (SignalKind::hangup(), Signal::HUP),
        (SignalKind::user_defined1(), Signal::USR1),
        (SignalKind::user_defined2(), Signal::USR2),
    ];
    for (kind, number) in kinds {
        let (mut arrives, agent) = (signal(kind)?, agent.clone());
        tokio::spawn(async move {
            while arrives.recv().await.is_some() {
                agent.pass_on(number);
            }
        });
    }
    Ok(())
}
