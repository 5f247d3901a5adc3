//! `muster up` as a newcomer runs it: a real cluster of real processes, killed and started again.

#![cfg(test)]

mod ledger;
#[path = "../stage/mod.rs"]
mod stage;

use std::time::{Duration, Instant};

use muster_ledger::client::Appended;

use self::ledger::pods_of;
use self::stage::Stage;

/// How long a second start on the same data may take until the cluster is Ready.
const SECOND_START: Duration = Duration::from_secs(20);

#[test]
fn a_newcomer_has_a_cluster_that_survives_being_killed() {
    for user in Stage::users() {
        let mut stage = Stage::new("newcomer", user);
        stage.up("ledger");
        let mut acknowledged = stage.append(1, 20);
        // A member's agent, and with it its application, which is the primary's.
        let primary = stage.primary();
        let killed = stage.kill_member(&primary);
        // It may lead again: nobody has more than it has.
        stage.until("a primary serves that was not killed", |stage| {
            let leads = stage.primary();
            !leads.is_empty()
                && (leads != primary || stage.agent(&primary).is_some_and(|agent| agent != killed))
        });
        acknowledged.extend(stage.append(21, 40));
        stage.until_ready();
        // The whole machine.
        stage.kill();
        assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
        let began = Instant::now();
        stage.up("ledger");
        let took = began.elapsed();
        println!("ready again after {took:?} of {SECOND_START:?}");
        assert!(took < SECOND_START, "a second start on the same data took {took:?}");
        acknowledged.extend(stage.append(41, 50));
        let entries = stage.entries();
        for entry in &acknowledged {
            assert!(entries.contains(entry), "{entry:?} was acknowledged, and is lost: {entries:?}");
        }
        assert_eq!(acknowledged.len(), 50);
        stage.stop();
        assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
    }
}

#[test]
fn what_cannot_be_is_said_and_damages_nothing() {
    let mut stage = Stage::new("cannot", None);
    let said = |stage: &Stage, arguments: &[&str]| {
        let output = stage.command(arguments).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = said(&stage, &["--engine", "oracle"]);
    assert_eq!(unknown, "error: there is no engine \"oracle\"; there is galera, ledger\n");
    stage.up("ledger");
    let twice = said(&stage, &[]);
    assert!(twice.contains("is in use by another muster"), "{twice}");
    let port = stage.port();
    let other = Stage::new("cannot-port", None);
    let taken = said(&other, &["--port", &port]);
    assert!(taken.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{taken}");
    assert!(matches!(stage.client().append("still here").unwrap(), Appended::Acknowledged(1)));
    assert_eq!(pods_of(&stage), 3);
    stage.stop();
}
