//! `kubectl muster status [NAME]`: a page that a person can act on; without a name, one line for each cluster.

mod list;
mod members;
mod next;
mod page;
mod recovery;
#[cfg(test)]
mod tests;

use kube::api::{Api, ListParams};
use muster_api::{Member, ReplicatedCluster};
use serde::Serialize;

use crate::access::{Operator, Output};
use crate::error::{EXIT_CODES, Failure};
use crate::print::document;
use crate::session::Session;

/// Show how a cluster is, why, and what you can do about it
///
/// Says first whether the operator runs and so how old all of it is: what nobody looks at any more may have changed.
/// Without a name: one line for each cluster.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The clusters of all namespaces
    #[arg(short = 'A', long, conflicts_with_all = ["name", "namespace"])]
    all_namespaces: bool,
}

/// All that the page is made of.
#[derive(Serialize)]
pub(crate) struct Facts {
    pub(crate) operator: Operator,
    pub(crate) cluster: ReplicatedCluster,
    pub(crate) members: Vec<Member>,
    /// The namespace, where commands that are suggested have to name it.
    #[serde(skip)]
    pub(crate) namespace: Option<String>,
}

/// Shows it.
pub async fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let Some(name) = &options.name else {
        return show_list(options, session).await;
    };
    let cluster = access.cluster(name).await?;
    let members = access.members_of(name).await?;
    let operator = access.operator().await;
    let elsewhere = !access.namespace_flag().is_empty();
    let namespace = elsewhere.then(|| access.namespace.clone());
    let facts = Facts { operator, cluster, members, namespace };
    let text = match document(&facts, session.output())? {
        Some(text) => text,
        None => page::page(&facts, session.output() == Output::Wide, session.console.paint),
    };
    session.console.show(&text);
    Ok(())
}

async fn show_list(options: &Options, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let api: Api<ReplicatedCluster> =
        if options.all_namespaces { Api::all(access.client.clone()) } else { access.clusters() };
    let clusters = access.list("list ReplicatedClusters", &api, ListParams::default()).await?;
    if let Some(text) = document(&clusters, session.output())? {
        session.console.show(&text);
        return Ok(());
    }
    if clusters.is_empty() {
        let place = if options.all_namespaces {
            String::new()
        } else {
            format!(" in namespace {:?}", access.namespace)
        };
        session.console.note(&format!("there is no ReplicatedCluster{place}"));
        return Ok(());
    }
    let operator = access.operator().await;
    if !operator.runs() {
        session.console.note(&operator.sentence());
    }
    let text = list::list(&clusters, options.all_namespaces, operator.now, session.console.paint);
    session.console.show(&text);
    Ok(())
}
