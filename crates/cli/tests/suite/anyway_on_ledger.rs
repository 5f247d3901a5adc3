//! What is proven of ledgers while operators die at times of chance.
//!
//! Left out are a full disk, which is on volumes of a kind of its own; the death of a node, which takes it from all others; the death of an
//! operator, of which there are enough; and logs, of which operators know nothing.

use crate::suite::anyway::{self, Happening, giving_up_the_errant};
use crate::suite::scenarios::{
    copied, frozen, killed, outages, pauses, reborn, restore, rolled, rotated, scaled, two_primaries,
    unblocked, volumes,
};

/// How many of them are there at once.
const AT_ONCE: usize = 8;
/// How often everyone is killed.
const OUTAGES: u32 = 3;
/// How often a seed is killed.
const SEEDS: usize = 2;

/// What happens, the longest first.
const HAPPENINGS: [Happening; 16] = [
    ("unblocked-anyway", unblocked::the_command_offered_for_a_member_that_is_not_heard_unblocks),
    ("scaled-anyway", |it| {
        giving_up_the_errant(it, scaled::whatever_the_count_of_members_nothing_that_was_acknowledged_is_lost);
    }),
    ("rolled-anyway", |it| {
        giving_up_the_errant(it, |it| {
            rolled::a_version_and_a_parameter_roll_through_all_members(it);
            rolled::a_switchover_under_load_loses_nothing(it);
        });
    }),
    ("killed-anyway", |it| {
        giving_up_the_errant(it, |it| {
            killed::a_killed_secondary_comes_back(it);
            killed::a_killed_primary_is_replaced(it);
            killed::an_agent_that_is_killed_takes_its_application_along_and_both_come_back(it);
        });
    }),
    ("paused-anyway", |it| {
        giving_up_the_errant(it, |it| {
            pauses::what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards(it);
            pauses::a_spec_that_changed_while_reconciliation_was_stopped_is_applied_afterwards(it);
        });
    }),
    ("copied-anyway", copied::a_copy_that_is_cut_off_counts_for_nothing_and_is_made_again),
    ("killed-seed-anyway", |it| killed::a_seed_that_acknowledged_writes_and_then_dies_loses_none(it, SEEDS)),
    ("wiped-anyway", |it| {
        giving_up_the_errant(it, volumes::a_member_whose_volume_was_wiped_joins_empty_and_never_seeds);
    }),
    ("two-primaries-anyway", |it| {
        two_primaries::two_primaries_made_by_hand_are_left_alone_until_a_person_chooses_one(it);
    }),
    ("restore-anyway", |it| {
        giving_up_the_errant(it, restore::a_count_set_by_hand_blocks_until_it_is_lowered);
    }),
    ("outages-anyway", |it| outages::outages_in_which_operators_die_too(it, OUTAGES)),
    // What one disk alone would have is lost with it: nobody else writes.
    ("two-disks-anyway", unblocked::the_command_offered_for_disks_that_are_lost_unblocks),
    ("lost-anyway", |it| giving_up_the_errant(it, volumes::a_volume_that_is_lost_is_replaced_by_a_new_one)),
    ("frozen-anyway", frozen::a_frozen_member_is_waited_for_and_a_thawed_one_goes_on),
    // Whoever wrote on while nobody is there might write to somebody else's address afterwards.
    ("reborn-anyway", reborn::a_cluster_that_is_made_again_has_what_it_had),
    ("rotated-anyway", rotated::a_certificate_is_replaced_before_it_ends_and_nobody_is_started_again),
];

#[test]
fn whenever_operators_die_whoever_comes_next_goes_on() {
    anyway::happen(&HAPPENINGS, AT_ONCE);
}
