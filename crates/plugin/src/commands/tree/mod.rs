//! `kubectl muster tree NAME`: every object that a cluster owns, with its readiness and its generation.

mod draw;
mod find;
mod readiness;

use crate::access::{Output, object};
use crate::error::{EXIT_CODES, Failure};
use crate::print::document;
use crate::session::Session;

/// Show every object of a cluster, with its readiness and its generation
///
/// OBSERVED behind GENERATION: its controller has not seen the newest spec yet, so what it says is about an older one.
/// Claims and account Secrets belong to the data and are owned by nobody: they stand apart.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
}

/// Shows it.
pub async fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let cluster = access.cluster(&options.name).await?;
    let found = find::find(&access, &cluster).await?;
    let text = match document(&found.objects, session.output())? {
        Some(text) => text,
        None => draw::draw(&found.objects, session.output() == Output::Wide, session.console.paint),
    };
    session.console.show(&text);
    for (kind, why) in &found.hidden {
        let named = object("ReplicatedCluster", &options.name, &access.namespace);
        session.console.note(&format!("not shown: the {kind}s of {named}: {why}"));
    }
    Ok(())
}
