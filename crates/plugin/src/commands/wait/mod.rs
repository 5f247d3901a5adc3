//! `kubectl muster wait NAME…`: until a change is live, a condition holds, or the cluster is gone.

pub mod goal;

use std::time::Duration;

use goal::{Goal, Verdict};
use kube::ResourceExt;
use muster_api::ReplicatedCluster;

use crate::access::{Access, Follow, Step, object};
use crate::error::{EXIT_CODES, Failure};
use crate::print::{age, document};
use crate::session::Session;

/// Wait until a cluster is ready: its newest spec, applied, everywhere
///
/// A cluster is ready when its status is about the newest generation of its spec and Ready is True at it, so the answer
/// is about the change that was made last, never about the one before. The cluster is watched, not polled.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    /// The clusters
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// What for: ready, condition=TYPE[=STATUS] or deleted
    #[arg(long = "for", value_name = "WHAT", default_value = "ready")]
    goal: Goal,
    /// How long at most; 0 looks once
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = age::parse)]
    timeout: Duration,
}

/// Waits for one cluster after the other, all within the one timeout.
pub async fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let begun = tokio::time::Instant::now();
    for name in &options.names {
        let left = options.timeout.saturating_sub(begun.elapsed());
        let seen = until(&access, name, &options.goal, left, options.timeout).await?;
        match seen.cluster.as_deref() {
            Some(cluster) if document(cluster, session.output())?.is_some() => {
                session.console.show(&document(cluster, session.output())?.unwrap_or_default());
            }
            _ => session.console.say(&format!("replicatedcluster.muster.dev/{name} {}", seen.words)),
        }
    }
    Ok(())
}

/// What was waited for, and came.
struct Came {
    words: String,
    cluster: Option<Box<ReplicatedCluster>>,
}

async fn until(
    access: &Access,
    name: &str,
    goal: &Goal,
    timeout: Duration,
    whole: Duration,
) -> Result<Came, Failure> {
    let named = object("ReplicatedCluster", name, &access.namespace);
    let follow = Follow { access, api: access.clusters(), name, doing: format!("watch {named}"), timeout };
    let (mut uid, mut last, mut looked) = (None::<String>, String::new(), false);
    let outcome = follow.until(|cluster| {
        let first = !std::mem::replace(&mut looked, true);
        let replaced = uid.is_some() && cluster.is_some_and(|cluster| cluster.uid() != uid);
        uid = uid.take().or_else(|| cluster.and_then(ResourceExt::uid));
        let verdict = match cluster.filter(|_| !replaced) {
            Some(cluster) => goal.judge(cluster),
            None if first => goal.judge_absent(),
            None => goal.judge_deleted(),
        };
        match verdict {
            Verdict::Met(words) => {
                Step::Answer(Ok(Came { words, cluster: cluster.map(|cluster| Box::new(cluster.clone())) }))
            }
            Verdict::Never(why) => Step::Answer(Err(why)),
            Verdict::NotYet(why) => {
                last = why;
                Step::Wait
            }
            Verdict::Stale(why) => {
                last = why;
                Step::Reread
            }
        }
    });
    match outcome.await? {
        Some(Ok(came)) => Ok(came),
        // Nothing was there from the start: the name is wrong, rather than the answer no.
        Some(Err(_)) if uid.is_none() => {
            access.cluster(name).await.map(|_| Came { words: String::new(), cluster: None })
        }
        Some(Err(why)) => Err(Failure::No(format!("{named} {why}"))),
        None => Err(Failure::Timeout(timed_out(access, name, goal, &last, whole).await)),
    }
}

/// What to say when time is up: where it stands, whether anybody works on it, and where to look.
async fn timed_out(access: &Access, name: &str, goal: &Goal, last: &str, whole: Duration) -> String {
    let named = object("ReplicatedCluster", name, &access.namespace);
    let operator = access.operator().await;
    let idle = if operator.runs() { String::new() } else { format!("; {}", operator.sentence()) };
    let next = format!("kubectl muster status {}{name} says more", access.namespace_flag());
    format!("{named} is not {goal} after {}: {last}{idle}; {next}", age::short(whole))
}
