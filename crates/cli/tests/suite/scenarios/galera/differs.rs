//! A member whose data differs from the others' is thrown out by them. It ends, says so, and is copied anew when a person gives up what it has.

use muster_api::Member;

use crate::suite::Cluster;
use crate::suite::cluster::is;
use crate::suite::mariadb::TABLE;

/// Something that one of them does not know of, and another table that it lacks then.
const MAKE: &str = "CREATE TABLE trial.differs (number BIGINT PRIMARY KEY)";
const LOSE: &str = "SET SESSION wsrep_on=OFF; DROP TABLE trial.differs";
const WRITE: &str = "INSERT INTO trial.differs VALUES (1)";

pub(crate) fn who_differs_ends_and_is_copied_anew_as_it_says(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    let members = cluster.members(3);
    let (differs, others) = members.split_last().unwrap();
    cluster.tell(&others[0], MAKE);
    cluster.tell(differs, &format!("SET SESSION wsrep_sync_wait=1; SELECT COUNT(*) FROM {TABLE}"));
    cluster.tell(differs, LOSE);
    cluster.tell(&others[0], WRITE);
    let how = how_to_discard(cluster, differs).join(" ");
    cluster.until("it has ended, and says what to do", |_| {
        cluster.application(differs).is_none() && says(cluster, differs, &how)
    });
    // The others have a quorum without it.
    cluster.until_more(&writer, 5);
    discards_what_differs(cluster, &members);
    cluster.holds_all(&writer);
    cluster.until("it says so no more", |_| !says(cluster, differs, &how));
    let rows = cluster.tell(differs, "SET SESSION wsrep_sync_wait=1; SELECT number FROM trial.differs");
    assert_eq!(rows.trim(), "1", "it is as the others are");
}

/// The command that gives up what a member has.
pub(crate) fn how_to_discard<'a>(cluster: &'a Cluster, member: &'a str) -> [&'a str; 6] {
    ["kubectl", "muster", "rejoin", &cluster.name, member, "--discard"]
}

/// Waits until all is Ready. Whoever was thrown out says how to give up what it has, and a person does.
pub(crate) fn discards_what_differs(cluster: &Cluster, members: &[String]) {
    cluster.until("it is Ready", |it| {
        for member in members {
            let how = how_to_discard(cluster, member);
            if cluster.application(member).is_none() && says(cluster, member, &how.join(" ")) {
                let words = [&how[1..], &["--yes", "--timeout=20s"]].concat();
                println!("{words:?}: {:?}", cluster.world().try_kubectl(&words));
            }
        }
        is(it, "Ready", "True")
    });
}

/// Whether the status of a member says this.
pub(crate) fn says(cluster: &Cluster, member: &str, text: &str) -> bool {
    let found = cluster.run(cluster.api::<Member>().get(member)).unwrap();
    let conditions = found.status.map(|status| status.conditions).unwrap_or_default();
    conditions.iter().any(|condition| condition.message.contains(text))
}
