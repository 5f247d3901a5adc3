//! What is proven of ledgers: each scenario on a cluster of its own.

use crate::suite::Cluster;
use crate::suite::scenarios::{
    copied, filled, frozen, killed, logs, outages, pauses, power, reborn, restore, rolled, rotated, scaled,
    two_primaries, unblocked, volumes,
};

/// How often everyone is killed.
const OUTAGES: u32 = 20;
/// How often a seed is killed.
const SEEDS: usize = 3;

fn of_three(name: &str) -> Cluster {
    Cluster::ready(name, 3)
}

#[test]
fn a_copy_that_is_cut_off_counts_for_nothing_and_is_made_again() {
    copied::a_copy_that_is_cut_off_counts_for_nothing_and_is_made_again(&of_three("copied"));
}

#[test]
fn a_full_disk_is_told_and_with_room_again_all_goes_on() {
    filled::a_full_disk_is_told_and_with_room_again_all_goes_on();
}

#[test]
fn a_frozen_member_is_waited_for_and_a_thawed_one_goes_on() {
    frozen::a_frozen_member_is_waited_for_and_a_thawed_one_goes_on(&of_three("frozen"));
}

#[test]
fn a_killed_secondary_comes_back_and_a_killed_primary_is_replaced() {
    let cluster = of_three("killed-one");
    killed::a_killed_secondary_comes_back(&cluster);
    killed::a_killed_primary_is_replaced(&cluster);
}

#[test]
fn an_agent_that_is_killed_takes_its_application_along_and_both_come_back() {
    killed::an_agent_that_is_killed_takes_its_application_along_and_both_come_back(&of_three("killed-agent"));
}

#[test]
fn a_seed_that_acknowledged_writes_and_then_dies_loses_none() {
    killed::a_seed_that_acknowledged_writes_and_then_dies_loses_none(&of_three("killed-seed"), SEEDS);
}

#[test]
fn an_operator_that_is_killed_is_replaced_and_goes_on_where_the_other_was() {
    killed::an_operator_that_is_killed_is_replaced_and_goes_on_where_the_other_was(&of_three(
        "killed-operator",
    ));
}

#[test]
fn kubectl_shows_what_members_say() {
    logs::kubectl_shows_what_members_say(&Cluster::ready("logs", 1));
}

#[test]
fn twenty_outages_in_which_everyone_is_killed_lose_nothing() {
    outages::outages_in_which_everyone_is_killed(&of_three("outages"), OUTAGES);
}

#[test]
fn what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards() {
    pauses::what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards(&of_three(
        "by-a-person",
    ));
}

#[test]
fn a_spec_that_changed_while_reconciliation_was_stopped_is_applied_afterwards() {
    pauses::a_spec_that_changed_while_reconciliation_was_stopped_is_applied_afterwards(&of_three(
        "not-applied",
    ));
}

#[test]
fn a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged() {
    let cluster = Cluster::alone("power", 3);
    power::a_node_that_goes_down_with_everyone_on_it_comes_back_with_all_that_was_acknowledged(&cluster);
}

#[test]
fn a_cluster_that_is_made_again_has_what_it_had() {
    reborn::a_cluster_that_is_made_again_has_what_it_had(&of_three("reborn"));
}

#[test]
fn a_count_set_by_hand_blocks_until_it_is_lowered() {
    restore::a_count_set_by_hand_blocks_until_it_is_lowered(&of_three("restore"));
}

#[test]
fn a_version_and_a_parameter_roll_through_all_members() {
    rolled::a_version_and_a_parameter_roll_through_all_members(&of_three("rolled"));
}

#[test]
fn a_switchover_under_load_loses_nothing() {
    rolled::a_switchover_under_load_loses_nothing(&of_three("switched"));
}

#[test]
fn a_certificate_is_replaced_before_it_ends_and_nobody_is_started_again() {
    let cluster = Cluster::ready("rotated", 1);
    rotated::a_certificate_is_replaced_before_it_ends_and_nobody_is_started_again(&cluster);
}

#[test]
fn whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost() {
    scaled::whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost(&of_three("scaled"));
}

#[test]
fn two_primaries_made_by_hand_are_left_alone_until_a_person_chooses_one() {
    let cluster = of_three("two-primaries");
    two_primaries::two_primaries_made_by_hand_are_left_alone_until_a_person_chooses_one(&cluster);
}

#[test]
fn the_command_offered_for_a_member_that_is_not_heard_unblocks() {
    unblocked::the_command_offered_for_a_member_that_is_not_heard_unblocks(&of_three("unblocked"));
}

#[test]
fn the_command_offered_for_disks_that_are_lost_unblocks() {
    unblocked::the_command_offered_for_disks_that_are_lost_unblocks(&of_three("two-disks"));
}

#[test]
fn a_member_whose_volume_was_wiped_joins_empty_and_never_seeds() {
    volumes::a_member_whose_volume_was_wiped_joins_empty_and_never_seeds(&of_three("wiped"));
}

#[test]
fn a_volume_that_is_lost_is_replaced_by_a_new_one() {
    volumes::a_volume_that_is_lost_is_replaced_by_a_new_one(&of_three("lost"));
}
