//! Operators die at times of chance while clusters grow, shrink, roll, lose a disk and wait for a person: whoever comes next goes on.

use std::thread;

use crate::suite::Cluster;
use crate::suite::deaths::OperatorsDie;
use crate::suite::scenarios::{restore, rolled, scaled, volumes};
use crate::suite::turns::Turn;

type Scenario = fn(&Cluster);

/// What happens to each cluster: its name, and a scenario.
const SCENARIOS: [(&str, Scenario); 4] = [
    ("scaled-anyway", scaled::whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost),
    ("rolled-anyway", rolled_and_switched),
    ("wiped-anyway", volumes::a_member_whose_volume_was_wiped_joins_empty_and_never_seeds),
    ("restore-anyway", restore::a_count_set_by_hand_blocks_until_it_is_lowered),
];

fn rolled_and_switched(cluster: &Cluster) {
    rolled::a_version_and_a_parameter_roll_through_all_members(cluster);
    rolled::a_switchover_under_load_loses_nothing(cluster);
}

/// Beside each other, because for most of the time all of them wait for an operator; and without any others, some of which wait for what
/// an operator says before a minute is over.
#[test]
fn whenever_operators_die_whoever_comes_next_goes_on() {
    let alone = Turn::alone();
    let operators = OperatorsDie::begin();
    thread::scope(|scope| {
        for (name, scenario) in SCENARIOS {
            let alone = &alone;
            let happens = move || {
                let cluster = Cluster::within(alone, name, 3);
                // A primary that is about to change may be left with a write that nobody acknowledged by an operator that dies.
                let writer = cluster.writer();
                cluster.gives_up_the_errant(&writer);
                scenario(&cluster);
                println!("{name} is over");
            };
            thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, happens).unwrap();
        }
    });
    let deaths = operators.end();
    println!("{deaths} operators died");
    assert_ne!(deaths, 0);
}
