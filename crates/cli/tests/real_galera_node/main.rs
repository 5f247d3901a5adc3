//! Galera on a real kube-apiserver and kube-controller-manager, with `muster node` as the node: those scenarios of the suite in which the
//! control plane has a part.

#![cfg(test)]

#[path = "../suite/mod.rs"]
mod suite;

use suite::Cluster;
use suite::deaths::OperatorsDie;
use suite::scenarios::galera::{copied, state};
use suite::scenarios::{killed, outages, power, scaled};

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Real;
/// What it happens to.
const SOFTWARE: suite::Software = suite::Software::Galera;
/// How often everyone is killed; more often on the embedded control plane.
const OUTAGES: u32 = 1;

#[test]
fn real_galera_on_a_node_survives_what_happens_to_disks() {
    let cluster = Cluster::ready("disks", 3);
    killed::a_killed_secondary_comes_back(&cluster);
    state::a_member_whose_state_file_was_destroyed_is_read_all_the_same(&cluster);
    copied::a_copy_that_is_cut_off_is_made_again(&cluster);
}

#[test]
fn real_galera_on_a_node_grows_shrinks_parks_and_comes_back() {
    let cluster = Cluster::ready("counts", 3);
    scaled::whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost(&cluster);
}

#[test]
fn real_galera_on_a_node_survives_outages_while_operators_die() {
    let cluster = Cluster::ready("operators", 3);
    let operators = OperatorsDie::begin();
    outages::outages_in_which_operators_die_too(&cluster, OUTAGES);
    let deaths = operators.end();
    println!("{deaths} operators died");
    assert_ne!(deaths, 0);
}

#[test]
fn real_galera_on_a_node_survives_when_it_goes_down() {
    let cluster = Cluster::alone("power", 3);
    power::a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged(&cluster);
}
