//! Where a server keeps what must outlive it, or that it keeps nothing.

use std::env;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use muster_apiserver::serve::Identity;
use muster_apiserver::serve::files::{self, make_private_directory};
use muster_apiserver::store::Store;

/// The usual name of the directory of an API server.
const NAME: &str = "muster";

const DATA_DIR: &str = "Where objects, certificates and the kubeconfig are kept [default: $XDG_DATA_HOME/muster, \
    else ~/.local/share/muster]";

/// What a person says about where a server is found.
#[derive(clap::Args)]
pub(crate) struct Whereabouts {
    #[arg(long, value_name = "DIR", conflicts_with = "ephemeral", help = DATA_DIR)]
    data_dir: Option<PathBuf>,
    /// Keep nothing: objects live in memory, everything else in a temporary directory
    #[arg(long)]
    ephemeral: bool,
    /// The port of the API server [default: that of the last start on this directory, else any that is free]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
}

impl Whereabouts {
    /// The directory that was meant.
    pub(crate) fn place(&self) -> Result<Place> {
        if self.ephemeral { Place::ephemeral() } else { Place::kept(self.data_dir.as_deref(), NAME) }
    }
}

/// A directory that is this server's alone.
pub(crate) struct Place {
    directory: PathBuf,
    /// Held for as long as the server runs; none where the directory goes with it.
    lock: Option<File>,
}

impl Place {
    /// This directory, or the one of this name where the user keeps data.
    pub(crate) fn kept(directory: Option<&Path>, name: &str) -> Result<Self> {
        let directory = match directory {
            Some(directory) => directory.to_owned(),
            None => default_directory(name, |name| env::var_os(name).map(PathBuf::from))?,
        };
        // The kubeconfig is named on the ready line, and its reader may be elsewhere.
        let directory = std::path::absolute(&directory)
            .with_context(|| format!("{} is not a path", directory.display()))?;
        refuse_of_others(&directory)?;
        make_private_directory(&directory)?;
        let lock = lock(&directory)?;
        Ok(Self { directory, lock: Some(lock) })
    }

    /// A directory for the kubeconfig only, which goes when the server ends.
    fn ephemeral() -> Result<Self> {
        let directory = env::temp_dir().join(format!("muster-{:032x}", rand::random::<u128>()));
        make_private_directory(&directory)?;
        Ok(Self { directory, lock: None })
    }

    /// The directory itself.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn is_kept(&self) -> bool {
        self.lock.is_some()
    }

    /// The objects.
    pub(crate) fn store(&self) -> Result<Store> {
        if !self.is_kept() {
            return Ok(Store::new());
        }
        let objects = self.directory.join("objects");
        make_private_directory(&objects)?;
        Store::open(&objects).context("cannot open the objects")
    }

    /// Certificates and token.
    pub(crate) fn identity(&self) -> Result<Identity> {
        let identity =
            if self.is_kept() { Identity::kept_in(&self.directory) } else { Identity::in_memory() };
        Ok(identity?)
    }

    /// Where clients look.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// Where this server listened last, so that the kubeconfigs that were handed out go on to lead here.
    pub(crate) fn last_port(&self) -> Option<u16> {
        // One that cannot be read is as good as none, and is written anew.
        let kept = files::read(&self.port_file()).ok().flatten().filter(|_| self.is_kept())?;
        kept.trim().parse().ok().filter(|port| *port != 0)
    }

    /// Remembers where it listens.
    pub(crate) fn keep_port(&self, port: u16) -> Result<()> {
        if self.is_kept() && self.last_port() != Some(port) {
            files::write_private(&self.port_file(), &format!("{port}\n"))?;
        }
        Ok(())
    }

    fn port_file(&self) -> PathBuf {
        self.directory.join("port")
    }

    /// For a person who reads the log.
    pub(crate) fn describe(&self) -> String {
        if self.is_kept() {
            format!("everything is kept in {}", self.directory.display())
        } else {
            "nothing is kept".to_owned()
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept() {
            // It holds a kubeconfig that leads nowhere any more; if it stays, nothing is lost.
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// What a server puts into its directory first, and last.
const OURS: [&str; 2] = ["lock", "token"];
/// What the root of a file system holds when it is empty.
const EMPTY: &str = "lost+found";

/// A directory with the things of others stays theirs: ours is closed to everybody else, which none would want of a home
/// or of `/tmp`.
fn refuse_of_others(directory: &Path) -> Result<()> {
    // What cannot be looked into is told of when it is to be made.
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
    let names: Vec<_> =
        entries.flatten().map(|entry| entry.file_name()).filter(|name| name != EMPTY).collect();
    if names.is_empty() || names.iter().any(|name| OURS.iter().any(|ours| name == ours)) {
        return Ok(());
    }
    bail!("{} holds other things: name a directory that is new or empty", directory.display())
}

/// One server at a time: a second one would write another kubeconfig over the first one's.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join("lock");
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("{} is in use by another muster", directory.display())
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Where programs of this user keep their data.
fn default_directory(name: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    // What is not absolute is to be ignored, says the specification of these directories.
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let data = data.context("neither XDG_DATA_HOME nor HOME is set: say --data-dir DIR or --ephemeral")?;
    Ok(data.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_where_the_user_keeps_data() {
        let with = |pairs: &'static [(&str, &str)]| {
            let found = move |name: &str| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
            };
            default_directory("muster", found).ok()
        };
        assert_eq!(with(&[("XDG_DATA_HOME", "/d"), ("HOME", "/h")]), Some("/d/muster".into()));
        assert_eq!(with(&[("XDG_DATA_HOME", ""), ("HOME", "/h")]), Some("/h/.local/share/muster".into()));
        assert_eq!(with(&[("XDG_DATA_HOME", "d"), ("HOME", "/h")]), Some("/h/.local/share/muster".into()));
        assert_eq!(with(&[]), None);
    }
}
