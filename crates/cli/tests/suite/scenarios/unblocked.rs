//! A recovery that waits for a person says what is known and what to do; the very command that it offers ends the waiting.

use muster_ledger::frame::hex;
use muster_ledger::log::Log;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::suite::hands::{command, offered};
use crate::suite::processes::send;
use crate::suite::{Cluster, Writer};

/// How often a member stands still: after a minute it is taken for dead and started again, which on a busy machine may come before
/// anyone said that it is.
const TRIES: u32 = 3;

#[test]
fn the_command_offered_for_a_member_that_is_not_heard_unblocks() {
    let cluster = Cluster::ready("unblocked", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    let unblocked = (0..TRIES).any(|_| unblocks_while_one_stands_still(&cluster, &writer));
    assert!(unblocked, "it was never the command that helped");
    cluster.holds_all(writer);
}

/// Whether clients were served again while that member still stood still.
fn unblocks_while_one_stands_still(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    writer.until_more(10);
    let missing = cluster.secondary();
    let others: Vec<String> = cluster.members(3).into_iter().filter(|member| *member != missing).collect();
    let (application, agent) = (cluster.until_runs(&missing), cluster.agent(&missing).unwrap());
    for pid in [agent, application] {
        send(pid, Signal::STOP);
    }
    for member in &others {
        cluster.kill_application(member);
    }
    let object =
        cluster.until("it is blocked", |it| it["status"]["recovery"]["blockedBy"] == "MemberMissing");
    let recovery = &object["status"]["recovery"];
    assert_eq!(recovery["missing"], json!([missing]), "{recovery:#}");
    for member in &others {
        is_reported_as_it_is(cluster, recovery, member);
    }
    let fence = command(&["fence", &cluster.name, &missing]);
    assert_eq!(offered(&object), [fence.as_slice()], "{recovery:#}");
    let wanted = writer.count() + 1;
    cluster.until("clients are served", |it| {
        cluster.obey_if_offered(it, &fence);
        writer.count() >= wanted
    });
    let stood_still = cluster.agent(&missing) == Some(agent);
    // It never knew that others went on without it, and must not find out by serving.
    for pid in [application, agent] {
        send(pid, Signal::KILL);
    }
    stood_still
}

#[test]
fn the_command_offered_for_disks_that_are_lost_unblocks() {
    let cluster = Cluster::ready("two-disks", 3);
    let writer = cluster.writer();
    writer.until_more(20);
    let acknowledged = writer.acknowledged();
    drop(writer);
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
    let object = cluster.until("it is blocked", |it| it["status"]["recovery"]["blockedBy"] == "DataMissing");
    let recovery = &object["status"]["recovery"];
    is_reported_as_it_is(&cluster, recovery, left);
    for member in lost {
        assert_eq!(report_of(recovery, member)["empty"], true, "{recovery:#}");
    }
    let seed = command(&["recover", &cluster.name, "--seed", left]);
    assert_eq!(offered(&object), [seed.as_slice()], "{recovery:#}");
    cluster.until("it leads", |it| {
        cluster.obey_if_offered(it, &seed);
        it["status"]["primary"] == left.as_str()
    });
    cluster.until_ready();
    for member in &members {
        cluster.has(member, &acknowledged);
    }
    cluster.holds_all(cluster.writer());
}

/// What status says of a stopped member is what is on its disk.
fn is_reported_as_it_is(cluster: &Cluster, recovery: &Value, member: &str) {
    let held = Log::position_in(&cluster.data(member)).unwrap().unwrap();
    let report = report_of(recovery, member);
    assert_eq!(report["sequence"], held.sequence, "{recovery:#}");
    assert_eq!(report["history"], held.history.to_string(), "{recovery:#}");
    assert_eq!(report["position"], hex(&held.digest[..8]), "{recovery:#}");
    assert!(report["term"].is_string() && report["empty"] == false, "{recovery:#}");
}

fn report_of<'a>(recovery: &'a Value, member: &str) -> &'a Value {
    let mut reported = recovery["reported"].as_array().unwrap().iter();
    reported.find(|report| report["member"] == member).unwrap()
}
