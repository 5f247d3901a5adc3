//! A member is copied anew, and whoever gets the copy or sends it dies in the middle, or before it began.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::suite::processes::{send, sends_a_copy};
use crate::suite::{Cluster, PATIENCE, Writer};

/// How often it is tried: a copy may be over before it was seen to have begun.
const TRIES: u32 = 5;
/// How often it is looked how far a copy is.
const LOOK_CLOSELY: Duration = Duration::from_millis(5);
/// More than members keep of what was written last, so that whoever missed it must be copied as a whole.
const MUCH: &str = "CREATE TABLE IF NOT EXISTS trial.much (number BIGINT PRIMARY KEY, bytes LONGBLOB); \
     REPLACE INTO trial.much VALUES (1, REPEAT('x', 8000000)); REPLACE INTO trial.much VALUES (2, REPEAT('x', 8000000)); \
     REPLACE INTO trial.much VALUES (3, REPEAT('x', 8000000)); REPLACE INTO trial.much VALUES (4, REPEAT('x', 8000000))";

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

/// The third has all, so nothing is lost, and nobody has to do anything.
pub(crate) fn a_copy_whose_source_dies_is_made_again(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    let cut = (0..TRIES).any(|_| loses_its_source(cluster, &writer));
    assert!(cut, "whoever was copied from was never killed in the middle");
}

/// Wipes a member, kills whoever sends it a copy, and waits until all is Ready again. Whether it had half a copy then.
fn loses_its_source(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 5);
    let joiner = cluster.secondary();
    let recoveries = cluster.recoveries();
    cluster.wipe(&joiner);
    let half = cluster.data(&joiner).join(".sst");
    let source = until_sent(cluster, &joiner, || half.exists());
    source.inspect(|source| send(*source, Signal::KILL));
    let cut = source.is_some() && half.exists();
    cluster.until_more(writer, 5);
    cluster.holds_all(writer);
    assert!(!recoveries.seeds().contains(&joiner), "half a copy is not chosen");
    cut
}

/// Galera then writes that its data is nobody's, though all of it is still there.
pub(crate) fn a_member_whose_copy_never_began_goes_on_with_what_it_has(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    let unsent = (0..TRIES).any(|_| is_sent_nothing(cluster, &writer));
    assert!(unsent, "whoever was to send a copy was never killed before it did");
}

/// Makes a member miss more than the others keep, kills whoever is to send it a copy, and waits until all is Ready again. Whether it had
/// thrown nothing away by then.
fn is_sent_nothing(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 5);
    let (joiner, other) = (cluster.secondary(), cluster.primary());
    cluster.stop_clustering();
    assert!(cluster.kill_application(&joiner));
    cluster.tell(&other, MUCH);
    cluster.start_clustering();
    let (server, data) = (cluster.until_runs(&joiner), cluster.data(&joiner));
    let source = until_sent(cluster, &joiner, || data.join("sst_in_progress").exists());
    let unsent = source.is_some_and(|source| {
        send(source, Signal::KILL);
        cluster.until("it has given up", |_| cluster.application(&joiner) != Some(server));
        !data.join(".sst").exists()
    });
    cluster.until_more(writer, 5);
    cluster.holds_all(writer);
    unsent
}

/// By what a copy leaves where it is put until it is whole.
fn has_half_a_copy(cluster: &Cluster, member: &str) -> bool {
    cluster.data(member).join(".sst").exists()
}

/// The server that sends a copy to this member, as soon as it does and the copy is so far; none if it was over before that was seen.
fn until_sent(cluster: &Cluster, joiner: &str, is_so_far: impl Fn() -> bool) -> Option<Pid> {
    let began = Instant::now();
    let others: Vec<String> =
        cluster.members(3).into_iter().filter(|member| member.as_str() != joiner).collect();
    let servers: Vec<Pid> = others.iter().map(|member| cluster.until_runs(member)).collect();
    let mut sends = None;
    loop {
        sends = sends.or_else(|| servers.iter().copied().find(|server| sends_a_copy(*server)));
        if let Some(source) = sends.filter(|_| is_so_far()) {
            return Some(source);
        }
        if sends.is_some_and(|source| !sends_a_copy(source)) {
            return None;
        }
        assert!(began.elapsed() < PATIENCE, "{joiner} was not copied: {}", cluster.get());
        std::thread::park_timeout(LOOK_CLOSELY);
    }
}
