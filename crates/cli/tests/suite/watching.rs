//! Every status of a cluster that anyone could have seen.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use muster_api::ReplicatedCluster;
use serde_json::Value;

use super::Cluster;
use super::chosen::order;

/// The recoveries of a cluster, as its status told of them.
pub(crate) struct Recoveries {
    seen: Arc<Mutex<Vec<Value>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Recoveries {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Cluster {
    /// Listens from now on.
    pub(crate) fn recoveries(&self) -> Recoveries {
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let own = Arc::clone(&seen);
        let config = watcher::Config::default().fields(&format!("metadata.name={}", self.name));
        let api = self.api::<ReplicatedCluster>();
        // The task is wanted, not its end.
        #[expect(clippy::async_yields_async)]
        let task = self.run(async move {
            tokio::spawn(async move {
                let mut events = Box::pin(watcher(api, config));
                while let Some(event) = events.next().await {
                    if let Ok(Event::Apply(cluster) | Event::InitApply(cluster)) = event
                        && let Some(recovery) = cluster.status.and_then(|status| status.recovery)
                    {
                        let recovery = serde_json::to_value(recovery).unwrap();
                        own.lock().unwrap_or_else(PoisonError::into_inner).push(recovery);
                    }
                }
            })
        });
        Recoveries { seen, task }
    }
}

impl Recoveries {
    /// Everyone who was ever chosen.
    pub(crate) fn seeds(&self) -> BTreeSet<String> {
        let recoveries = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        recoveries.iter().filter_map(|recovery| recovery["seed"].as_str().map(str::to_owned)).collect()
    }

    /// All that was ever said of what this member holds.
    pub(crate) fn reports_of(&self, member: &str) -> Vec<Value> {
        let recoveries = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let reported = recoveries.iter().filter_map(|recovery| recovery["reported"].as_array()).flatten();
        reported.filter(|report| report["member"] == member).cloned().collect()
    }

    /// Whoever was chosen as seed had the most of all who reported: a newer term, or as much in the same. How many were chosen. Of one
    /// that cannot say at that moment what it holds, because it begins to lead, nothing is said, not even that it is empty.
    pub(crate) fn most_advanced_seeded(&self) -> usize {
        let recoveries = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut chosen = 0;
        for recovery in recoveries.iter() {
            let Some(seed) = recovery["seed"].as_str() else { continue };
            let reported: Vec<&Value> = recovery["reported"].as_array().into_iter().flatten().collect();
            let place = |report: &Value| (order(&report["term"]), report["sequence"].as_u64());
            let tells = |report: &&&Value| report["member"] == seed && !report["empty"].is_null();
            let Some(of_seed) = reported.iter().find(tells) else { continue };
            let most = reported.iter().map(|report| place(report)).max();
            assert_eq!(Some(place(of_seed)), most, "{recovery:#}");
            chosen += 1;
        }
        chosen
    }
}
