//! Measures the embedded API server: its store alone, and all of it beside kube-apiserver with etcd, in one run.
//!
//! ```text
//! cargo run --release -p muster-bench-apiserver            # all
//! cargo run --release -p muster-bench-apiserver -- store   # a part: store, in-process or servers
//! ```
//!
//! Both servers sync every write to disk before they acknowledge it, on the same disk, with the same client and the
//! same objects.

mod client;
mod embedded;
mod in_process;
mod process;
mod report;
mod servers;
mod store;
mod wire;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// How many objects there are when lists and memory are measured.
const OBJECTS: usize = 10_000;
/// How large an object is.
const OBJECT_BYTES: usize = 1536;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            store::measure()?;
            in_process::measure()?;
            servers::measure()
        }
        ["store"] => store::measure(),
        ["in-process"] => in_process::measure(),
        ["servers"] => servers::measure(),
        // How the embedded server is run: in a process of its own, so that its memory can be told.
        ["serve", directory] => embedded::serve(Path::new(directory)),
        // The same for a store, whose memory is told.
        ["fill", directory] => store::fill(Path::new(directory)),
        _ => anyhow::bail!("usage: muster-bench-apiserver [store | in-process | servers]"),
    }
}

/// A directory on the disk that the checkout is on, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Result<Self> {
        let program = std::env::current_exe()?;
        let directory = program.parent().context("a program is in a directory")?;
        let path = directory.join(format!("bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is under `target`.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
