//! What of a Member follows its pool, and when.

use muster_api::common::Retention;
use muster_api::member::DesiredState;

use super::super::claim;
use super::super::member::{Rolled, by_hand, following, to_roll, workload_by_hand};
use super::*;

#[test]
fn a_claim_follows_at_once_and_the_workload_in_its_turn() {
    let mut live = wanted();
    live.spec.desired_state = DesiredState::Disabled;
    let mut cluster = cluster();
    let pool = &mut cluster.spec.pools[0];
    pool.zone = Some("y".into());
    pool.storage.capacity = "20Gi".parse().unwrap();
    pool.storage.retention = Retention::Delete;
    let wanted =
        member::of_pool(&cluster, &cluster.spec.pools[0], 0, &Target { version: "2".into(), ..target() });
    assert!(to_roll(&wanted, &live));

    let kept = following(&wanted, &live, Rolled::Kept);
    assert_eq!((kept.spec.zone, &kept.spec.workload), (Some("z".into()), &live.spec.workload));
    assert_eq!(kept.spec.storage, wanted.spec.storage);
    let moved = following(&wanted, &live, Rolled::Moved);
    assert_eq!(moved.spec, wanted.spec);
    assert!(!to_roll(&wanted, &moved));
    let text = serde_json::to_string(&moved).unwrap();
    assert!(!text.contains("desiredState"), "it is the administrator's: {text}");
}

#[test]
fn a_finalizer_is_not_given_to_a_member_that_goes() {
    let mut live = wanted();
    live.metadata.deletion_timestamp = Some(read(json!("2026-01-01T00:00:00Z")));
    live.metadata.finalizers = None;
    assert_eq!(following(&wanted(), &live, Rolled::Kept).metadata.finalizers, None);
    let workload = workload_by_hand(None, &target());
    assert_eq!(by_hand(&live, &workload)["metadata"]["finalizers"], json!([]));
}

#[test]
fn of_a_member_made_by_hand_only_the_workload_is_ours() {
    let mut live = wanted();
    live.metadata.labels = None;
    let applied = by_hand(&live, &workload_by_hand(cluster().spec.pools.first(), &target()));
    let fields: Vec<_> = applied["spec"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["workload"]);
    assert_eq!(applied["metadata"]["labels"].get("muster.dev/pool"), None, "that says it is of a pool");
}

#[test]
fn a_claim_that_was_kept_does_not_shrink() {
    let member = wanted();
    let mut live = claim::of_member(&member, None).unwrap();
    assert_eq!(claim::requested(&live), Some("10Gi".parse().unwrap()));
    assert_eq!(live.metadata.owner_references, None, "it belongs to the data");
    live.spec = Some(read(json!({"resources": {"requests": {"storage": "30Gi"}}})));
    let again = claim::of_member(&member, Some(&live)).unwrap();
    assert_eq!(claim::requested(&again), Some("30Gi".parse().unwrap()));
    live.spec = Some(read(json!({"resources": {"requests": {"storage": "5Gi"}}})));
    let grown = claim::of_member(&member, Some(&live)).unwrap();
    assert_eq!(claim::requested(&grown), Some("10Gi".parse().unwrap()));
    let mut by_hand = member;
    by_hand.spec.storage[0].claim = None;
    assert_eq!(claim::of_member(&by_hand, None), None, "a claim of a hand-made Member is never touched");
}
