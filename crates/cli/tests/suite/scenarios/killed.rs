//! One member is killed, then another; an agent; the operator; the seed.

use rustix::process::Signal;

use crate::suite::processes::send;
use crate::suite::{Cluster, World};

#[test]
fn a_killed_secondary_comes_back_and_a_killed_primary_is_replaced() {
    let cluster = Cluster::ready("killed-one", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(5);
    let secondary = cluster.secondary();
    let before = cluster.until_runs(&secondary);
    assert!(cluster.kill_application(&secondary));
    writer.until_more(5);
    cluster.until("it runs again", |_| cluster.application(&secondary).is_some_and(|pid| pid != before));
    cluster.until_ready();
    let primary = cluster.primary();
    // It is killed again whenever it comes back: with the longest ledger of all it would be right to let it lead again.
    cluster.until("another leads", |it| {
        let leads = it["status"]["primary"].as_str().unwrap_or_default();
        if leads == primary || leads == "none" {
            cluster.agent(&primary).inspect(|agent| send(*agent, Signal::KILL));
        }
        !["", "none", &primary].contains(&leads)
    });
    writer.until_more(5);
    cluster.holds_all(writer);
}

#[test]
fn an_agent_that_is_killed_takes_its_application_along_and_both_come_back() {
    let cluster = Cluster::ready("killed-agent", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    for member in [cluster.secondary(), cluster.primary()] {
        writer.until_more(5);
        let application = cluster.until_runs(&member);
        cluster.kill_agent(&member);
        cluster
            .until("its application is gone", |_| rustix::process::test_kill_process(application).is_err());
        cluster.until_runs(&member);
        writer.until_more(5);
        cluster.until_ready();
    }
    cluster.holds_all(writer);
}

#[test]
fn a_seed_that_acknowledged_writes_and_then_dies_loses_none() {
    let cluster = Cluster::ready("killed-seed", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(5);
    for round in 0..3 {
        let members = cluster.members(3);
        for member in &members {
            cluster.kill_application(member);
        }
        // The first that serves has acknowledged something, with the copy of whoever joined first; then it dies.
        writer.until_more(1 + round);
        // By its own word: what status says may be of the one before it.
        let seed = cluster.until_one_leads(&members);
        assert!(cluster.kill_application(&seed), "{seed} was gone already");
        writer.until_more(1);
    }
    cluster.holds_all(writer);
}

#[test]
fn an_operator_that_is_killed_is_replaced_and_goes_on_where_the_other_was() {
    let cluster = Cluster::ready("killed-operator", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(5);
    // In the middle of a failover.
    let primary = cluster.primary();
    cluster.kill_application(&primary);
    World::shared().kill_operator();
    writer.until_more(5);
    cluster.until_ready();
    // In the middle of a recovery.
    for ordinal in 0..3 {
        cluster.kill_application(&cluster.member(ordinal));
    }
    World::shared().kill_operator();
    writer.until_more(5);
    cluster.until_ready();
    // While clients are served nobody needs it.
    World::shared().kill_operator();
    writer.until_more(5);
    if let Some(agent) = cluster.agent(&cluster.secondary()) {
        send(agent, Signal::KILL);
    }
    cluster.holds_all(writer);
}
