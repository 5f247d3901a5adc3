//! `muster rbac`: the roles to install.

use anyhow::Result;
use muster_operator::rbac;

use crate::crds::print;

/// Print the roles to install: `muster rbac | kubectl apply -f -`
#[derive(clap::Args)]
pub(crate) struct Options {
    /// For an operator that looks after this namespace only. Default: all namespaces.
    #[arg(long)]
    namespace: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let operator = match &options.namespace {
        Some(namespace) => rbac::for_namespace(namespace),
        None => rbac::for_all_namespaces(),
    };
    print(&format!("{operator}---\n{}", rbac::for_users()))
}
