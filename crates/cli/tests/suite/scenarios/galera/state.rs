//! The file in which Galera keeps how far it is holds nothing that can be read. The data itself tells.

use std::fs;

use rustix::process::Signal;

use crate::suite::processes::send;
use crate::suite::{Cluster, Writer};

/// What is in it then: neither a history nor all that a clean stop leaves.
const GARBAGE: &[u8] = b"\0garbage\nuuid: none\nseqno: 12";

/// How often it is tried: an operator that is killed beside this may have chosen someone before it said so.
const TRIES: u32 = 3;

/// Everyone is killed, and that file of one of them is destroyed: it is read all the same, and has a place in the election.
pub(crate) fn a_member_whose_state_file_was_destroyed_is_read_all_the_same(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    let read = (0..TRIES).any(|_| is_read(cluster, &writer));
    assert!(read, "it never had a place in the election");
    cluster.holds_all(&writer);
}

/// Whether it was said who was chosen, and what the one held whose file was destroyed.
fn is_read(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 5);
    let recoveries = cluster.recoveries();
    let destroyed = cluster.secondary();
    // It cannot write it again.
    send(cluster.until_runs(&destroyed), Signal::STOP);
    fs::write(cluster.data(&destroyed).join("grastate.dat"), GARBAGE).unwrap();
    for member in cluster.members(3) {
        cluster.kill_application(&member);
    }
    cluster.until_served(writer);
    cluster.until_ready();
    cluster.counts_losses("an outage in which a state file was destroyed");
    let (chosen, reports) = (recoveries.most_advanced_seeded(), recoveries.reports_of(&destroyed));
    println!("{chosen} chosen, and of {destroyed} it was said: {reports:#?}");
    chosen != 0
        && reports.into_iter().any(|report| {
            report["empty"] == false && report["sequence"].as_u64().is_some_and(|sequence| sequence > 12)
        })
}
