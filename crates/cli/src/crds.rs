//! `muster crds`: the manifests to install.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Print the CRDs to install: `muster crds | kubectl apply --server-side -f -`
#[derive(clap::Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    let mut all = String::new();
    for (_, manifest) in muster_api::crds::manifests()? {
        all.push_str("---\n");
        all.push_str(&manifest);
    }
    print(&all)
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
