//! Whole clusters: parking, pools that are gone, one removal at a time, figures and words.

use muster_api::names::Reason;

use super::*;

fn pool<'a>(
    name: &'a str,
    threshold: Threshold,
    members: &'a [PoolMember],
    reserved: &'a BTreeSet<u32>,
) -> Pool<'a> {
    Pool { name, threshold, members, reserved, changed_at: Some(at(99)) }
}

fn named(name: &str, mut member: PoolMember) -> PoolMember {
    member.name = name.into();
    member
}

#[test]
fn all_pools_at_zero_park_the_cluster() {
    let none = BTreeSet::new();
    let members = [joined(0, 9), joined(1, 9)];
    let zero = [pool("a", Threshold::Nodes(0), &members, &none), pool("b", Threshold::Nodes(0), &[], &none)];
    let homeless = [named("c-old-0", joined(0, 9))];
    let advice = advise(&zero, &homeless);
    assert!(advice.parked);
    assert!(advice.pools.iter().all(|p| p.decision == Decision::Hold(Hold::Parked)));
    assert_eq!(advice.removed_pools, Decision::Hold(Hold::Parked));
    assert_eq!(advice.desired_replicas, 0);

    let one = [pool("a", Threshold::Nodes(0), &members, &none), pool("b", Threshold::Nodes(1), &[], &none)];
    let advice = advise(&one, &[]);
    assert!(!advice.parked);
    assert_eq!(advice.pools[0].decision, remove(1), "one pool at 0 is decommissioned");
    assert_eq!(advice.pools[1].decision, create(&[0]));
}

#[test]
fn what_asks_for_zero() {
    assert!(Threshold::Nodes(0).is_zero());
    assert!(!Threshold::Nodes(1).is_zero());
    assert!(bounds(None, Some(0), None, None).is_zero());
    assert!(!bounds(None, Some(1), None, None).is_zero());
    assert!(!bounds(Some(0), None, None, None).is_zero(), "it keeps what it has");
    assert!(!is_parked(&[]));
}

#[test]
fn members_of_a_removed_pool_go_one_at_a_time() {
    let none = BTreeSet::new();
    let members = [joined(0, 9)];
    let pools = [pool("a", Threshold::Nodes(1), &members, &none)];
    let old = |n| named(&format!("c-old-{n}"), joined(n, 9));
    let went = |n: u32| Decision::Remove { member: format!("c-old-{n}"), switchover_first: false };
    assert_eq!(advise(&pools, &[old(0), old(1)]).removed_pools, went(1));
    let going = PoolMember { stage: Stage::Leaving, ..old(1) };
    assert_eq!(
        advise(&pools, &[old(0), going.clone()]).removed_pools,
        Decision::Hold(Hold::Leaving("c-old-1".into()))
    );
    assert_eq!(advise(&pools, &[going]).removed_pools, Decision::Hold(Hold::AtSize));
    assert_eq!(advise(&pools, &[by_hand("extra", 0)]).removed_pools, Decision::Hold(Hold::AtSize));
    assert_eq!(advise(&pools, &[disabled(old(0))]).removed_pools, Decision::Hold(Hold::NobodyMayGo));
    let switch = Decision::Remove { member: "c-old-0".into(), switchover_first: true };
    assert_eq!(advise(&pools, &[primary(old(0))]).removed_pools, switch);

    let empty = [pool("a", Threshold::Nodes(1), &[], &none)];
    let advice = advise(&empty, &[old(0)]);
    assert_eq!(advice.removed_pools, Decision::Hold(Hold::NobodyMayGo), "the last holder of data");
    assert_eq!(advice.pools[0].decision, create(&[0]));
}

#[test]
fn one_removal_at_a_time_in_the_whole_cluster() {
    let none = BTreeSet::new();
    let a = [joined(0, 9)];
    let b = [named("c-b-0", joined(0, 9))];
    let c = [named("c-c-0", joined(0, 9))];
    let pools = [
        pool("a", Threshold::Nodes(0), &a, &none),
        pool("b", Threshold::Nodes(0), &b, &none),
        pool("c", Threshold::Nodes(2), &c, &none),
    ];
    let advice = advise(&pools, &[]);
    assert_eq!(advice.pools[0].decision, remove(0));
    assert_eq!(advice.pools[1].decision, Decision::Hold(Hold::Leaving(name(0))));
    assert_eq!(advice.pools[2].decision, create(&[1]), "creation does not wait");

    let going = [named("c-b-0", leaving(0))];
    let pools = [
        pool("a", Threshold::Nodes(0), &a, &none),
        pool("b", Threshold::Nodes(1), &going, &none),
        pool("c", Threshold::Nodes(1), &c, &none),
    ];
    let advice = advise(&pools, &[]);
    assert_eq!(advice.pools[0].decision, Decision::Hold(Hold::Leaving("c-b-0".into())));
    assert_eq!(advice.pools[1].decision, create(&[1]));
}

#[test]
fn a_leaving_holder_is_not_relied_upon() {
    let none = BTreeSet::new();
    let a = [joined(0, 9)];
    let b = [named("c-b-0", PoolMember { data: Data::Holds, ..leaving(0) })];
    let pools = [pool("a", Threshold::Nodes(0), &a, &none), pool("b", Threshold::Nodes(1), &b, &none)];
    assert_eq!(advise(&pools, &[]).pools[0].decision, Decision::Hold(Hold::NobodyMayGo));
}

#[test]
fn at_most_512_members_in_all_pools_together() {
    let none = BTreeSet::new();
    let members: Vec<PoolMember> = (0..500).map(|n| joined(n, 9)).collect();
    let homeless = [named("x", leaving(0))];
    let pools = [
        pool("a", Threshold::Nodes(508), &members, &none),
        pool("b", Threshold::Nodes(5), &[], &none),
        pool("c", Threshold::Nodes(1), &[], &none),
    ];
    let advice = advise(&pools, &homeless);
    assert_eq!(advice.pools[0].decision, create(&[500, 501, 502, 503, 504, 505, 506, 507]));
    assert_eq!(advice.pools[1].decision, create(&[0, 1, 2]), "512 - 500 - 1 - 8 = 3");
    assert_eq!(advice.pools[2].decision, Decision::Hold(Hold::ClusterFull));
}

#[test]
fn a_threshold_as_the_spec_has_it() {
    let read =
        |json| Threshold::from(&serde_json::from_value::<muster_api::cluster::Threshold>(json).unwrap());
    assert_eq!(read(serde_json::json!({"nodes": 3})), Threshold::Nodes(3));
    let all = serde_json::json!({
        "minNodes": 1, "maxNodes": 4, "freeStorageMin": "1Ki", "freeStorageMax": "2000500m",
    });
    assert_eq!(read(all), bounds(Some(1), Some(4), Some(1024), Some(2001)), "fractions are rounded up");
    assert_eq!(read(serde_json::json!({"maxNodes": 4})), bounds(None, Some(4), None, None));
}

#[test]
fn figures() {
    let none = BTreeSet::new();
    let a = [joined(0, 9), joined(1, 5), leaving(2), by_hand("extra", 1)];
    let b = [named("c-b-0", joined(0, 7))];
    let pools = [
        pool("a", bounds(Some(1), Some(5), None, None), &a, &none),
        pool("b", Threshold::Nodes(4), &b, &none),
    ];
    let advice = advise(&pools, &[]);
    assert_eq!((advice.pools[0].nodes, advice.pools[0].desired_nodes), (2, 2));
    assert_eq!((advice.pools[1].nodes, advice.pools[1].desired_nodes), (1, 4));
    assert_eq!(advice.desired_replicas, 6);
    assert_eq!(advice.free, Free::Known(22));
    let blind = [named("c-b-0", silent(0))];
    let pools = [pools[0].clone(), pool("b", Threshold::Nodes(4), &blind, &none)];
    assert_eq!(advise(&pools, &[]).free, Free::Missing(vec!["c-b-0".into()]));
}

#[test]
fn the_configured_count_is_held_within_bounds() {
    assert_eq!(Threshold::Nodes(3).desired_nodes(7), 3);
    let both = bounds(Some(2), Some(4), None, None);
    for (existing, desired) in [(0, 2), (1, 2), (2, 2), (3, 3), (4, 4), (5, 4)] {
        assert_eq!(both.desired_nodes(existing), desired);
    }
    assert_eq!(bounds(None, None, Some(1), None).desired_nodes(7), 7);
}

#[test]
fn every_hold_has_its_reason_and_its_words() {
    let rows = [
        (Hold::AtSize, Reason::AtSize, "at size"),
        (Hold::Parked, Reason::Parked, "all pools are at 0: members and volumes stay, applications stop"),
        (Hold::Joining(vec!["m".into()]), Reason::Joining, "waiting for m to join"),
        (Hold::Leaving("m".into()), Reason::InProgress, "waiting for m to leave"),
        (
            Hold::FreeUnknown(vec!["m".into()]),
            Reason::FreeStorageUnknown,
            "free storage unknown: m cannot report it",
        ),
        (
            Hold::AwaitingReports(vec!["m".into()]),
            Reason::InProgress,
            "waiting for free storage reports newer than the last change from m",
        ),
        (
            Hold::AtMaximum { limit: 3 },
            Reason::AtMaximum,
            "more free storage is wanted, but 3 members is the most",
        ),
        (Hold::ClusterFull, Reason::AtMaximum, "a cluster has at most 512 members"),
        (
            Hold::NoGain("m".into()),
            Reason::NoGain,
            "m raised the free storage by less than a tenth of its capacity; more members would not help",
        ),
        (
            Hold::WouldGrowAgain("m".into()),
            Reason::AtSize,
            "more storage is free than wanted, but without m the pool would have to grow again",
        ),
        (
            Hold::NobodyMayGo,
            Reason::Blocked,
            "a member should go, but each is disabled, or the last that holds the data",
        ),
    ];
    for (hold, reason, message) in rows {
        assert_eq!((hold.reason(), hold.message().as_str()), (reason, message));
    }
}

mod publishing {
    use super::*;

    const SHOWN: Option<Published> = Some(Published { bytes: 2000, at: Timestamp::UNIX_EPOCH });

    #[test]
    fn rounded_down_to_a_hundredth() {
        assert_eq!(publish(1999, 100_000, None, &[], at(5)), Published { bytes: 1000, at: at(5) });
        assert_eq!(publish(2000, 100_000, None, &[], at(5)).bytes, 2000);
        assert_eq!(publish(7, 50, None, &[], at(5)).bytes, 7, "never by less than a byte");
    }

    #[test]
    fn at_most_once_a_minute() {
        let early = publish(5000, 100_000, SHOWN, &[], at(59));
        assert_eq!(early, Published { bytes: 2000, at: at(0) });
        assert_eq!(publish(5000, 100_000, SHOWN, &[], at(60)), Published { bytes: 5000, at: at(60) });
        assert_eq!(publish(2999, 100_000, SHOWN, &[], at(600)), Published { bytes: 2000, at: at(0) });
    }

    #[test]
    fn at_once_across_a_threshold() {
        let now = |free, line| publish(free, 100_000, SHOWN, &[9_999_999, line], at(1)).bytes;
        assert_eq!(now(5000, 3000), 5000);
        assert_eq!(now(5000, 5000), 5000, "reaching it is crossing it");
        assert_eq!(now(5000, 2000), 5000, "leaving it is crossing it");
        assert_eq!(now(5000, 5001), 2000);
        assert_eq!(now(1000, 1500), 1000);
    }
}
