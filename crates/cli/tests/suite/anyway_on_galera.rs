//! What is proven of Galera while operators die at times of chance.
//!
//! It is less than of ledgers, because its members take seconds to start, and one that grows and shrinks then takes longer than all of
//! this. What operators decide is the same.

use crate::suite::anyway::{self, Happening};
use crate::suite::scenarios::{outages, pauses, volumes};

/// How many of them are there at once.
const AT_ONCE: usize = 3;
/// How often everyone is killed.
const OUTAGES: u32 = 1;

/// What happens, the longest first.
const HAPPENINGS: [Happening; 3] = [
    ("wiped-anyway", volumes::a_member_whose_volume_was_wiped_joins_empty_and_never_seeds),
    ("outages-anyway", |it| outages::outages_in_which_operators_die_too(it, OUTAGES)),
    ("paused-anyway", pauses::what_was_broken_by_hand_while_clustering_was_stopped_is_judged_afterwards),
];

#[test]
fn real_galera_goes_on_whenever_operators_die() {
    anyway::happen(&HAPPENINGS, AT_ONCE);
}
