//! A member is copied anew, and someone dies in the middle of it.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::suite::processes::send;
use crate::suite::{Cluster, PATIENCE, Writer};

/// How many large entries there are: each is a frame that is synced, so that a copy takes a moment.
const ENTRIES: usize = 600;
/// How large they are.
const SIZE: usize = 60_000;
/// How often it is looked how far a copy is.
const LOOK_CLOSELY: Duration = Duration::from_millis(1);

#[test]
fn a_copy_that_is_cut_off_counts_for_nothing_and_is_made_again() {
    let cluster = Cluster::ready("copied", 3);
    let writer = cluster.writer();
    let large = fill(&cluster);
    let joiner = cluster.secondary();
    let whole = length(&cluster, &cluster.primary());

    cluster.wipe(&joiner);
    in_the_middle(&cluster, &joiner, whole);
    assert!(cluster.kill_application(&joiner), "the copy is over");
    cluster.until_served(&writer);
    cluster.until_ready();

    let recoveries = cluster.recoveries();
    let source = cluster.until_runs(&cluster.primary());
    cluster.wipe(&joiner);
    in_the_middle(&cluster, &joiner, whole);
    send(source, Signal::KILL);
    cluster.until_served(&writer);
    cluster.until_ready();
    assert_ne!(cluster.primary(), joiner, "half a copy does not lead");
    assert!(!recoveries.seeds().contains(&joiner), "half a copy is not chosen");
    recoveries.most_advanced_seeded();
    for member in cluster.members(3) {
        cluster.has(&member, &large);
    }
    cluster.holds_all(writer);
}

/// Appends much, and says what.
fn fill(cluster: &Cluster) -> Vec<(u64, String)> {
    let writer = Writer::start(cluster.address(), "x".repeat(SIZE));
    writer.until_more(ENTRIES);
    writer.acknowledged()
}

/// How long the log of a member is; 0 where there is none.
fn length(cluster: &Cluster, member: &str) -> u64 {
    fs::metadata(cluster.data(member).join("log")).map_or(0, |log| log.len())
}

/// Waits until a part has been copied, and not yet the whole.
fn in_the_middle(cluster: &Cluster, joiner: &str, whole: u64) {
    let (log, began) = (cluster.data(joiner).join("log"), Instant::now());
    loop {
        let copied = fs::metadata(&log).map_or(0, |log| log.len());
        assert!(copied < whole / 2, "the copy of {joiner} was over before it was seen");
        if copied > whole / 100 {
            println!("{joiner} has {copied} of {whole} bytes");
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{joiner} was not copied: {}", cluster.get());
        std::thread::park_timeout(LOOK_CLOSELY);
    }
}
