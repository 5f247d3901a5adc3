//! `cargo xtask assets`: the real Kubernetes binaries for tests, found or built once.
//!
//! Builds go into a directory beside the final one and are renamed at the end, under a lock: whatever is
//! found under its final name is complete.

mod build;
mod go;
mod lock;
mod progress;
mod verify;

use anyhow::{Context, Result};
use lock::CacheLock;
use muster_test_assets::{Assets, Places};
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::time::Instant;

/// What the directories of unfinished builds begin with.
const UNFINISHED: &str = "unfinished-";

/// Says where the assets are, and builds them if they are nowhere.
pub(crate) fn command() -> Result<bool> {
    let assets = provide()?;
    println!("{}", assets.directory().display());
    Ok(true)
}

/// A command that runs a Go new enough for the modules under tools/.
pub(crate) fn go() -> Result<Command> {
    let cache = Places::from_environment().cache.context("there is no directory to keep a fetched Go in")?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    Ok(go::provide(&cache)?.command())
}

/// The assets, built first if they are nowhere.
pub(crate) fn provide() -> Result<Assets> {
    let places = Places::from_environment();
    let missing = match places.locate() {
        Ok(assets) => return Ok(assets),
        Err(missing) => missing,
    };
    if places.kubebuilder.is_some()
        && let Some(incomplete) = missing.looked_at.first()
    {
        eprintln!("KUBEBUILDER_ASSETS is not enough ({incomplete}); going on to the cache");
    }
    let (Some(cache), Some(cached)) = (&places.cache, places.cached()) else {
        return Err(missing.into());
    };
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let _lock = CacheLock::take(cache)?;
    sweep(cache)?;
    // Another run may have built them while this one waited for the lock.
    if let Ok(assets) = places.locate() {
        return Ok(assets);
    }
    build_into(cache, &cached)?;
    Ok(places.locate()?)
}

fn build_into(cache: &Path, cached: &Path) -> Result<()> {
    let started = Instant::now();
    eprintln!("building the Kubernetes binaries for tests, once: about 6 minutes on two cores");
    let go = go::provide(cache)?;
    let unfinished = cache.join(format!("{UNFINISHED}{}", process::id()));
    fs::create_dir(&unfinished).with_context(|| format!("cannot create {}", unfinished.display()))?;
    build::all(&go, &unfinished)?;
    verify::all(&unfinished)?;
    if cached.exists() {
        // Incomplete, or it would have been found.
        fs::remove_dir_all(cached).with_context(|| format!("cannot remove {}", cached.display()))?;
    }
    fs::rename(&unfinished, cached).with_context(|| format!("cannot create {}", cached.display()))?;
    go.clean_up();
    eprintln!("built in {} s", started.elapsed().as_secs());
    Ok(())
}

/// Removes what runs that were killed left behind. The lock is held, so no living run owns any of it.
fn sweep(cache: &Path) -> Result<()> {
    for entry in fs::read_dir(cache).with_context(|| format!("cannot read {}", cache.display()))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            eprintln!("removing {}, left by a run that did not finish", entry.path().display());
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeping_takes_unfinished_builds_and_nothing_else() {
        let cache = std::env::temp_dir().join(format!("muster-sweep-{}", process::id()));
        for name in ["unfinished-1", "unfinished-22", "kubernetes-1", "go-1"] {
            fs::create_dir_all(cache.join(name)).unwrap();
        }
        sweep(&cache).unwrap();
        let mut left: Vec<_> = fs::read_dir(&cache).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        fs::remove_dir_all(&cache).unwrap();
        assert_eq!(left, ["go-1", "kubernetes-1"]);
    }
}
