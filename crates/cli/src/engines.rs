//! `muster engines`: the engines to install, and those that `muster up` installs.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};

/// The manifests of our engines, by name.
pub(crate) const MANIFESTS: [(&str, &str); 2] = [
    (GALERA, include_str!("../../../engines/galera/engine.yaml")),
    (LEDGER, include_str!("../../../engines/ledger/engine.yaml")),
];
/// `MariaDB` Galera.
pub(crate) const GALERA: &str = "galera";
/// Our own log.
pub(crate) const LEDGER: &str = "ledger";

/// The engine of this name.
pub(crate) fn known(name: &str) -> Result<&'static str> {
    let names = MANIFESTS.map(|(name, _)| name);
    match names.into_iter().find(|known| *known == name) {
        Some(known) => Ok(known),
        None => bail!("there is no engine {name:?}; there is {}", names.join(", ")),
    }
}

/// A manifest as an object.
pub(crate) fn parse(manifest: &str) -> Result<serde_json::Value> {
    serde_yaml_ng::from_str(manifest).context("the manifest is not YAML")
}

/// Print the engines to install: `muster engines | kubectl apply --server-side -f -`
#[derive(clap::Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    let all: String = MANIFESTS.iter().flat_map(|(_, manifest)| ["---\n", manifest]).collect();
    match io::stdout().write_all(all.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
