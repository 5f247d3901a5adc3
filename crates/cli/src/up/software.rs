//! What an engine needs of this machine, which engine the sample has, and how its software is got.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::engines::{self, GALERA, LEDGER};

/// Where administrators' programs are, also if the user's search path does not say so.
const SEARCH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The programs that Galera's actions run.
const PROGRAMS: [&str; 5] = ["mariadb", "mariadb-backup", "mariadb-install-db", "mariadbd", "socat"];
/// Galera itself, where our engine looks for it.
const LIBRARIES: [&str; 2] = ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"];
/// The packages that have them, on Debian.
const PACKAGES: [&str; 4] = ["mariadb-server", "mariadb-backup", "galera-4", "socat"];
/// How Debian gets packages.
const APT_GET: &str = "/usr/bin/apt-get";
/// Where systemd runs.
const SYSTEMD: &str = "/run/systemd/system";

/// Before anything is started: the engine that was asked for is known, and all that it needs is there, or is got.
pub(super) fn check(engine: Option<&str>, install: bool) -> Result<()> {
    let engine = engine.map(engines::known).transpose()?;
    if install && engine != Some(LEDGER) && !lacking().is_empty() {
        self::install()?;
    }
    engine.map_or(Ok(()), ensure)
}

/// Sees that all is there that this engine needs.
pub(super) fn ensure(engine: &str) -> Result<()> {
    let lacking = if engine == GALERA { lacking() } else { Vec::new() };
    if lacking.is_empty() {
        return Ok(());
    }
    bail!("{engine} needs {}, which this machine does not have: {}", lacking.join(", "), how())
}

/// The engine for a sample that is yet to be made, where nobody asked for one.
pub(super) fn choose() -> &'static str {
    let lacking = lacking();
    if lacking.is_empty() {
        return GALERA;
    }
    let lacking = lacking.join(", ");
    eprintln!("muster: the sample is a ledger; a cluster of MariaDB Galera would need {lacking}: {}", how());
    LEDGER
}

/// How to get what is missing.
fn how() -> String {
    format!("`muster up --install` as root on Debian, or install {}", PACKAGES.join(" "))
}

/// What Galera needs and this machine does not have.
fn lacking() -> Vec<&'static str> {
    let path = std::env::var("PATH").unwrap_or_default();
    lacking_in(&format!("{path}:{SEARCH}"), &LIBRARIES.map(Path::new))
}

/// What Galera needs and is not in these directories, or nowhere here.
fn lacking_in(path: &str, libraries: &[&Path]) -> Vec<&'static str> {
    let there = |program: &str| path.split(':').any(|directory| Path::new(directory).join(program).is_file());
    let mut lacking: Vec<&str> = PROGRAMS.into_iter().filter(|program| !there(program)).collect();
    if !libraries.iter().any(|library| library.is_file()) {
        lacking.push("libgalera_smm.so");
    }
    lacking
}

/// Gets the packages, as root of a Debian.
fn install() -> Result<()> {
    let list = PACKAGES.join(" ");
    if !Path::new(APT_GET).is_file() {
        bail!(
            "--install needs apt-get, which this machine does not have: install MariaDB with Galera by its own means"
        );
    }
    if !rustix::process::geteuid().is_root() {
        bail!("--install needs root: run it once as root, or `apt-get install {list}`");
    }
    apt_get(&["update"])?;
    let mut words = vec!["install", "--yes", "--no-install-recommends"];
    words.extend(PACKAGES);
    apt_get(&words)?;
    ensure(GALERA)?;
    if Path::new(SYSTEMD).is_dir() {
        eprintln!(
            "muster: the package starts a MariaDB of its own, which is not needed here: `systemctl disable --now mariadb`"
        );
    }
    Ok(())
}

/// What it says goes where everything for people goes.
fn apt_get(words: &[&str]) -> Result<()> {
    let line = format!("apt-get {}", words.join(" "));
    eprintln!("muster: {line}");
    let mut command = Command::new(APT_GET);
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive").env("PATH", SEARCH);
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    if status.success() { Ok(()) } else { bail!("`{line}` failed: {status}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let directory = std::env::temp_dir().join(format!("muster-software-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (path, library) = (directory.display().to_string(), directory.join("socat"));
        let all = [&PROGRAMS[..], &["libgalera_smm.so"]].concat();
        assert_eq!(lacking_in(&path, &[&library]), all);
        for program in PROGRAMS {
            std::fs::write(directory.join(program), "").unwrap();
        }
        assert_eq!(lacking_in(&format!("/nowhere:{path}"), &[&library]), Vec::<&str>::new());
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn an_engine_that_needs_nothing_is_always_there() {
        assert!(ensure(LEDGER).is_ok() && check(Some(LEDGER), true).is_ok());
        let unknown = check(Some("oracle"), true).unwrap_err().to_string();
        assert_eq!(unknown, "there is no engine \"oracle\"; there is galera, ledger");
    }
}
