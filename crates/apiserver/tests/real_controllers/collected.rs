//! What this server's own controllers are tested with, told to the real kube-controller-manager: on the real server,
//! which shows that the stories are true, and on ours.

use crate::plane::Plane;
use crate::stories;
use crate::world::World;

/// Tells a story to both.
fn tell(story: fn(&dyn World)) {
    story(Plane::real());
    story(Plane::ours());
}

#[test]
fn what_is_owned_goes_after_its_owner() {
    tell(stories::background);
}

#[test]
fn what_is_owned_goes_before_its_owner() {
    tell(stories::foreground);
}

#[test]
fn what_is_let_go_stays() {
    tell(stories::orphan);
}

#[test]
fn an_owner_that_never_was_owns_nothing_for_long() {
    tell(stories::absent_owner);
}

#[test]
fn one_of_two_owners_is_enough() {
    tell(stories::two_owners);
}

#[test]
fn an_owner_in_another_namespace_is_none() {
    tell(stories::other_namespace);
}

#[test]
fn what_has_no_namespace_is_not_owned_by_what_has_one() {
    tell(stories::cluster_scoped);
}

#[test]
fn a_namespace_ends_with_everything_in_it() {
    tell(stories::namespace_ends);
}

#[test]
fn a_claim_stays_while_a_pod_uses_it() {
    tell(stories::claim);
}

#[test]
fn a_volume_stays_while_it_is_bound() {
    tell(stories::volume);
}

#[test]
fn every_namespace_has_its_account() {
    tell(stories::account);
}

#[test]
fn a_chain_of_owners_goes_link_by_link() {
    tell(stories::chain);
}
