//! Asking each new binary for its version before it gets its final name.

use anyhow::{Context, Result, bail};
use muster_test_assets::{Binary, ETCD, KUBERNETES};
use std::path::Path;
use std::process::Command;

/// How to ask, and what the answer must hold.
fn question(binary: Binary) -> (&'static [&'static str], String) {
    match binary {
        Binary::Etcd => (&["--version"], format!("etcd Version: {ETCD}\n")),
        Binary::Etcdctl => (&["version"], format!("etcdctl version: {ETCD}\n")),
        Binary::KubeApiserver | Binary::KubeControllerManager => {
            (&["--version"], format!("Kubernetes v{KUBERNETES}\n"))
        }
        Binary::Kubectl => (&["version", "--client"], format!("Client Version: v{KUBERNETES}\n")),
    }
}

/// Every binary in the directory runs here and says the version that is wanted.
pub(super) fn all(directory: &Path) -> Result<()> {
    for binary in Binary::ALL {
        let (arguments, wanted) = question(binary);
        let name = binary.file_name();
        let output = Command::new(directory.join(name)).args(arguments).output();
        let output = output.with_context(|| format!("the {name} that was built does not run"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !said.contains(&wanted) {
            bail!("the {name} that was built says {said:?}; {:?} was wanted", wanted.trim_end());
        }
    }
    Ok(())
}
