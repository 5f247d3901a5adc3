//! A version, a parameter, a switchover: each while clients write.

use serde_json::json;

use crate::suite::Cluster;
use crate::suite::cluster::is;

pub(crate) fn a_version_and_a_parameter_roll_through_all_members(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    let [_, next] = cluster.software.versions();
    cluster.patch(&json!({"spec": {"engine": {"version": next}}}));
    let object = cluster.until("the version is everywhere", |it| {
        is(it, "Ready", "True") && it["status"]["currentVersion"] == next
    });
    assert_eq!(object["status"]["updatedReplicas"], 3, "{object:#}");
    cluster.until_more(&writer, 5);
    cluster.patch(&json!({"spec": {"engine": {"parameters": {cluster.software.parameter(): "5"}}}}));
    cluster.until_ready();
    cluster.holds_all(&writer);
}

pub(crate) fn a_switchover_under_load_loses_nothing(cluster: &Cluster) {
    let writer = cluster.writer();
    for _ in 0..2 {
        cluster.until_more(&writer, 5);
        let target = cluster.secondary();
        let words = ["muster", "switchover", &cluster.name, "--to", &target, "--yes", "--timeout=60s"];
        // It is refused where the other does not catch up in time, as on a busy machine, and lost with an operator that is killed:
        // then nothing has changed.
        cluster.until("the other leads", |it| {
            it["status"]["primary"] == target.as_str() || {
                println!("{:?}", cluster.world().try_kubectl(&words));
                false
            }
        });
        cluster.until_ready();
    }
    cluster.holds_all(&writer);
}
