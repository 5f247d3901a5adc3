//! A person stops clustering or reconciliation, does things by hand, and starts it again.

use serde_json::{Value, json};

use crate::suite::Cluster;
use crate::suite::cluster::{condition, is};

pub(crate) fn what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    cluster.annotate("clustering-stopped", &json!("true"));
    cluster.until("nobody looks", |it| {
        is(it, "ClusteringActive", "False")
            && condition(it, "Available").is_some_and(|it| it["status"] == "Unknown")
    });
    // Clients are served all the same; then everything is killed, and nobody starts it.
    cluster.until_more(&writer, 5);
    for ordinal in 0..3 {
        cluster.kill_application(&cluster.member(ordinal));
    }
    cluster.until("nothing runs", |_| (0..3).all(|it| cluster.application(&cluster.member(it)).is_none()));
    cluster.annotate("clustering-stopped", &Value::Null);
    cluster.until_more(&writer, 5);
    cluster.counts_losses("an outage by hand");
    cluster.holds_all(&writer);
}

pub(crate) fn a_spec_that_changed_while_reconciliation_was_stopped_is_applied_afterwards(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.annotate("reconciliation-stopped", &json!("true"));
    cluster.until("nothing is applied", |it| is(it, "ReconciliationActive", "False"));
    cluster.patch(&json!({"spec": {"engine": {"parameters": {cluster.software.parameter(): "7"}}}}));
    // The manager goes on: whoever dies comes back.
    cluster.kill_application(&cluster.secondary());
    cluster.until_more(&writer, 5);
    let object = cluster.get();
    assert_ne!(object["status"]["observedGeneration"], object["metadata"]["generation"], "{object:#}");
    cluster.annotate("reconciliation-stopped", &Value::Null);
    let object = cluster.until_ready();
    assert_eq!(object["status"]["observedGeneration"], object["metadata"]["generation"]);
    cluster.holds_all(&writer);
}
