//! `kubectl muster stop|start clustering|reconciliation NAME…`: the two annotations, and their acknowledgement (R4.1).

use std::time::Duration;

use clap::ValueEnum;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use muster_api::ReplicatedCluster;
use muster_api::names::{
    ANNOTATION_CLUSTERING_STOPPED, ANNOTATION_RECONCILIATION_STOPPED, ConditionType, FIELD_MANAGER_PLUGIN,
    Reason, STOPPED,
};
use muster_core::pause::Pause;
use serde_json::json;

use crate::access::{Access, Follow, Step, object};
use crate::error::{EXIT_CODES, Failure};
use crate::print::{age, document};
use crate::session::Session;

/// For how long what status says may still be of before, when it says already what is only now asked for: so long a manager that
/// begins looks around before anything is written of it, and some more. Whoever operates has seen the change by then.
const OF_BEFORE: Duration = Duration::from_secs(15);

const ABOUT: &str = "Stop or start the clustering or the reconciliation of clusters";

const LONG_ABOUT: &str = "Stop or start the clustering or the reconciliation of clusters.\n\n\
    While clustering is stopped nobody forms, keeps or recovers replication, and status says Unknown where nobody looks. \
    While reconciliation is stopped changes of the spec are not applied; failing over goes on. The application keeps \
    running through both.";

/// What is stopped and started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Forming and keeping replication
    Clustering,
    /// Applying the spec
    Reconciliation,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Stop it.
    Stop,
    /// Start it again.
    Start,
}

/// The options of both.
#[derive(clap::Args)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_help = EXIT_CODES)]
pub struct Options {
    /// What to stop or start
    #[arg(value_name = "WHAT")]
    what: What,
    /// The clusters
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "all_namespaces"])]
    names: Vec<String>,
    /// All clusters of the namespace
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// All clusters of all namespaces
    #[arg(short = 'A', long, conflicts_with_all = ["names", "namespace"])]
    all_namespaces: bool,
    /// Wait until the operator has really done it
    #[arg(long)]
    wait: bool,
    /// How long to wait at most
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = age::parse)]
    timeout: Duration,
}

/// Sets or removes the annotation on each, and says so.
pub async fn run(options: &Options, wish: Wish, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let begun = tokio::time::Instant::now();
    let chosen = chosen(options, &access).await?;
    if chosen.is_empty() {
        session.console.note("there is no ReplicatedCluster to change");
    }
    let mut changed = Vec::with_capacity(chosen.len());
    for cluster in chosen {
        let access = access.within(&cluster.namespace().unwrap_or_default());
        let (cluster, before) = change(&access, &cluster, options.what, wish).await?;
        report(session, &cluster, options.what, wish, before)?;
        // Said before it was asked for: of an earlier time.
        let early = !before && acknowledgement(&cluster, options.what, wish).is_some();
        changed.push((access, cluster, early));
    }
    if !options.wait {
        return Ok(());
    }
    for (access, cluster, early) in &changed {
        let name = cluster.name_any();
        let left = || options.timeout.saturating_sub(begun.elapsed());
        if *early {
            taken_back(access, &name, options, wish, left().min(OF_BEFORE)).await?;
        }
        let words = acknowledged(access, &name, options, wish, left()).await?;
        session.console.note(&words);
    }
    Ok(())
}

/// The clusters that are meant; all are read before the first is changed, so that a wrong name changes none.
async fn chosen(options: &Options, access: &Access) -> Result<Vec<ReplicatedCluster>, Failure> {
    if options.all || options.all_namespaces {
        let api: Api<ReplicatedCluster> =
            if options.all { access.clusters() } else { Api::all(access.client.clone()) };
        return access.list("list ReplicatedClusters", &api, ListParams::default()).await;
    }
    let mut clusters = Vec::with_capacity(options.names.len());
    for name in &options.names {
        clusters.push(access.cluster(name).await?);
    }
    Ok(clusters)
}

/// Changes one; true where it was so already.
async fn change(
    access: &Access,
    cluster: &ReplicatedCluster,
    what: What,
    wish: Wish,
) -> Result<(ReplicatedCluster, bool), Failure> {
    if is_asked(cluster, what) == (wish == Wish::Stop) {
        return Ok((cluster.clone(), true));
    }
    let name = cluster.name_any();
    // A value other than the one that stops is left alone until it is ours to set; null removes the annotation.
    let value = (wish == Wish::Stop).then_some(STOPPED);
    let patch = json!({"metadata": {"annotations": {annotation(what): value}}});
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER_PLUGIN.to_owned()), ..PatchParams::default() };
    let doing = format!("annotate {}", object("ReplicatedCluster", &name, &access.namespace));
    let changed = access.call(&doing, access.clusters().patch(&name, &params, &Patch::Merge(&patch))).await?;
    Ok((changed, false))
}

fn annotation(what: What) -> &'static str {
    match what {
        What::Clustering => ANNOTATION_CLUSTERING_STOPPED,
        What::Reconciliation => ANNOTATION_RECONCILIATION_STOPPED,
    }
}

/// Whether the annotation stops it.
fn is_asked(cluster: &ReplicatedCluster, what: What) -> bool {
    let pause = Pause::from_annotations(cluster.metadata.annotations.as_ref());
    match what {
        What::Clustering => pause.clustering,
        What::Reconciliation => pause.reconciliation,
    }
}

fn report(
    session: &Session,
    cluster: &ReplicatedCluster,
    what: What,
    wish: Wish,
    before: bool,
) -> Result<(), Failure> {
    if let Some(text) = document(cluster, session.output())? {
        session.console.show(&text);
        return Ok(());
    }
    let what = words(what);
    let state = match (wish, before) {
        (Wish::Stop, false) => "stopped",
        (Wish::Stop, true) => "was stopped already",
        (Wish::Start, false) => "started",
        (Wish::Start, true) => "was not stopped",
    };
    session.console.say(&format!("replicatedcluster.muster.dev/{} {what} {state}", cluster.name_any()));
    Ok(())
}

fn words(what: What) -> &'static str {
    match what {
        What::Clustering => "clustering",
        What::Reconciliation => "reconciliation",
    }
}

/// Whether the operator did it, and its words.
fn acknowledgement(cluster: &ReplicatedCluster, what: What, wish: Wish) -> Option<String> {
    let kind = match what {
        What::Clustering => ConditionType::ClusteringActive,
        What::Reconciliation => ConditionType::ReconciliationActive,
    };
    let conditions = &cluster.status.as_ref()?.conditions;
    let condition = conditions.iter().find(|condition| condition.type_ == kind.as_str())?;
    let done = match wish {
        Wish::Stop => condition.status == "False",
        // True, too, while it is still being stopped, or looks around before it acts.
        Wish::Start => condition.status == "True" && condition.reason == Reason::Active.as_str(),
    };
    done.then(|| condition.message.clone())
}

/// Waits until what was said before it was asked for is not said any more: then it is said anew when it is done. An operator that
/// saw only the last of several changes takes nothing back, and what it said holds.
async fn taken_back(
    access: &Access,
    name: &str,
    options: &Options,
    wish: Wish,
    timeout: Duration,
) -> Result<(), Failure> {
    let doing = format!("watch {}", object("ReplicatedCluster", name, &access.namespace));
    let follow = Follow { access, api: access.clusters(), name, doing, timeout };
    let outcome = follow.until(|cluster| {
        let says = cluster.is_some_and(|cluster| acknowledgement(cluster, options.what, wish).is_some());
        if says { Step::Wait } else { Step::Answer(()) }
    });
    outcome.await.map(drop)
}

async fn acknowledged(
    access: &Access,
    name: &str,
    options: &Options,
    wish: Wish,
    timeout: Duration,
) -> Result<String, Failure> {
    let named = object("ReplicatedCluster", name, &access.namespace);
    let follow = Follow { access, api: access.clusters(), name, doing: format!("watch {named}"), timeout };
    let outcome = follow.until(|cluster| match cluster {
        None => Step::Answer(None),
        Some(cluster) => match acknowledgement(cluster, options.what, wish) {
            Some(words) => Step::Answer(Some(words)),
            None => Step::Wait,
        },
    });
    match outcome.await? {
        Some(Some(words)) => Ok(format!("{name}: the operator says: {words}")),
        Some(None) => Err(Failure::No(format!("{named} was deleted meanwhile"))),
        None => {
            let operator = access.operator().await;
            let why = if operator.runs() { "it is still at it".to_owned() } else { operator.sentence() };
            let (what, limit) = (words(options.what), age::short(options.timeout));
            let next = format!("kubectl muster status {}{name} says more", access.namespace_flag());
            Err(Failure::Timeout(format!(
                "{named}: the operator did not acknowledge the change of {what} within {limit}: {why}; {next}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn cluster(annotations: &Value, conditions: &Value) -> ReplicatedCluster {
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
            "metadata": {"name": "orders", "annotations": annotations},
            "spec": {"engine": {"name": "ledger"}, "pools": []},
            "status": {"conditions": conditions},
        });
        serde_json::from_value(object).unwrap()
    }

    fn active(status: &str, reason: &str) -> Value {
        json!([{"type": "ClusteringActive", "status": status, "reason": reason, "message": "so it is",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}])
    }

    #[test]
    fn only_the_value_true_is_a_stop() {
        for (value, stops) in [("true", true), ("True", false), ("false", false), ("", false)] {
            let cluster = cluster(&json!({ANNOTATION_CLUSTERING_STOPPED: value}), &json!([]));
            assert_eq!(is_asked(&cluster, What::Clustering), stops, "{value:?}");
            assert!(!is_asked(&cluster, What::Reconciliation));
        }
    }

    #[test]
    fn it_is_acknowledged_when_it_is_done_and_not_while_it_is_being_done() {
        let says = |status: &str, reason: &str, wish| {
            acknowledgement(&cluster(&json!({}), &active(status, reason)), What::Clustering, wish).is_some()
        };
        assert!(says("False", "ClusteringStopped", Wish::Stop));
        assert!(!says("True", "Stopping", Wish::Stop));
        assert!(says("True", "Active", Wish::Start));
        assert!(!says("True", "Starting", Wish::Start));
        assert!(!says("True", "Stopping", Wish::Start));
        assert!(!says("False", "ClusteringStopped", Wish::Start));
        assert_eq!(acknowledgement(&cluster(&json!({}), &json!([])), What::Clustering, Wish::Stop), None);
    }
}
