//! What the server's own controllers do, seen by a client, in paused time.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod authority;
mod ours;
mod stories;
mod world;

use ours::Ours;

#[test]
fn what_is_owned_goes_after_its_owner() {
    stories::background(&Ours::new());
}

#[test]
fn what_is_owned_goes_before_its_owner() {
    stories::foreground(&Ours::new());
}

#[test]
fn what_is_let_go_stays() {
    stories::orphan(&Ours::new());
}

#[test]
fn an_owner_that_never_was_owns_nothing_for_long() {
    stories::absent_owner(&Ours::new());
}

#[test]
fn one_of_two_owners_is_enough() {
    stories::two_owners(&Ours::new());
}

#[test]
fn an_owner_in_another_namespace_is_none() {
    stories::other_namespace(&Ours::new());
}

#[test]
fn what_has_no_namespace_is_not_owned_by_what_has_one() {
    stories::cluster_scoped(&Ours::new());
}

#[test]
fn a_namespace_ends_with_everything_in_it() {
    stories::namespace_ends(&Ours::new());
}

#[test]
fn a_claim_stays_while_a_pod_uses_it() {
    stories::claim(&Ours::new());
}

#[test]
fn a_volume_stays_while_it_is_bound() {
    stories::volume(&Ours::new());
}

#[test]
fn every_namespace_has_its_account() {
    stories::account(&Ours::new());
}

#[test]
fn a_chain_of_owners_goes_link_by_link() {
    stories::chain(&Ours::new());
}
