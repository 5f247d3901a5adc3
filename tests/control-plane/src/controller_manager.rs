//! The real kube-controller-manager, on any API server.

use crate::Error;
use crate::startup::random_word;
use crate::ward::{Directory, Server};
use muster_test_assets::{Binary, locate};
use std::fs;

/// Left out: what signs tokens wants keys that no test has, and admission policies are not served by every server.
const CONTROLLERS: &str = "*,-serviceaccount-token-controller,-validatingadmissionpolicy-status-controller";

/// A running kube-controller-manager with every right. It ends when it is dropped or the test process ends.
#[derive(Debug)]
pub struct ControllerManager {
    // Fields drop in this order: the directory goes after its user.
    server: Server,
    _directory: Directory,
}

impl ControllerManager {
    /// Starts one on the API server of this kubeconfig (the text of it). It says nowhere when it is ready: wait for
    /// something that it does, as the service account `default` in a namespace.
    pub fn start(kubeconfig: &str) -> Result<Self, Error> {
        Self::start_without(kubeconfig, &[])
    }

    /// The same without these controllers, whose part the test plays.
    pub fn start_without(kubeconfig: &str, left_out: &[&str]) -> Result<Self, Error> {
        let left_out = left_out.iter().fold(String::new(), |all, name| all + ",-" + name);
        let assets = locate()?;
        let name = format!("muster-controller-manager-{}", random_word()?);
        let directory = Directory::create(std::env::temp_dir().join(name))?;
        let path = directory.path().join("kubeconfig");
        fs::write(&path, kubeconfig).map_err(Error::io(format!("write {}", path.display())))?;
        let arguments = [
            format!("--kubeconfig={}", path.display()),
            format!("--controllers={CONTROLLERS}{left_out}"),
            "--kube-api-content-type=application/json".into(),
            "--leader-elect=false".into(),
            "--use-service-account-credentials=false".into(),
            "--secure-port=0".into(),
            // Tests are in a hurry.
            "--kube-api-qps=1000".into(),
            "--kube-api-burst=1000".into(),
            // Nodes of tests have no kubelet that says again and again how they are.
            "--node-monitor-grace-period=1h".into(),
            "--node-startup-grace-period=1h".into(),
        ];
        let log = directory.path().join("log");
        let binary = assets.path(Binary::KubeControllerManager);
        let server = Server::spawn("kube-controller-manager", &binary, &arguments, &log)?;
        Ok(Self { server, _directory: directory })
    }

    /// The last lines of its log.
    pub fn log_tail(&self) -> String {
        self.server.log_tail()
    }
}
