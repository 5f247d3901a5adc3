//! The machine on which everyone runs goes down and comes up again.

use crate::suite::Cluster;

pub(crate) fn a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged(
    cluster: &Cluster,
) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 10);
    let members = cluster.members(3);
    let before: Vec<_> = members.iter().map(|member| cluster.until_runs(member)).collect();
    cluster.world().kill_node();
    cluster.until("everyone runs again", |_| {
        let runs = members.iter().map(|member| cluster.application(member));
        runs.zip(&before).all(|(now, before)| now.is_some_and(|now| now != *before))
    });
    cluster.until_more(&writer, 5);
    cluster.counts_losses("the death of a node");
    cluster.holds_all(&writer);
}
