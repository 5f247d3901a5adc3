//! Galera on a real kube-apiserver and kube-controller-manager, with `muster node` as the node: see the suite. What happens to disks, to
//! operators and to the node itself happens here alone.

#![cfg(test)]

#[path = "../suite/anyway_on_galera.rs"]
mod anyway_on_galera;
#[path = "../suite/on_galera.rs"]
mod on_galera;
#[path = "../suite/mod.rs"]
mod suite;

use suite::Cluster;
use suite::scenarios::galera::{copied, state};
use suite::scenarios::power;

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Real;
/// What it happens to.
const SOFTWARE: suite::Software = suite::Software::Galera;

#[test]
fn real_galera_on_a_node_survives_what_happens_to_disks() {
    let cluster = Cluster::ready("disks", 3);
    state::a_member_whose_state_file_was_destroyed_is_read_all_the_same(&cluster);
    copied::a_copy_that_is_cut_off_is_made_again(&cluster);
}

#[test]
fn real_galera_on_a_node_survives_when_it_goes_down() {
    let cluster = Cluster::alone("power", 3);
    power::a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged(&cluster);
}
