//! `muster up` as a newcomer runs it: a real cluster of real processes, killed and started again.

#![cfg(test)]

mod install;
mod interrupted;
mod ledger;
mod paused;
mod quick_start;
mod refusals;
#[path = "../stage/mod.rs"]
mod stage;

use self::stage::Stage;

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
        let took = stage.up_again("ledger", "a power cut");
        stage.is_quick_again("ledger", vec![took]);
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
