//! The real kubectl, pointed at the control plane of a test.

use crate::ControlPlane;
use muster_test_assets::{Assets, Binary};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

/// Bounds every request that kubectl makes; a test that needs longer passes the flag itself.
const REQUEST_TIMEOUT: &str = "--request-timeout=30s";

impl ControlPlane {
    /// Runs kubectl with these arguments, as an administrator. An exit code other than 0 is not an error here:
    /// tests look at what kubectl says.
    pub fn kubectl(&self, arguments: &[&str]) -> io::Result<Output> {
        command(&self.assets, &self.kubeconfig, arguments).stdin(Stdio::null()).output()
    }

    /// The same with something on stdin, for `apply -f -`.
    pub fn kubectl_with_input(&self, arguments: &[&str], input: &str) -> io::Result<Output> {
        let mut command = command(&self.assets, &self.kubeconfig, arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        thread::scope(|scope| {
            // From a thread of its own: kubectl may answer before it has read everything. If it does not
            // want the rest, its exit code and its message say why.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            child.wait_with_output()
        })
    }
}

fn command(assets: &Assets, kubeconfig: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assets.path(Binary::Kubectl));
    let cache = kubeconfig.with_file_name("kubectl-cache");
    command.arg("--kubeconfig").arg(kubeconfig).arg("--cache-dir").arg(cache).arg(REQUEST_TIMEOUT);
    command.args(arguments).env_remove("KUBECONFIG");
    command
}

/// Whether kubectl succeeds; if not, what it says.
pub(crate) fn succeeds(assets: &Assets, kubeconfig: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = command(assets, kubeconfig, arguments).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
