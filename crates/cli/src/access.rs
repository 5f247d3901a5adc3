//! Which Kubernetes API is meant: by the usual rules.

use std::path::PathBuf;

use anyhow::{Context, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// How the API server is found.
#[derive(clap::Args)]
pub(crate) struct Access {
    /// The kubeconfig file. Default: $KUBECONFIG, ~/.kube/config, or the Pod's own account.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long)]
    context: Option<String>,
}

impl Access {
    /// A client by the usual rules.
    pub(crate) async fn client(&self) -> Result<Client> {
        let choice = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let config = match &self.kubeconfig {
            Some(path) => {
                let file = Kubeconfig::read_from(path);
                let file = file.with_context(|| format!("cannot read the kubeconfig {}", path.display()))?;
                Config::from_custom_kubeconfig(file, &choice).await.context("the kubeconfig is of no use")?
            }
            None if self.context.is_some() => {
                Config::from_kubeconfig(&choice).await.context("the kubeconfig is of no use")?
            }
            None => Config::infer()
                .await
                .context("no Kubernetes is configured: give --kubeconfig, or set KUBECONFIG")?,
        };
        Client::try_from(config).context("cannot make a client of the configuration")
    }
}
