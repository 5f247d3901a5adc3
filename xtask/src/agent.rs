//! `cargo xtask agent`: the agent as it is in every member, one static program, because any image must be able to run it.

use crate::cargo::cargo;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Nothing of the machine that it runs on is needed. With a target that is named, this is not for what runs while it is built.
const FLAGS: &str = "-C target-feature=+crt-static";
/// The profile in Cargo.toml, and the name of its directory.
const PROFILE: &str = "agent";

/// Builds it, and says where it is.
pub(crate) fn command() -> Result<bool> {
    println!("{}", build()?.display());
    Ok(true)
}

/// Builds it; where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let host = host()?;
    let words = ["build", "--quiet", "--package", "muster-agent", "--bin", "muster-agent"];
    let mut command = cargo(&words);
    command.args(["--profile", PROFILE, "--target", &host]).env("RUSTFLAGS", FLAGS);
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "the static agent cannot be built here");
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    Ok(workspace::root().join(target).join(host).join(PROFILE).join("muster-agent"))
}

/// The kind of machine that this is, as the compiler calls it.
fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("cannot run rustc")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(host) = host_in(&said) else { bail!("rustc does not say which machine this is: {said}") };
    Ok(host.to_owned())
}

fn host_in(said: &str) -> Option<&str> {
    said.lines().find_map(|line| line.strip_prefix("host: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_read_from_what_the_compiler_says() {
        assert_eq!(host_in("rustc 1.95.0\nbinary: rustc\nhost: a-b-c\nrelease: 1\n"), Some("a-b-c"));
        assert_eq!(host_in("rustc 1.95.0\n"), None);
        assert!(host().unwrap().contains("linux"));
    }
}
