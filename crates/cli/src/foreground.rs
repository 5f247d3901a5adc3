//! A program that runs until it is told to stop, and says on stderr what it does.

use std::io::IsTerminal;

use anyhow::{Context, Result};

/// Runs it on a runtime of its own, with its log on stderr.
pub(crate) fn run(program: impl Future<Output = Result<()>>) -> Result<()> {
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_target(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(program)
}
