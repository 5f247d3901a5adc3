//! A recovery that waits for a person says what is known and what to do; the very command that it offers ends the waiting.

use muster_ledger::frame::hex;
use muster_ledger::log::Log;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::suite::hands::{command, offered};
use crate::suite::missing::report_of;
use crate::suite::processes::send;
use crate::suite::{Cluster, Software, Writer, deaths};

/// How often a member stands still: after a minute it is taken for dead and started again, which on a busy machine may come before
/// anyone said that it is.
const TRIES: u32 = 3;

pub(crate) fn the_command_offered_for_a_member_that_is_not_heard_unblocks(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    // What Galera acknowledged last may be on its disk alone: that this is given up a person says, too, once it is known not to run.
    cluster.goes_on_without_what_is_missing(&writer);
    let unblocked = (0..TRIES).any(|_| {
        let unblocked = unblocks_while_one_stands_still(cluster, &writer);
        cluster.counts_losses("the loss of a member that stood still");
        unblocked
    });
    // A command that was given goes with the operator that dies; whoever then is taken for dead instead comes back with all that it had.
    assert!(unblocked || deaths::happen(), "it was never the command that helped");
    cluster.holds_all(&writer);
}

/// Whether clients were served again while that member still stood still.
fn unblocks_while_one_stands_still(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 10);
    let missing = cluster.secondary();
    let others: Vec<String> = cluster.members(3).into_iter().filter(|member| *member != missing).collect();
    let (application, agent) = (cluster.until_runs(&missing), cluster.agent(&missing).unwrap());
    for pid in [agent, application] {
        send(pid, Signal::STOP);
    }
    for member in &others {
        cluster.kill_application(member);
    }
    let stands_still = || cluster.agent(&missing) == Some(agent);
    let fence = command(&["fence", &cluster.name, &missing]);
    // Until those who were killed have been read again status may tell of what they held while they ran.
    cluster.until("it is blocked and says all that is known, or who stands still is taken for dead", |it| {
        let recovery = &it["status"]["recovery"];
        let blocked = recovery["blockedBy"] == "MemberMissing"
            && recovery["missing"] == json!([missing])
            && others.iter().all(|member| is_reported_as_it_is(cluster, recovery, member))
            && offered(it) == [fence.as_slice()];
        blocked || !stands_still()
    });
    cluster.until_served_while(writer, |it| {
        cluster.obey_if_offered(it, &fence);
        // In this order: who stands still afterwards did so when this was offered.
        if let Some(seed) = cluster.offered_seed(it) {
            assert!(others.contains(&seed) || !stands_still(), "one of {others:?}: {it:#}");
        }
    });
    let stood_still = stands_still();
    // It never knew that others went on without it, and must not find out by serving.
    if stood_still {
        for pid in [application, agent] {
            send(pid, Signal::KILL);
        }
    }
    stood_still
}

pub(crate) fn the_command_offered_for_disks_that_are_lost_unblocks(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 20);
    let acknowledged = writer.stop();
    let members = cluster.members(3);
    // All have it, so that the one that is left has.
    for member in &members {
        cluster.has(member, &acknowledged);
    }
    cluster.park(&members);
    let (left, lost) = members.split_last().unwrap();
    for member in lost {
        cluster.wipe(member);
    }
    cluster.scale(3);
    let seed = cluster.with_seed(left);
    let is_empty = |recovery: &Value, member: &str| {
        report_of(recovery, member).is_some_and(|report| report["empty"] == true)
    };
    cluster.until("it is blocked and says all that is known", |it| {
        let recovery = &it["status"]["recovery"];
        recovery["blockedBy"] == "DataMissing"
            && is_reported_as_it_is(cluster, recovery, left)
            && lost.iter().all(|member| is_empty(recovery, member))
            && offered(it) == [seed.as_slice()]
    });
    cluster.until("it leads", |it| {
        cluster.obey_if_offered(it, &seed);
        it["status"]["members"]["primary"]
            .as_array()
            .is_some_and(|primaries| primaries.contains(&json!(left)))
    });
    cluster.until_ready();
    for member in &members {
        cluster.has(member, &acknowledged);
    }
    cluster.holds_all(&cluster.writer());
}

/// Whether status says of a stopped member what is on its disk.
fn is_reported_as_it_is(cluster: &Cluster, recovery: &Value, member: &str) -> bool {
    let held = match cluster.software {
        Software::Ledger => Log::position_in(&cluster.data(member)).ok().flatten().map(|held| {
            let position = hex(&held.digest[..8]);
            (held.history.to_string(), held.sequence, position)
        }),
        Software::Galera => cluster.saved_position(member),
    };
    let (Some(report), Some((history, sequence, position))) = (report_of(recovery, member), held) else {
        return false;
    };
    report["sequence"] == sequence
        && report["history"] == history
        && report["position"] == position
        && report["term"].is_string()
        && report["empty"] == false
}
