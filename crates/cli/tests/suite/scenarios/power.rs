//! The machine on which everyone runs goes down and comes up again.

use crate::suite::Cluster;

#[test]
fn a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged() {
    let cluster = Cluster::alone("power", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(10);
    let members = cluster.members(3);
    let before: Vec<_> = members.iter().map(|member| cluster.until_runs(member)).collect();
    cluster.world().kill_node();
    cluster.until("everyone runs again", |_| {
        let runs = members.iter().map(|member| cluster.application(member));
        runs.zip(&before).all(|(now, before)| now.is_some_and(|now| now != *before))
    });
    writer.until_more(5);
    cluster.holds_all(writer);
}
