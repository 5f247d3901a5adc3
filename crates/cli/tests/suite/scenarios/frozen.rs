//! A member stands still: it neither answers nor dies.

use rustix::process::Signal;

use crate::suite::Cluster;
use crate::suite::processes::send;

#[test]
fn a_frozen_member_is_waited_for_and_a_thawed_one_goes_on() {
    let cluster = Cluster::ready("frozen", 3);
    let writer = cluster.writer();
    writer.until_more(5);
    let secondary = cluster.secondary();
    let pid = cluster.until_runs(&secondary);
    send(pid, Signal::STOP);
    writer.until_more(20);
    send(pid, Signal::CONT);
    writer.until_more(5);
    // The primary, with its agent: nobody can know what it does, so nobody takes its place.
    let primary = cluster.primary();
    let (agent, application) = (cluster.agent(&primary).unwrap(), cluster.until_runs(&primary));
    send(agent, Signal::STOP);
    send(application, Signal::STOP);
    cluster.until("it is known to be out of reach", |it| {
        let ready = it["status"]["conditions"].as_array().into_iter().flatten();
        ready.into_iter().any(|one| one["type"] == "Ready" && one["status"] != "True")
    });
    assert_ne!(cluster.get()["status"]["members"]["primary"][0].as_str().unwrap_or(&primary), "");
    send(application, Signal::CONT);
    send(agent, Signal::CONT);
    writer.until_more(5);
    cluster.holds_all(writer);
}
