//! A switchover: where all members take writes there is none to make, and with one primary it is made under load.

use serde_json::{Value, json};

use crate::suite::Cluster;
use crate::suite::scenarios::rolled;

pub(crate) fn a_switchover_is_refused_where_all_take_writes_and_made_where_one_does(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    let target = cluster.secondary();
    let words = ["muster", "switchover", &cluster.name, "--to", &target, "--yes", "--timeout=60s"];
    let refused = cluster.world().try_kubectl(&words).unwrap_err();
    assert!(refused.contains("is a primary already"), "{refused}");
    let object = cluster.until_ready();
    assert_eq!(object["status"]["primary"], "3 primaries", "{object:#}");

    cluster.patch(&json!({"spec": {"primaries": 1}}));
    cluster.until_ready();
    rolled::a_switchover_under_load_loses_nothing(cluster);
    cluster.patch(&json!({"spec": {"primaries": Value::Null}}));
    let object = cluster.until("all take writes again", |it| it["status"]["primary"] == "3 primaries");
    drop(object);
    cluster.holds_all(&writer);
}
