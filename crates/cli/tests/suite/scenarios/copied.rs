//! A member is copied anew, and someone dies in the middle of it.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::suite::clients::Server;
use crate::suite::processes::send;
use crate::suite::watching::Recoveries;
use crate::suite::{Cluster, PATIENCE, Writer};

/// How many large entries there are: each is a frame that is synced, so that a copy takes a moment.
const ENTRIES: usize = 600;
/// How large they are.
const SIZE: usize = 60_000;
/// How often it is looked how far a copy is.
const LOOK_CLOSELY: Duration = Duration::from_millis(1);

/// How often a member is copied: on a fast machine a copy may be over before it was seen to have begun.
const TRIES: u32 = 10;

pub(crate) fn a_copy_that_is_cut_off_counts_for_nothing_and_is_made_again(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    let large = fill(cluster);
    let cut = (0..TRIES).any(|_| cut_off(cluster, &writer, |copy| copy.joiner.clone()).is_some());
    assert!(cut, "whoever was copied was never killed in the middle");

    let (copy, recoveries) = (0..TRIES)
        .find_map(|_| cut_off(cluster, &writer, |copy| copy.source.clone()))
        .expect("whoever was copied from was killed in the middle");
    assert_ne!(cluster.primary(), copy.joiner, "half a copy does not lead");
    assert!(!recoveries.seeds().contains(&copy.joiner), "half a copy is not chosen");
    recoveries.most_advanced_seeded();
    for member in cluster.members(3) {
        cluster.has(&member, &large);
    }
    cluster.holds_all(&writer);
}

/// A copy that is made.
struct Transfer {
    source: String,
    joiner: String,
}

/// Wipes a member, kills one of the two in the middle of its copy, and waits until all is Ready again. None: the copy was over too
/// soon.
fn cut_off(
    cluster: &Cluster,
    writer: &Writer,
    whom: fn(&Transfer) -> String,
) -> Option<(Transfer, Recoveries)> {
    cluster.until_ready();
    let members = cluster.members(3);
    let source = cluster.until_one_leads(&members);
    let joiner = members.into_iter().find(|member| *member != source).unwrap();
    let (whole, copy) = (length(cluster, &source), Transfer { source, joiner });
    let dies = whom(&copy);
    let before = (dies != copy.joiner).then(|| cluster.until_runs(&dies));
    let recoveries = cluster.recoveries();
    cluster.wipe(&copy.joiner);
    let mut cut = in_the_middle(cluster, &copy.joiner, whole);
    if cut {
        match before {
            Some(source) => send(source, Signal::KILL),
            None => cut = cluster.kill_application(&copy.joiner),
        }
        // It may have come to its end in the meantime.
        cut &= length(cluster, &copy.joiner) < whole;
    }
    cluster.until_served(writer);
    cluster.until_ready();
    cut.then_some((copy, recoveries))
}

/// Appends much, and says what.
fn fill(cluster: &Cluster) -> Vec<(u64, String)> {
    let (address, who) = (cluster.address(), "x".repeat(SIZE));
    let writer = Writer::start(Server::Ledger { address, who });
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, ENTRIES);
    writer.stop()
}

/// How long the log of a member is; 0 where there is none.
fn length(cluster: &Cluster, member: &str) -> u64 {
    fs::metadata(cluster.data(member).join("log")).map_or(0, |log| log.len())
}

/// Waits until a part has been copied, and not yet the half; false if that was never seen.
fn in_the_middle(cluster: &Cluster, joiner: &str, whole: u64) -> bool {
    let (log, began) = (cluster.data(joiner).join("log"), Instant::now());
    loop {
        let copied = fs::metadata(&log).map_or(0, |log| log.len());
        if copied > whole / 100 {
            println!("{joiner} has {copied} of {whole} bytes");
            return copied < whole / 2;
        }
        assert!(began.elapsed() < PATIENCE, "{joiner} was not copied: {}", cluster.get());
        std::thread::park_timeout(LOOK_CLOSELY);
    }
}
