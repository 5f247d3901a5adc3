//! A recovery that waits for someone says for whom, what everyone else has, and the command that ends the waiting.

use serde_json::{Value, json};

use crate::suite::Cluster;

#[test]
fn who_is_missing_is_named_with_every_position_and_a_command() {
    let cluster = Cluster::ready("blocked", 3);
    let writer = cluster.writer();
    writer.until_more(10);
    let missing = cluster.member(2);
    // Its agent stands still: it may be alive or not.
    let agent = cluster.agent(&missing).unwrap();
    let application = cluster.until_runs(&missing);
    for pid in [agent, application] {
        crate::suite::processes::send(pid, rustix::process::Signal::STOP);
    }
    for ordinal in 0..2 {
        cluster.kill_application(&cluster.member(ordinal));
    }
    let object =
        cluster.until("it is blocked", |it| it["status"]["recovery"]["blockedBy"] == "MemberMissing");
    let recovery = &object["status"]["recovery"];
    assert_eq!(recovery["missing"], json!([missing]), "{recovery:#}");
    let reported: Vec<&Value> = recovery["reported"].as_array().unwrap().iter().collect();
    for ordinal in 0..2 {
        let member = cluster.member(ordinal);
        let report = reported.iter().find(|report| report["member"] == member.as_str());
        assert!(report.is_some_and(|report| report["sequence"].is_i64()), "{recovery:#}");
    }
    let unblock = recovery["unblock"].as_str().unwrap().to_owned();
    println!("{unblock}");
    let command = unblock.find("kubectl ").map(|at| &unblock[at + "kubectl ".len()..]).unwrap();
    let command = command.split(['`', ';', '\n']).next().unwrap().trim_end_matches('.');
    let mut words: Vec<&str> = command.split_whitespace().collect();
    words.extend(["--yes", "--timeout=60s"]);
    // It says that this one is dead, so it is.
    for pid in [application, agent] {
        crate::suite::processes::send(pid, rustix::process::Signal::KILL);
    }
    println!("{words:?}: {:?}", cluster.world().try_kubectl(&words));
    writer.until_more(5);
    cluster.holds_all(writer);
}
