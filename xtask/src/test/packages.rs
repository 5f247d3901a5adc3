//! The software of real engines, as packages of Debian: what is missing is installed, by root.

use std::path::Path;
use std::process::Command;

/// A file of each package, and the package. The same that `muster up --install` gets.
const WANTED: [(&str, &str); 4] = [
    ("/usr/sbin/mariadbd", "mariadb-server"),
    ("/usr/bin/mariadb-backup", "mariadb-backup"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("/usr/bin/socat", "socat"),
];
/// How Debian gets packages.
const APT_GET: &str = "/usr/bin/apt-get";
/// Root's number.
const ROOT: &str = "0";

/// Sees to it that the packages are there; if they cannot be had, says why.
pub(super) fn provide() -> Result<(), String> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !Path::new(APT_GET).is_file() {
        return Err(format!("this is no Debian, and these are not installed: {list}"));
    }
    if !is_root() {
        return Err(format!("only root can install packages: `apt-get install {list}`"));
    }
    apt_get(&["update"])?;
    let mut words = vec!["install", "--yes", "--no-install-recommends"];
    words.extend(&missing);
    apt_get(&words)?;
    match self::missing().as_slice() {
        [] => Ok(()),
        left => Err(format!("installed, and still not there: {}", left.join(" "))),
    }
}

fn missing() -> Vec<&'static str> {
    WANTED.iter().filter(|(file, _)| !Path::new(file).is_file()).map(|(_, package)| *package).collect()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == ROOT)
}

fn apt_get(words: &[&str]) -> Result<(), String> {
    let line = format!("apt-get {}", words.join(" "));
    eprintln!("{line}");
    let status = Command::new(APT_GET).args(words).env("DEBIAN_FRONTEND", "noninteractive").status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` failed: {status}")),
        Err(error) => Err(format!("cannot run `{line}`: {error}")),
    }
}
