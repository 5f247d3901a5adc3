//! A member that lost its disk is copied anew, and dies in the middle of it.

use crate::suite::{Cluster, Writer};

/// How often it is tried: a copy may be over before it was seen to have begun.
const TRIES: u32 = 5;

pub(crate) fn a_copy_that_is_cut_off_is_made_again(cluster: &Cluster) {
    let writer = cluster.writer();
    let cut = (0..TRIES).any(|_| is_cut_off(cluster, &writer));
    assert!(cut, "whoever was copied was never killed in the middle");
}

/// Wipes a member, kills it in the middle of its copy, and waits until all is Ready again. Whether it had half a copy then.
fn is_cut_off(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 5);
    let joiner = cluster.secondary();
    let recoveries = cluster.recoveries();
    cluster.wipe(&joiner);
    cluster.until("it is copied", |_| {
        cluster.application(&joiner).is_some() && has_half_a_copy(cluster, &joiner)
    });
    let cut = cluster.kill_application(&joiner) && has_half_a_copy(cluster, &joiner);
    cluster.until_more(writer, 5);
    cluster.holds_all(writer);
    assert!(!recoveries.seeds().contains(&joiner), "half a copy is not chosen");
    cut
}

/// By what a copy leaves where it is put until it is whole.
fn has_half_a_copy(cluster: &Cluster, member: &str) -> bool {
    cluster.data(member).join(".sst").exists()
}
