//! A real kube-apiserver and etcd on loopback, for tests.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use muster_test_control_plane::ControlPlane;
//!
//! let plane = ControlPlane::shared()?; // one for all the tests of a binary, started by the first
//! let client = plane.client().await?; // one for each test: a client lives on its test's runtime
//! let nodes = plane.kubectl(&["get", "nodes"])?;
//! # Ok(())
//! # }
//! ```
//!
//! Tests that share a control plane keep apart by names: a namespace each, and no changes to what is
//! cluster-scoped and not their own. The processes end, and their directory goes, when the control plane
//! is dropped or the test process ends in any way, `kill -9` included.

mod controller_manager;
mod definitions;
mod differences;
mod error;
mod kubectl;
mod servers;
mod startup;
mod wait;
mod ward;

pub use controller_manager::ControllerManager;
pub use differences::differences;
pub use error::Error;
pub use muster_test_assets::{skip, skip_part};
pub use wait::eventually;
pub use ward::{Directory, Server};

use kube::config::{KubeConfigOptions, Kubeconfig};
use muster_test_assets::Assets;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A running kube-apiserver with its etcd.
#[derive(Debug)]
pub struct ControlPlane {
    assets: Assets,
    url: String,
    kubeconfig: PathBuf,
    kubelet_client: PathBuf,
    // Fields drop in this order: the API server goes before its store, the directory last.
    _apiserver: ward::Server,
    _etcd: ward::Server,
    _directory: ward::Directory,
}

impl ControlPlane {
    /// Starts a control plane of one's own, and waits until it is ready to serve.
    pub fn start() -> Result<Self, Error> {
        startup::start(false)
    }

    /// The same, but what is written is safe from a power cut before it is acknowledged: as in a cluster, and slower.
    pub fn start_durable() -> Result<Self, Error> {
        startup::start(true)
    }

    /// The control plane that all tests of this process share; the first caller starts it.
    pub fn shared() -> Result<&'static Self, &'static Error> {
        static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// A client with every right, which trusts this API server's certificate and no other.
    ///
    /// It lives on the runtime that it is made in, so each test makes its own.
    pub async fn client(&self) -> Result<kube::Client, Error> {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig).map_err(Error::kubeconfig)?;
        let options = KubeConfigOptions::default();
        let mut config =
            kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(Error::kubeconfig)?;
        config.proxy_url = None; // loopback, whatever the environment says of proxies
        kube::Client::try_from(config).map_err(Error::client)
    }

    /// The address of the API server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate that the API server shows to nodes, which is its own authority.
    pub fn kubelet_client(&self) -> &std::path::Path {
        &self.kubelet_client
    }

    /// A kubeconfig with every right, for programs that want a file.
    pub fn kubeconfig(&self) -> &std::path::Path {
        &self.kubeconfig
    }
}
