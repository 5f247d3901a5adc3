//! The store under crashes and crowds: what was acknowledged stays, and all see one order.
#![cfg(test)]

mod concurrent;
mod kill;
mod model;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use muster_apiserver::store::{Key, Scope};

/// A directory of a test's own, removed with it.
struct TestDirectory(PathBuf);

impl TestDirectory {
    /// On disk, or in memory, where syncs cost nothing, for tests in which no power is lost.
    fn new(on_disk: bool) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("durability-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let memory = PathBuf::from("/dev/shm");
        let disk = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let path = if on_disk || !memory.is_dir() { disk } else { memory }.join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key(name: &str) -> Key {
    Key::new(&Arc::from("example.org/things"), "ns", name)
}

fn everything() -> Scope {
    Scope { resource: Arc::from("example.org/things"), namespace: None }
}
