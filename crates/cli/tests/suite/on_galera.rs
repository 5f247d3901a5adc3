//! What is proven of Galera. Its members take seconds to start, so scenarios follow each other on one cluster, and several clusters run
//! beside each other.

use crate::suite::scenarios::galera::{components, copied, differs, filled, frozen, quorum, switched};
use crate::suite::scenarios::{killed, outages, pauses, reborn, restore, rolled, scaled, unblocked, volumes};
use crate::suite::{Cluster, Kind};

/// How often everyone is killed: on the real plane less often, because it takes its time, and the disks that are judged are the same.
const OUTAGES: u32 = match crate::KIND {
    Kind::Embedded => 20,
    Kind::Real => 4,
};
/// How often a seed is killed.
const SEEDS: usize = 2;

#[test]
fn real_galera_survives_outages_and_what_is_lost_is_counted() {
    let cluster = Cluster::ready("outages", 3);
    outages::outages_in_which_everyone_is_killed(&cluster, OUTAGES);
}

#[test]
fn real_galera_survives_the_death_of_members_agents_seeds_and_operators() {
    let cluster = Cluster::ready("deaths", 3);
    killed::a_killed_secondary_comes_back(&cluster);
    killed::an_agent_that_is_killed_takes_its_application_along_and_both_come_back(&cluster);
    killed::a_seed_that_acknowledged_writes_and_then_dies_loses_none(&cluster, SEEDS);
    killed::an_operator_that_is_killed_is_replaced_and_goes_on_where_the_other_was(&cluster);
}

#[test]
fn real_galera_goes_on_where_members_stand_still_or_lose_their_quorum_or_have_two() {
    let cluster = Cluster::ready("quorum", 3);
    frozen::a_frozen_member_is_missed_and_a_thawed_one_goes_on(&cluster);
    quorum::members_that_all_lost_their_quorum_go_on_as_they_are(&cluster);
    components::two_components_made_by_hand_are_left_alone_until_a_person_chooses_one(&cluster);
    pauses::what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards(&cluster);
    reborn::a_cluster_that_is_made_again_has_what_it_had(&cluster);
}

#[test]
fn real_galera_grows_shrinks_parks_and_comes_back() {
    let cluster = Cluster::ready("counts", 3);
    scaled::whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost(&cluster);
    restore::a_count_set_by_hand_blocks_until_it_is_lowered(&cluster);
}

#[test]
fn real_galera_rolls_and_switches_over_under_load() {
    let cluster = Cluster::ready("changes", 3);
    pauses::a_spec_that_changed_while_reconciliation_was_stopped_is_applied_afterwards(&cluster);
    rolled::a_version_and_a_parameter_roll_through_all_members(&cluster);
    switched::a_switchover_is_refused_where_all_take_writes_and_made_where_one_does(&cluster);
}

#[test]
fn real_galera_waits_for_a_person_where_data_is_missing_and_does_what_it_offered() {
    let cluster = Cluster::ready("missing", 3);
    unblocked::the_command_offered_for_a_member_that_is_not_heard_unblocks(&cluster);
    volumes::a_member_whose_volume_was_wiped_joins_empty_and_never_seeds(&cluster);
    unblocked::the_command_offered_for_disks_that_are_lost_unblocks(&cluster);
}

#[test]
fn real_galera_acknowledges_nothing_for_which_there_is_no_room() {
    filled::a_full_disk_acknowledges_nothing_that_is_not_there();
}

#[test]
fn real_galera_throws_out_who_differs_and_copies_it_anew() {
    differs::who_differs_ends_and_is_copied_anew_as_it_says(&Cluster::ready("differs", 3));
}

#[test]
fn real_galera_copies_anew_whoever_lost_its_source() {
    let cluster = Cluster::ready("copies", 3);
    copied::a_copy_whose_source_dies_is_made_again(&cluster);
    copied::a_member_whose_copy_never_began_goes_on_with_what_it_has(&cluster);
}
