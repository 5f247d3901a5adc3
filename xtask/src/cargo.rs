//! Calling cargo from within cargo.

use crate::workspace;
use std::env;
use std::process::Command;

/// The cargo that runs this chore, at the root of the checkout.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    if is_ci() {
        // What is built once gains nothing from it, and it is a third of what a build writes to the disk.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether this runs for everyone: then a part that cannot run is a failure.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true")
}
