//! The cluster that a newcomer looks at: made once, and watched until it is Ready.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams, PostParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, ResourceExt as _};
use muster_api::ReplicatedCluster;
use muster_api::names::{
    ANNOTATION_CLUSTERING_STOPPED, ANNOTATION_RECONCILIATION_STOPPED, LABEL_CLUSTER, STOPPED,
};
use serde_json::json;

/// Its name and namespace.
pub(super) const NAME: &str = "demo";
pub(super) const NAMESPACE: &str = "default";

/// After how long without news it is looked again: a look that failed would otherwise be the last.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The sample, if it was made already: what someone did to it since stays.
pub(super) async fn find(client: &Client) -> Result<Option<ReplicatedCluster>> {
    let clusters: Api<ReplicatedCluster> = Api::namespaced(client.clone(), NAMESPACE);
    clusters.get_opt(NAME).await.context("cannot look for the sample cluster")
}

/// Makes the sample.
pub(super) async fn make(client: &Client, engine: &str, members: u16) -> Result<()> {
    let cluster: ReplicatedCluster = serde_json::from_value(json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": NAME},
        "spec": {
            "engine": {"name": engine},
            "pools": [{"name": "a", "threshold": {"nodes": members}, "storage": {"capacity": "1Gi"}}],
        },
    }))
    .context("the sample cannot be written")?;
    let clusters: Api<ReplicatedCluster> = Api::namespaced(client.clone(), NAMESPACE);
    clusters
        .create(&PostParams::default(), &cluster)
        .await
        .map(drop)
        .context("cannot make the sample cluster")
}

/// What to type so that the sample goes on where a person has stopped it, and why; nothing where nobody has.
pub(super) fn resume(sample: &ReplicatedCluster) -> Vec<(String, &'static str)> {
    // The person's own words: what status says of them may be of an earlier start.
    let stopped = |name| sample.annotations().get(name).is_some_and(|value| value == STOPPED);
    [
        (ANNOTATION_CLUSTERING_STOPPED, "clustering", "it is stopped: nobody starts or joins members"),
        (ANNOTATION_RECONCILIATION_STOPPED, "reconciliation", "it is stopped: nobody applies what is wanted"),
    ]
    .into_iter()
    .filter(|(annotation, ..)| stopped(*annotation))
    .map(|(_, what, why)| (format!("kubectl muster start {what} {NAME}"), why))
    .collect()
}

/// Says how far it is, each time that changes, until it is Ready, with members that were started after `since`. What a person has stopped
/// is said, and not waited for.
///
/// What cannot be looked at now is looked at again: a newcomer's database does not end because nobody could watch it for a moment.
pub(super) async fn watch(client: &Client, since: Timestamp, new: bool) -> Option<ReplicatedCluster> {
    let clusters: Api<ReplicatedCluster> = Api::namespaced(client.clone(), NAMESPACE);
    let config = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
    let clusters = watcher(clusters, config).default_backoff().map_ok(|event| match event {
        Event::Apply(cluster) | Event::InitApply(cluster) => Some(cluster),
        _ => None,
    });
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let config = watcher::Config::default().labels(&format!("{LABEL_CLUSTER}={NAME}"));
    let pods = watcher(pods, config).default_backoff().map_ok(|_| None::<ReplicatedCluster>);
    let mut events = futures::stream::select(clusters.boxed(), pods.boxed());
    let mut last = None;
    let (began, mut said) = (Instant::now(), String::new());
    loop {
        match tokio::time::timeout(LOOK_AGAIN, events.next()).await {
            Ok(Some(Ok(event))) => last = event.or(last),
            Ok(Some(Err(error))) => tracing::warn!(%error, "cannot watch the sample cluster; trying again"),
            Ok(None) => return None,
            // Nothing new, but what was looked at last may have failed to be seen.
            Err(_) => {}
        }
        let Some(cluster) = &last else { continue };
        // What was written before this start says nothing of now: the members must have been started since.
        let started = are_started(client, since).await.unwrap_or_else(|error| {
            tracing::warn!("{error:#}; trying again");
            false
        });
        let resume = resume(cluster);
        let now = if !resume.is_empty() {
            let commands = resume.iter().map(|(command, why)| format!("\n            {command} # {why}"));
            format!(
                "{NAME}: it was stopped by hand, and is not waited for; to go on:{}",
                commands.collect::<String>()
            )
        } else if started || new {
            progress(cluster)
        } else {
            format!("{NAME}: its members begin to serve")
        };
        if now != said {
            eprintln!("{:6.1} s  {now}", began.elapsed().as_secs_f64());
            said = now;
        }
        if !resume.is_empty() || started && is_ready(cluster) {
            return last;
        }
    }
}

/// Whether every Pod of the sample was started since, and serves: a member's Pod is ready only then.
async fn are_started(client: &Client, since: Timestamp) -> Result<bool> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let of_sample = ListParams::default().labels(&format!("{LABEL_CLUSTER}={NAME}"));
    let pods = pods.list(&of_sample).await.context("cannot read the Pods of the sample cluster")?;
    let is_started = |pod: &Pod| {
        let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let serves = conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True");
        let containers = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
        let mut began = containers.filter_map(|it| it.state.as_ref()?.running.as_ref()?.started_at.as_ref());
        serves && began.any(|began| began.0 >= since)
    };
    Ok(pods.items.iter().all(is_started))
}

fn progress(cluster: &ReplicatedCluster) -> String {
    let name = cluster.name_any();
    let Some(status) = &cluster.status else { return format!("{name}: made") };
    let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready");
    let why = ready.filter(|ready| ready.status != "True").map_or("", |ready| &ready.message);
    let phase = status.phase.as_ref().map(ToString::to_string).unwrap_or_default();
    let line =
        format!("{name}: {phase} {} {}", status.members_ready.as_deref().unwrap_or_default(), first(why));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first of several reasons, without the condition that they are of, and how many there are beside it: one line is read, five are not.
fn first(why: &str) -> String {
    let mut reasons = why.split("; ");
    let one = reasons.next().unwrap_or_default();
    let of_condition = one.split_once(": ").filter(|(condition, _)| !condition.contains(' '));
    let one = of_condition.map_or(one, |(_, reason)| reason);
    match reasons.count() {
        0 => one.to_owned(),
        more => format!("{one}; and {more} more"),
    }
}

fn is_ready(cluster: &ReplicatedCluster) -> bool {
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready" && condition.status == "True");
    ready.any(|condition| condition.observed_generation == cluster.metadata.generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line_that_can_be_read() {
        let why = "InfrastructureReady: demo-a-0 is not StorageReady: data-demo-a-0 is not bound to a volume; demo-a-1 is not \
                   known to be StorageReady: generation 1 is being applied; demo-a-2 is not known to be StorageReady: it waits";
        assert_eq!(
            first(why),
            "demo-a-0 is not StorageReady: data-demo-a-0 is not bound to a volume; and 2 more"
        );
        assert_eq!(first("demo-a-0 is not StorageReady: it waits"), "demo-a-0 is not StorageReady: it waits");
        assert_eq!(first(""), "");
    }
}
