//! The embedded server in a process of its own, on disk and over TLS, as people run it.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use muster_apiserver::serve::{self, Identity, Limits, kubeconfig};
use muster_apiserver::server::Server;
use muster_apiserver::store::Store;

/// Serves from this directory until its input ends.
pub(crate) fn serve(directory: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::builder().store(Store::open(&directory.join("store"))?).build().await;
        let identity = Identity::in_memory()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let running = serve::start(listener, &identity, Limits::default(), server)?;
        let path = directory.join("kubeconfig");
        kubeconfig::write(&path, &running.url(), &identity)?;
        println!("{}", path.display());
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
        running.stop().await;
        Ok(())
    })
}

/// That process.
pub(crate) struct Embedded {
    child: Child,
    pub(crate) kubeconfig: PathBuf,
}

impl Embedded {
    pub(crate) fn start(directory: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { child, kubeconfig: PathBuf::from(line.trim_end()) })
    }

    pub(crate) fn process(&self) -> String {
        self.child.id().to_string()
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
