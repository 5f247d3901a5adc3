//! Calling cargo from within cargo.

use crate::workspace;
use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// The cargo that runs this chore, at the root of the checkout.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    // What cargo tells of the chore itself is nothing to what is built: scripts of dependencies look at it, and all that depends on
    // them would be built anew each time a chore follows a plain `cargo test`, and the other way round.
    for (name, _) in env::vars_os().filter(|(name, _)| is_about_this_chore(name)) {
        command.env_remove(name);
    }
    if is_ci() {
        // What is built once gains nothing from it, and it is a third of what a build writes to the disk.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether cargo set this variable for the program it runs.
fn is_about_this_chore(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO_BIN_NAME"
}

/// Whether this runs for everyone: then a part that cannot run is a failure.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true")
}
