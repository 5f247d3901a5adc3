//! `muster sandbox`: what the node starts around each container's process. Not for people.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use muster_local::pods::{self, Isolation, Launcher};
use muster_local::sandbox;

/// The process around a container's process
#[derive(clap::Args)]
pub(crate) struct Options {
    #[arg(allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The word that leads here.
pub(crate) const WORD: &str = "sandbox";

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let again = [std::env::current_exe()?.to_string_lossy().into_owned(), WORD.to_owned()];
    let Err(error) = sandbox::run(&options.arguments, &again);
    eprintln!("muster: {error}");
    Ok(ExitCode::from(sandbox::NOT_STARTED))
}

/// How sandboxes are started with these programs, and how they keep containers apart: as well as this machine lets us.
pub(crate) async fn choose(programs: &Path, directory: &Path) -> (Launcher, Isolation) {
    let launcher = Launcher(vec![programs.join("muster").to_string_lossy().into_owned(), WORD.into()]);
    let (isolation, why) = pods::isolation(&launcher, directory).await;
    if let (Isolation::Paths, Some(why)) = (isolation, why) {
        eprintln!("muster: containers share this machine's view of its files: {why}");
    }
    (launcher, isolation)
}
