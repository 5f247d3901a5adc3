//! Compiling each binary from the modules pinned under tools/.

use super::go::Go;
use super::progress;
use crate::workspace;
use anyhow::{Context, Result};
use muster_test_assets::{Binary, KUBERNETES};
use std::path::Path;

/// The module under tools/ that pins it, and the package that is its `main`.
fn source(binary: Binary) -> (&'static str, &'static str) {
    match binary {
        Binary::Etcd => ("etcd", "go.etcd.io/etcd/server/v3"),
        Binary::Etcdctl => ("etcd", "go.etcd.io/etcd/etcdctl/v3"),
        Binary::KubeApiserver => ("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
        Binary::KubeControllerManager => ("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
        Binary::Kubectl => ("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    }
}

/// Without debug information, and with the version that Kubernetes' release builds stamp: clients and
/// feature gates look at it.
fn linker_flags() -> String {
    let mut numbers = KUBERNETES.split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let stamp =
        [("gitVersion", format!("v{KUBERNETES}")), ("gitMajor", major.into()), ("gitMinor", minor.into())];
    stamp.iter().fold("-s -w".to_owned(), |flags, (name, value)| {
        format!("{flags} -X k8s.io/component-base/version.{name}={value}")
    })
}

/// Compiles every binary into the directory.
pub(super) fn all(go: &Go, directory: &Path) -> Result<()> {
    for (i, binary) in Binary::ALL.into_iter().enumerate() {
        let (module, package) = source(binary);
        let name = binary.file_name();
        let mut command = go.command();
        command.current_dir(workspace::root().join("tools").join(module));
        command
            .args(["build", "-v", "-ldflags", &linker_flags(), "-o"])
            .arg(directory.join(name))
            .arg(package);
        let label = format!("{name} ({} of {})", i + 1, Binary::ALL.len());
        progress::run(&label, &mut command).with_context(|| format!("cannot build {name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_stamped_as_release_builds_do() {
        let flags = linker_flags();
        assert!(flags.starts_with("-s -w -X "));
        assert!(flags.contains("version.gitVersion=v1.36.3"), "{flags}");
        assert!(flags.contains("version.gitMajor=1"), "{flags}");
        assert!(flags.ends_with("version.gitMinor=36"), "{flags}");
    }
}
