//! One file, several programs: by the name that it is called with.

use std::path::Path;
use std::process::ExitCode;

/// The names by which this file is another program.
pub(crate) const NAMES: [&str; 3] = ["muster-agent", "muster-ledger", "kubectl-muster"];

/// Runs the program of the name that this was called with, if it is one of those.
pub(crate) fn by_name(words: &[String]) -> Option<ExitCode> {
    let name = Path::new(words.first()?).file_name()?.to_str()?;
    let mut all = words.iter().cloned();
    match name {
        "muster-agent" => Some(muster_agent::program::program(all.skip(1))),
        "muster-ledger" => Some(muster_ledger::program::program(&mut all)),
        "kubectl-muster" => Some(muster_plugin::program::program(words)),
        _ => None,
    }
}
