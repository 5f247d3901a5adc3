//! Where the real Kubernetes binaries that the tests run against are found, and at which versions.
//!
//! Tests and `cargo xtask assets` share this crate, so that what one provides is what the other looks for.

mod places;
mod skip;

pub use places::Places;
pub use skip::{SKIPPED, SKIPPED_IN_PART, skip, skip_part};

use std::fmt;
use std::path::{Path, PathBuf};

/// The version of Kubernetes that tests run against; `tools/kubernetes/go.mod` pins the same one.
pub const KUBERNETES: &str = "1.36.3";
/// The version of etcd that tests run against; `tools/etcd/go.mod` pins the same one.
pub const ETCD: &str = "3.7.3";

/// A program that the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The store beneath the API server.
    Etcd,
    /// Its command line.
    Etcdctl,
    /// The Kubernetes API.
    KubeApiserver,
    /// Kubernetes' own controllers (garbage collection, `StatefulSets` …).
    KubeControllerManager,
    /// The command line that users have.
    Kubectl,
}

impl Binary {
    /// All of them: a directory of assets is complete when it holds each.
    pub const ALL: [Self; 5] =
        [Self::Etcd, Self::Etcdctl, Self::KubeApiserver, Self::KubeControllerManager, Self::Kubectl];

    /// The name of its file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Etcdctl => "etcdctl",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::Kubectl => "kubectl",
        }
    }
}

/// A directory that holds every [`Binary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    directory: PathBuf,
}

impl Assets {
    /// The assets in this directory, or the binaries that it lacks.
    pub fn in_directory(directory: &Path) -> Result<Self, Vec<Binary>> {
        let lacking: Vec<_> =
            Binary::ALL.into_iter().filter(|b| !directory.join(b.file_name()).is_file()).collect();
        if lacking.is_empty() { Ok(Self { directory: directory.to_owned() }) } else { Err(lacking) }
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of one of them.
    pub fn path(&self, binary: Binary) -> PathBuf {
        self.directory.join(binary.file_name())
    }
}

/// Finds the assets: `KUBEBUILDER_ASSETS` if it is complete, else the cache.
pub fn locate() -> Result<Assets, Missing> {
    Places::from_environment().locate()
}

/// No place holds all the binaries: which places were looked at, and what each lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Every place that was looked at, in order.
    pub looked_at: Vec<Incomplete>,
}

/// A place that does not hold all the binaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// The directory.
    pub directory: PathBuf,
    /// The binaries it does not hold.
    pub lacking: Vec<Binary>,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.lacking.iter().map(|b| b.file_name()).collect();
        write!(f, "{} lacks {}", self.directory.display(), names.join(", "))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the Kubernetes binaries for tests are missing: ")?;
        if self.looked_at.is_empty() {
            write!(
                f,
                "there is no place to look (none of KUBEBUILDER_ASSETS, MUSTER_ASSETS and HOME is set)"
            )?;
        }
        for (i, place) in self.looked_at.iter().enumerate() {
            write!(f, "{}{place}", if i == 0 { "" } else { "; " })?;
        }
        write!(f, ". Run `cargo xtask assets`.")
    }
}

impl std::error::Error for Missing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_go_modules_pin_the_same_versions() {
        let kubernetes = include_str!("../../../tools/kubernetes/go.mod");
        assert!(kubernetes.contains(&format!("require k8s.io/kubernetes v{KUBERNETES}\n")));
        let etcd = include_str!("../../../tools/etcd/go.mod");
        assert!(etcd.contains(&format!("go.etcd.io/etcd/server/v3 v{ETCD}\n")));
        assert!(etcd.contains(&format!("go.etcd.io/etcd/etcdctl/v3 v{ETCD}\n")));
    }

    #[test]
    fn the_error_names_each_place_what_it_lacks_and_the_command() {
        let missing = Missing {
            looked_at: vec![
                Incomplete { directory: "/a".into(), lacking: vec![Binary::KubeControllerManager] },
                Incomplete { directory: "/b".into(), lacking: vec![Binary::Etcd, Binary::Kubectl] },
            ],
        };
        assert_eq!(
            missing.to_string(),
            "the Kubernetes binaries for tests are missing: /a lacks kube-controller-manager; \
             /b lacks etcd, kubectl. Run `cargo xtask assets`."
        );
    }

    #[test]
    fn without_any_place_the_error_says_which_variables_would_give_one() {
        assert!(Missing { looked_at: vec![] }.to_string().contains("MUSTER_ASSETS"));
    }
}
