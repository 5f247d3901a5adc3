//! Calling cargo from within cargo.

use crate::workspace;
use std::env;
use std::process::Command;

/// The cargo that runs this chore, at the root of the checkout.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    command
}
