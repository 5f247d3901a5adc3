//! A cluster grows, shrinks, is parked and comes back, while clients write.

use crate::suite::Cluster;

pub(crate) fn whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    cluster.scale_to(5);
    cluster.until_more(&writer, 5);
    cluster.scale_to(3);
    cluster.until_more(&writer, 5);
    cluster.park(&cluster.members(3));
    cluster.scale_to(3);
    cluster.until_more(&writer, 5);
    cluster.park(&cluster.members(3));
    fewer_than_were_parked(cluster);
    cluster.until_more(&writer, 5);
    cluster.scale_to(3);
    cluster.holds_all(&writer);
}

/// What was acknowledged may be on any two of the three: all of them come back, and then one leaves.
fn fewer_than_were_parked(cluster: &Cluster) {
    let members = cluster.members(3);
    cluster.scale_to(2);
    cluster.until("one has left", |_| {
        members.iter().filter(|member| cluster.pod(member).is_some()).count() == 2
    });
    for member in &members {
        // Its own agent marked it, so it was back; and it is told to only when the others have all that it has.
        let has_left = cluster.memory(member).left;
        assert_eq!(
            has_left,
            cluster.pod(member).is_none(),
            "{member}: who goes leaves by the gate, with its volume"
        );
    }
}
