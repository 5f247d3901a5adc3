//! `kubectl muster validate -f FILE`: what the API server and the operator would say to a manifest, before anything is done.

mod check;
pub(crate) mod files;
pub(crate) mod lookup;
mod report;

use std::path::PathBuf;

pub(crate) use check::check_one;
use lookup::Sources;

use crate::error::{EXIT_CODES, Failure};
use crate::print::document;
use crate::session::Session;

/// Check manifests: everything that is wrong with them, each with its field
///
/// What the API server would refuse is always checked. What a manifest refers to (engine, storage classes, Secrets) is
/// looked for among the manifests given, then in the cluster, if it can be reached. Exit code 4: not valid.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    /// A manifest, a directory of them, or - for standard input; may be given several times
    #[arg(short, long, value_name = "FILE", required = true)]
    filename: Vec<PathBuf>,
    /// Do not look at any cluster
    #[arg(long)]
    offline: bool,
}

/// Checks them all.
pub async fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let documents = files::read(&options.filename)?;
    let sources = Sources::new(session, options.offline, &documents).await;
    let mut verdicts = Vec::new();
    for document in &documents {
        verdicts.extend(check_one(document, &sources).await);
    }
    let others = documents.len() - verdicts.len();
    if verdicts.is_empty() {
        return Err(Failure::No(format!("none of the {} manifests is of a kind of Muster", documents.len())));
    }
    if let Some(why) = sources.unasked() {
        session.console.note(&format!("what manifests refer to was not looked for: {why}"));
    }
    match document(&verdicts, session.output())? {
        Some(text) => session.console.show(&text),
        None => session.console.show(&report::text(&verdicts, session.console.paint)),
    }
    if others > 0 {
        session.console.note(&format!("{others} manifests of other kinds were not checked"));
    }
    match verdicts.iter().filter(|verdict| !verdict.violations.is_empty()).count() {
        0 => Ok(()),
        1 => Err(Failure::No("1 manifest is not valid".to_owned())),
        count => Err(Failure::No(format!("{count} manifests are not valid"))),
    }
}
