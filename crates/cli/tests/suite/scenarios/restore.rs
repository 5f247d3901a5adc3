//! A person says by hand how many members have to be there before a parked cluster may come back.

use serde_json::{Value, json};

use crate::suite::Cluster;
use crate::suite::cluster::condition;
use crate::suite::hands::{command, offered};

pub(crate) fn a_count_set_by_hand_blocks_until_it_is_lowered(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    cluster.park(&cluster.members(3));
    set_by_hand(cluster, 5);
    cluster.scale(3);
    blocks(cluster, 5);
    // Still more than there are.
    set_by_hand(cluster, 4);
    let blocked = blocks(cluster, 4);
    let lower = command(&["recover", &cluster.name, "--replicas", "3"]);
    assert_eq!(offered(&blocked), [lower.as_slice()], "{blocked:#}");
    let wanted = writer.count() + 1;
    cluster.until("it is lowered, and clients are served", |it| {
        cluster.obey_if_offered(it, &lower);
        writer.count() >= wanted
    });
    cluster.holds_all(&writer);
}

/// Status is read once, when clustering starts.
fn set_by_hand(cluster: &Cluster, count: u32) {
    cluster.stop_clustering();
    cluster.patch_status(&json!({"status": {"restoreReplicas": count}}));
    assert_eq!(cluster.get()["status"]["restoreReplicas"], count, "it is left as it was set");
    cluster.start_clustering();
}

/// Nothing runs, though everyone is there, and status says why.
fn blocks(cluster: &Cluster, count: u32) -> Value {
    let why = format!("restoreReplicas was set to {count} by hand, 3 members are configured");
    let object = cluster.until("it is blocked", |it| {
        let recovery = &it["status"]["recovery"];
        recovery["blockedBy"] == "RestoreReplicas"
            && recovery["unblock"].as_str().is_some_and(|how| how.contains(&why))
    });
    let recovering = condition(&object, "Recovering").unwrap();
    assert!(recovering["status"] == "True" && recovering["reason"] == "Blocked", "{object:#}");
    assert!(recovering["message"].as_str().unwrap().contains(&why), "{object:#}");
    assert_eq!(object["status"]["restoreReplicas"], count, "{object:#}");
    for member in cluster.members(3) {
        assert_eq!(cluster.application(&member), None, "{member} runs");
    }
    object
}
