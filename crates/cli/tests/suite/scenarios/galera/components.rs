//! While nobody looks a person makes a second cluster of one member. Muster says so, touches neither, and does what the person chooses.

use serde_json::json;

use crate::suite::Cluster;
use crate::suite::cluster::is_split;
use crate::suite::hands::{command, offered};
use crate::suite::mariadb::TABLE;

/// What only the second has: a number that no client writes.
const BY_HAND: u64 = u64::MAX >> 1;

pub(crate) fn two_components_made_by_hand_are_left_alone_until_a_person_chooses_one(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_ready();
    cluster.until_more(&writer, 5);
    let members = cluster.members(3);
    let (other, stay) = members.split_last().unwrap();
    cluster.stop_clustering();
    cluster.isolate(other);
    cluster.until("it has noticed", |_| !cluster.takes_writes(other));
    cluster.tell(other, "SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'");
    cluster.until("it is a cluster of its own", |_| cluster.takes_writes(other));
    cluster.tell(other, &format!("INSERT IGNORE INTO {TABLE} VALUES ({BY_HAND})"));
    cluster.until_more(&writer, 5);
    let before: Vec<_> = members.iter().map(|member| cluster.until_runs(member)).collect();
    cluster.start_clustering();

    let object = cluster.until("a person has to choose", is_split);
    let choice = command(&["recover", &cluster.name, "--seed", &stay[0]]);
    assert!(offered(&object).contains(&choice), "{object:#}");
    for (member, pid) in members.iter().zip(&before) {
        assert_eq!(cluster.application(member), Some(*pid), "{member} goes on as it was");
    }

    cluster.until("the other is stopped and kept as errant", |it| {
        cluster.obey_if_offered(it, &choice);
        it["status"]["members"]["errant"] == json!([other]) && cluster.application(other).is_none()
    });
    for (member, pid) in stay.iter().zip(&before) {
        assert_eq!(cluster.application(member), Some(*pid), "{member} was chosen, and goes on as it was");
    }
    cluster.until_more(&writer, 5);
    cluster.gives_up_the_errant(&writer);
    cluster.holds_all(&writer);
    for member in &members {
        let by_hand = cluster.read(member).unwrap().into_iter().any(|(number, _)| number == BY_HAND);
        assert!(!by_hand, "{member}: that history was given up");
    }
}
