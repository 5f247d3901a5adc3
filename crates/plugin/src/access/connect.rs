//! Finding the cluster by the usual rules: `--kubeconfig`, `KUBECONFIG`, `~/.kube/config`, and within a Pod its own.

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::{Access, Flags};
use crate::error::Failure;

impl Access {
    /// The cluster that the flags name. It is not spoken to yet.
    pub(crate) async fn connect(flags: &Flags) -> Result<Self, Failure> {
        let mut config = configuration(flags).await?;
        if let Some(user) = &flags.as_user {
            config.auth_info.impersonate = Some(user.clone());
        }
        if !flags.as_groups.is_empty() {
            config.auth_info.impersonate_groups = Some(flags.as_groups.clone());
        }
        let limit = flags.limit();
        config.connect_timeout = Some(limit);
        let server = config.cluster_url.to_string();
        let server = server.trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|error| Failure::Configuration(error.to_string()))?;
        let namespace = flags.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        Ok(Self { client, namespace, limit, server })
    }
}

async fn configuration(flags: &Flags) -> Result<Config, Failure> {
    let options = KubeConfigOptions {
        context: flags.context.clone(),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
    };
    let wrong = |error: kube::config::KubeconfigError| Failure::Configuration(in_one_line(&error));
    let file = match &flags.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let chosen = flags.kubeconfig.is_some() || flags.context.is_some() || flags.cluster.is_some();
    match file {
        Ok(file) => Config::from_custom_kubeconfig(file, &options).await.map_err(wrong),
        Err(error) if chosen => Err(wrong(error)),
        Err(error) => Config::incluster_env().map_err(|_| wrong(error)),
    }
}

/// An error with its causes.
pub(super) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
